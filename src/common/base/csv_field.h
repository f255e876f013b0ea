// A field of a CSV file that people also open in a spreadsheet.
#pragma once

#include <string>
#include <string_view>

namespace taut {

// Quoted if it holds a comma, a quote, a tab or a line end; with a leading apostrophe if a spreadsheet would
// take it for a formula.
std::string CsvField(std::string_view text);

}  // namespace taut
