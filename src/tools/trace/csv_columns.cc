#include "tools/trace/csv_columns.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "common/base/nearest.h"
#include "common/base/strings.h"

namespace taut::tools {

absl::StatusOr<std::vector<std::vector<double>>> ReadCsvColumns(const std::string& path,
                                                                std::span<const std::string> names) {
  std::ifstream in(path);
  std::string line;
  if (!in || !std::getline(in, line))
    return absl::NotFoundError(StrCat(path, ": cannot be read, or is empty"));
  std::vector<std::string_view> header;
  const std::string first(StripSpace(line));
  for (const std::string_view name : Split(first, ',')) header.push_back(StripSpace(name));
  std::vector<size_t> columns;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(header, std::string_view(name));
    if (at == header.end()) {
      return absl::InvalidArgumentError(
          StrCat(path, ": no column \"", name, "\"; did you mean \"", NearestName(name, header), "\"?"));
    }
    columns.push_back(static_cast<size_t>(at - header.begin()));
  }
  std::vector<std::vector<double>> out(names.size());
  for (size_t row = 2; std::getline(in, line); ++row) {
    if (StripSpace(line).empty()) continue;
    const std::vector<std::string_view> fields = Split(line, ',');
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string_view field = columns[i] < fields.size() ? StripSpace(fields[columns[i]]) : "";
      const std::optional<double> value =
          field.empty() ? std::numeric_limits<double>::quiet_NaN() : ParseDouble(field);
      if (!value.has_value() || std::isinf(*value)) {
        return absl::InvalidArgumentError(
            StrCat(path, ":", row, ": ", names[i], ": \"", field, "\" is not a finite number"));
      }
      out[i].push_back(*value);
    }
  }
  return out;
}

}  // namespace taut::tools
