// The first line of a CSV file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taut::tools {

// The first line that is neither blank nor a comment ("#"), without a byte order mark; "" if there is none.
std::string_view FirstContentLine(std::string_view head);

// That of comma, semicolon and tab which stands most often in the line outside of quotes; a comma if none does.
char SeparatorOf(std::string_view header);

// A column's name without blanks, quotes and byte order mark, in lower case.
std::string ColumnName(std::string_view field);

// The names of all columns, by SeparatorOf.
std::vector<std::string> ColumnNames(std::string_view header);

}  // namespace taut::tools
