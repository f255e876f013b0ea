// Reads columns of numbers from a CSV file with a header.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::tools {

// Returns one vector per name, of equal lengths; an empty field is NaN. The file is plain text. Returns
// NotFound if the file cannot be read. Returns InvalidArgument for a missing column, with the nearest name,
// and for a field that is not a finite number, with "file:line".
absl::StatusOr<std::vector<std::vector<double>>> ReadCsvColumns(const std::string& path,
                                                                std::span<const std::string> names);

}  // namespace taut::tools
