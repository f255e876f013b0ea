// The name that a mistyped one was probably meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace taut {

// The candidate with the smallest edit distance; the first of equals; "" if there are none.
std::string NearestName(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace taut
