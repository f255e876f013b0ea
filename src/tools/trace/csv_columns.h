// Reads columns of numbers from a CSV file with a header.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::tools {

// Returns one vector per name, all of equal length, with NaN for an empty field. Reads plain text only. Returns
// NotFound if the file cannot be read. Returns InvalidArgument with the most similar name for a missing column,
// and with "file:line" for a field that is not a finite number.
absl::StatusOr<std::vector<std::vector<double>>> ReadCsvColumns(const std::string& path,
                                                                std::span<const std::string> names);

}  // namespace taut::tools
