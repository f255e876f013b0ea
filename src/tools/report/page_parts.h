// The page around the data, built into the program from what npm makes of web/app (see embed_page.py).
#pragma once

#include <string_view>

namespace taut::tools {

// The page is kPageHead, the JSON, kPageTail. Both are empty where the page was not built.
extern const std::string_view kPageHead;
extern const std::string_view kPageTail;

}  // namespace taut::tools
