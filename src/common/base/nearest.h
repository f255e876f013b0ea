// Finds the names nearest to a mistyped one, by edit distance.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// Returns the candidate with the smallest edit distance, the first among equals; "" without candidates.
std::string NearestName(std::string_view name, std::span<const std::string_view> candidates);
// Returns at most `count` candidates, the nearest first, equals in their order.
std::vector<std::string> NearestNames(std::string_view name, std::span<const std::string_view> candidates,
                                      size_t count);

}  // namespace taut
