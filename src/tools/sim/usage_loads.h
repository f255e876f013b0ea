// Loads of a usage trace's jobs, for replica policies: the sum of the CPU usage of a job's tasks, in cores.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/model/load_series.h"
#include "tools/sim/replay.h"

namespace taut::tools {

struct UsageLoads {
  // Loads of the jobs with measured CPU, ascending by job; a step is one window.
  std::vector<LoadSeries> loads;
  std::vector<double> limits;  // last known CPU limit of a task, by entry of loads; 0: none
};

// Reads the loads. The load of a window is the sum of the tasks' means; it is absent if CPU was not measured.
// Memory: 4 bytes per window and job. Returns InvalidArgument if the trace has no CPU usage, and the errors
// of LoadDay.
absl::StatusOr<UsageLoads> ReadUsageLoads(DaySource& source);

}  // namespace taut::tools
