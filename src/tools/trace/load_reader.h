// Reads load series for replica policies: CSV with time,job,load or with a time and a value, or responses of
// Prometheus' /api/v1/query_range.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/load_series.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

struct LoadReadOptions {
  std::vector<std::string> paths;  // files, directories and archives
  bool strict = false;             // true: the first invalid row is an error
  // JSON: label with the name of the job; "": all labels together are the name
  std::string job_label;
  // CSV columns for LoadSeries::signals, which each file must have.
  std::vector<std::string> signals = {};
};

// Returns one series per job, in the order of their first rows. A file that starts with { is JSON. The step of a
// series is the most frequent gap between its rows. A step without a row is absent, and several rows in a step are
// averaged. Rows whose times contradict the other rows are skipped and counted (row_order.h). Returns an error if
// no file has a usable series, and with `strict` for the first invalid row. `report` is complete even after an
// error.
absl::StatusOr<std::vector<LoadSeries>> ReadLoads(const LoadReadOptions& options, ReadReport& report);

}  // namespace taut::tools
