// Text in HTML.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Safe as text and in attributes.
std::string EscapedHtml(std::string_view text);

}  // namespace taut
