// The loads of a usage trace's jobs, for replica policies: what the tasks of a job use together, in cores.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/model/load_series.h"
#include "tools/sim/replay.h"

namespace taut::tools {

struct UsageLoads {
  std::vector<LoadSeries> loads;  // by job, ascending; of jobs whose CPU was measured, steps of a window
  std::vector<double> limits;     // of each: the CPU limit of a task that was known last; 0: none was
};

// The load of a window is the sum of its tasks' means. A window without CPU is absent. Memory: 4 bytes a window
// of each job. InvalidArgument if the trace has no CPU usage.
absl::StatusOr<UsageLoads> ReadUsageLoads(DaySource& source);

}  // namespace taut::tools
