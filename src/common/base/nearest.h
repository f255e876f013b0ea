// Finds the names nearest to a mistyped name, by edit distance.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// Returns the candidate with the smallest edit distance: the first candidate if several have this distance, and ""
// if there are no candidates.
std::string NearestName(std::string_view name, std::span<const std::string_view> candidates);
// Returns at most `count` candidates, the nearest first. Candidates at equal distance keep their order.
std::vector<std::string> NearestNames(std::string_view name, std::span<const std::string_view> candidates,
                                      size_t count);

}  // namespace taut
