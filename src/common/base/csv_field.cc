#include "common/base/csv_field.h"

#include "common/base/strings.h"

namespace taut {

std::string CsvField(std::string_view text) {
  // A spreadsheet evaluates a cell that starts with one of these characters as a formula. A leading apostrophe
  // makes the content a text.
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  if (text.find_first_of(",\"\r\n\t") == std::string_view::npos) return StrCat(formula ? "'" : "", text);
  std::string out = formula ? "\"'" : "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace taut
