// The parts of the page before and after the data. npm builds the page in web/app, and embed_page.py compiles
// it into the program.
#pragma once

#include <string_view>

namespace taut::tools {

// The page is kPageHead, the JSON, kPageTail. Both parts are empty if the page was not built.
extern const std::string_view kPageHead;
extern const std::string_view kPageTail;

}  // namespace taut::tools
