// The page around the data, built into the program from web/report/ (see embed_page.py).
#pragma once

#include <string_view>

namespace taut {

// The page is kPageHead, the JSON, kPageTail.
extern const std::string_view kPageHead;
extern const std::string_view kPageTail;

}  // namespace taut
