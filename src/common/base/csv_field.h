// Formats fields of a CSV file, safe to open in a spreadsheet.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Returns the text as a CSV field, in quotes if the text contains a comma, a quote, a tab or a line end. Text
// that begins with '=', '+', '-', '@', a tab or a CR gets a leading apostrophe, so that a spreadsheet does
// not evaluate it as a formula.
std::string CsvField(std::string_view text);

}  // namespace taut
