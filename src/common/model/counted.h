// Formats a count with its noun: "1 job", "1,234 jobs".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace taut {

// Returns the number with thousands separators and the noun. `one` is the singular; its plural must end in s.
std::string Counted(uint64_t n, std::string_view one);

}  // namespace taut
