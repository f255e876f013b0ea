// Parses the header line of a CSV file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taut::tools {

// Returns the first line that is neither blank nor a comment ("#"), without a byte order mark; "" if `head`
// contains no such line.
std::string_view FirstContentLine(std::string_view head);

// Returns the separator of a header: comma, semicolon or tab, whichever is most frequent outside quotes.
// Returns a comma if the header contains no separator.
char SeparatorOf(std::string_view header);

// Returns a column's name without blanks, quotes and byte order mark, in lower case.
std::string ColumnName(std::string_view field);

// Returns the names of all columns, split at SeparatorOf().
std::vector<std::string> ColumnNames(std::string_view header);

}  // namespace taut::tools
