// Checks and escapes untrusted text that people read.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Returns true for valid UTF-8 without control characters and without characters that change the direction of
// text.
bool IsPrintableUtf8(std::string_view text);

// Returns text that is safe for a terminal, a page or a log. Control characters become \xNN or \u{NNNN}.
// Characters that change the direction of text, and so can make a name look like another name, become
// \u{NNNN}. Invalid bytes become \xNN. '\n' is escaped, too, unless `keep_newlines`.
std::string Printable(std::string_view text, bool keep_newlines = false);

}  // namespace taut
