// Reads load series for replica policies from CSV with time,job,load or with a time and a value, or from an
// answer of Prometheus' /api/v1/query_range.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/load_series.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

struct LoadReadOptions {
  std::vector<std::string> paths;  // files, directories and archives, as for a trace
  bool strict = false;             // the first bad row is an error
  std::string job_label;           // JSON: label with the job's name; "": all labels together are the name
  // CSV columns that become LoadSeries::signals; each file must have them.
  std::vector<std::string> signals = {};
};

// Returns one series per job, in the order of their first rows. A file whose first character is { is JSON.
// The step of a series is the most frequent gap between its rows. Steps without a row are absent; rows within
// one step are averaged. Rows whose time does not fit the series' other rows are skipped and counted
// (row_order.h). Returns an error if no file has a usable series and, with strict, for the first bad row. The
// report is filled in either case.
absl::StatusOr<std::vector<LoadSeries>> ReadLoads(const LoadReadOptions& options, ReadReport& report);

}  // namespace taut::tools
