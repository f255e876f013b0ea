// Escapes text for HTML.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Returns the text with & < > " ' escaped: safe as content and in quoted attributes.
std::string EscapedHtml(std::string_view text);

}  // namespace taut
