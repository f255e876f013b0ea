// Parses the header line of a CSV file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taut::tools {

// Returns the first line that is neither blank nor a comment ("#"), without a byte order mark; "" if there is
// none.
std::string_view FirstContentLine(std::string_view head);

// Returns the most frequent separator outside quotes: comma, semicolon or tab. Returns a comma if there is none.
char SeparatorOf(std::string_view header);

// Returns a column's name in lower case, without blanks, quotes and byte order mark.
std::string ColumnName(std::string_view field);

// Returns the names of all columns of a header.
std::vector<std::string> ColumnNames(std::string_view header);

}  // namespace taut::tools
