// Formats responses as JSON, YAML or CSV.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace taut::tools {

using Json = nlohmann::ordered_json;

// Returns indented JSON with a newline at the end.
std::string JsonText(const Json& value);
// Returns YAML 1.1 and 1.2 that reads back as the same value: ambiguous texts are quoted.
std::string YamlText(const Json& value);
// Returns CSV (RFC 4180) with a header. The CSV has one row per object of `value`, or of the first member of
// `value` that is a list of objects. Otherwise `value` is the only row. Columns of nested objects are named
// like "cpu.limit"; a list in a cell is JSON; absent values are empty.
std::string CsvText(const Json& value);

}  // namespace taut::tools
