// Formats fields of a CSV file, safe to open in a spreadsheet.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Returns the field, quoted if it contains a comma, a quote, a tab or a line end. A leading apostrophe keeps
// a spreadsheet from evaluating the text as a formula.
std::string CsvField(std::string_view text);

}  // namespace taut
