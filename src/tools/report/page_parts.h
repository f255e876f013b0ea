// The parts of the page before and after the JSON. npm builds the page in web/app, and embed_page.py compiles the
// page into the program.
#pragma once

#include <string_view>

namespace taut::tools {

// A page consists of kPageHead, the JSON and kPageTail. Both are empty if the page was not built.
extern const std::string_view kPageHead;
extern const std::string_view kPageTail;

}  // namespace taut::tools
