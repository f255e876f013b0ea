// Matches text against the patterns of rules: "web-*", "batch|cron-*".
#pragma once

#include <string_view>

namespace taut {

// Returns true if the whole text matches one of the alternatives, which '|' separates. '*' matches any text,
// including empty text. An empty alternative matches empty text. O(text * pattern) at worst, without
// recursion.
bool FitsPattern(std::string_view text, std::string_view pattern);

}  // namespace taut
