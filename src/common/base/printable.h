// What may become a name that people read, and how any other is printed.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Valid UTF-8 without control characters.
bool IsPrintableUtf8(std::string_view text);

// What a terminal, a page or a log may be given: control characters, invalid UTF-8 and the characters that
// change the direction of text (they can make a name look like another) become \xNN and \u{NNNN}; all else
// stays. Lines are one line: '\n' is escaped, too, unless `keep_newlines`.
std::string Printable(std::string_view text, bool keep_newlines = false);

}  // namespace taut
