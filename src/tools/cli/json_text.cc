#include "tools/cli/json_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/csv_field.h"
#include "common/base/strings.h"

namespace taut::tools {
namespace {

bool IsPlain(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kWords = {"y",    "n",     "yes",  "no",  "on", "off",
                                                              "true", "false", "null", "inf", "nan"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !is_letter(text.front())) return false;
  if (!std::all_of(text.begin(), text.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
      }))
    return false;
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
  return std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

std::string Flow(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }
std::string Scalar(const Json& value) {
  if (value.is_string() && IsPlain(value.get_ref<const std::string&>())) return value.get<std::string>();
  return Flow(value);
}
std::string Key(const std::string& key) { return IsPlain(key) ? key : Flow(Json(key)); }

// Returns true if YAML shows the value on one line: a scalar, an empty container, or a list of scalars.
bool FitsLine(const Json& value) {
  if (!value.is_structured() || value.empty()) return true;
  return value.is_array() && std::none_of(value.begin(), value.end(), [](const Json& v) {
           return v.is_object() || v.is_string() || (v.is_array() && !FitsLine(v));
         });
}

// Writes a value as YAML. With `first`, the value follows "- ", so its first line is not indented.
void Write(const Json& value, size_t indent, bool first, std::string& out) {
  const std::string blanks(indent, ' ');
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, item] : value.items()) {
      if (!std::exchange(first, false)) out += blanks;
      out += Key(key) + ":";
      if (FitsLine(item)) {
        out += " " + Scalar(item) + "\n";
      } else {
        out += "\n";
        Write(item, indent + (item.is_object() ? 2 : 0), false, out);
      }
    }
    return;
  }
  if (value.is_array() && !FitsLine(value)) {
    for (const Json& item : value) {
      if (!std::exchange(first, false)) out += blanks;
      out += "- ";
      Write(item, indent + 2, true, out);
    }
    return;
  }
  if (!first) out += blanks;
  out += Scalar(value) + "\n";
}

using CsvRow = std::map<std::string, std::string>;

// Writes the cells of one object into `row`, and appends new columns to `columns`.
void Flatten(const Json& value, const std::string& column, CsvRow& row, std::vector<std::string>& columns) {
  if (value.is_object()) {
    for (const auto& [key, item] : value.items())
      Flatten(item, column.empty() ? key : StrCat(column, ".", key), row, columns);
    return;
  }
  const std::string name = column.empty() ? "value" : column;
  if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  if (value.is_null()) return;
  row[name] = value.is_number()
                  ? Flow(value)
                  : CsvField(value.is_string() ? value.get_ref<const std::string&>() : Flow(value));
}

bool IsListOfObjects(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_object(); });
}

// Returns the list whose items become rows; nullptr if `value` itself is the only row.
const Json* RowsOf(const Json& value) {
  if (value.is_array()) return &value;
  if (!value.is_object()) return nullptr;
  for (const auto& [key, item] : value.items()) {
    if (IsListOfObjects(item)) return &item;
  }
  // An empty list results in no rows, even if the response has other members.
  for (const auto& [key, item] : value.items()) {
    if (item.is_array() && item.empty()) return &item;
  }
  return nullptr;
}

}  // namespace

std::string JsonText(const Json& value) {
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string YamlText(const Json& value) {
  std::string out;
  Write(value, 0, false, out);
  return out;
}

std::string CsvText(const Json& value) {
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;
  if (const Json* list = RowsOf(value); list != nullptr) {
    for (const Json& item : *list) Flatten(item, "", rows.emplace_back(), columns);
  } else {
    Flatten(value, "", rows.emplace_back(), columns);
  }
  std::string out;
  const auto add = [&](auto&& cell) {
    for (size_t i = 0; i < columns.size(); ++i) StrAppend(&out, i == 0 ? "" : ",", cell(columns[i]));
    if (!columns.empty()) out += "\n";
  };
  add([](const std::string& column) { return CsvField(column); });
  for (const CsvRow& row : rows) {
    add([&](const std::string& column) {
      const auto it = row.find(column);
      return it == row.end() ? std::string() : it->second;
    });
  }
  return out;
}

}  // namespace taut::tools
