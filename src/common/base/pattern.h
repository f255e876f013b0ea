// Patterns as people write them in rules: "web-*", "batch|cron-*".
#pragma once

#include <string_view>

namespace taut {

// Alternatives stand between '|', one of which may be empty; '*' stands for any text, also none. The whole
// text must fit. O(text * pattern) at worst, no recursion.
bool FitsPattern(std::string_view text, std::string_view pattern);

}  // namespace taut
