// Load series for horizontal scaling: CSV of time,job,load or of a time and a value, or the answer of Prometheus'
// /api/v1/query_range.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/load_series.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

struct LoadReadOptions {
  std::vector<std::string> paths;  // files, directories, archives, as of a trace
  bool strict = false;             // the first bad row is an error
  std::string job_label;           // of JSON: the label whose value is the job's name; "": all labels are it
  // Columns of CSV that become LoadSeries::signals; each file must have them.
  std::vector<std::string> signals = {};
};

// One series a job, in the order of their first rows; a file whose first character is { is JSON. The step of a
// series is its most frequent gap between rows; steps without a row stay absent, rows within one step are
// averaged. Not OK if there is nothing usable in all files or, with strict, at the first bad row; the report is
// filled either way.
absl::StatusOr<std::vector<LoadSeries>> ReadLoads(const LoadReadOptions& options, ReadReport& report);

}  // namespace taut::tools
