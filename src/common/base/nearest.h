// The name that a mistyped one was probably meant to be.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// The candidate with the smallest edit distance; the first of equals; "" if there are none.
std::string NearestName(std::string_view name, std::span<const std::string_view> candidates);
// At most `count` of them, the nearest first.
std::vector<std::string> NearestNames(std::string_view name, std::span<const std::string_view> candidates,
                                      size_t count);

}  // namespace taut
