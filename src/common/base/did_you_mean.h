// What is said of a mistyped name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace taut {

// Insertions, deletions and replacements of a character and swaps of two neighbours between two texts.
size_t EditDistance(std::string_view a, std::string_view b);

// `; did you mean "NAME"?` of the nearest candidate; "" if none is like the name: at most half of its last part
// (after a '.') differs, or the candidate contains it.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace taut
