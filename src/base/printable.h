// What may become a name that people read.
#pragma once

#include <string_view>

namespace taut {

// Valid UTF-8 without control characters.
bool IsPrintableUtf8(std::string_view text);

}  // namespace taut
