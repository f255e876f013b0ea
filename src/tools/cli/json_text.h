// Formats responses as JSON, YAML or CSV.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace taut::tools {

using Json = nlohmann::ordered_json;

// Returns indented JSON with a final newline.
std::string JsonText(const Json& value);
// Returns YAML that parses to the same value under YAML 1.1 and 1.2, because ambiguous texts are quoted.
std::string YamlText(const Json& value);
// Returns CSV (RFC 4180) with a header. The rows are the objects of the list `value`, or of the first member of
// `value` that is a list of objects. Any other value is a single row. A nested object results in columns such as
// "cpu.limit", a list in a cell with JSON, and an absent value in an empty cell.
std::string CsvText(const Json& value);

}  // namespace taut::tools
