// Columns of numbers of a CSV file with a header.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::tools {

// One vector per name, of equal lengths; an empty field is NaN. The file is plain text. NotFound: it cannot be
// read; InvalidArgument names a column that is not there (and the nearest), or "file:line" and a field that is
// not a
// finite number.
absl::StatusOr<std::vector<std::vector<double>>> ReadCsvColumns(const std::string& path,
                                                                std::span<const std::string> names);

}  // namespace taut::tools
