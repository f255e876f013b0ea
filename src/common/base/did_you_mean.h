// Suggests a known name for a mistyped name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace taut {

// Returns the least number of edits that turn `a` into `b`: insertions, deletions and replacements of a
// character, and swaps of two neighbours (restricted Damerau-Levenshtein distance). O(a * b).
size_t EditDistance(std::string_view a, std::string_view b);

// Returns `; did you mean "NAME"?` with the nearest candidate, or "" if none is similar. A candidate is similar if
// the number of edits is at most half of the number of characters of `name` behind its last '.', or if the
// candidate contains `name`.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace taut
