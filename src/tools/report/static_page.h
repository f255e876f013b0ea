// Parts of a page without scripts and without anything from elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace taut::tools {

// Up to and including the heading; tables wider than the page scroll. Light or dark as the
// browser prefers.
std::string StaticPageHead(std::string_view title);
// Of a table; the text is escaped.
std::string TableCell(std::string_view text);

}  // namespace taut::tools
