// A number of things for people: "1 job", "1,234 jobs".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taut {

// `one`: what one of them is called, of which the plural ends in s.
std::string Counted(uint64_t n, std::string_view one);

}  // namespace taut
