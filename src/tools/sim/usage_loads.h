// Loads of a usage trace's jobs for replica policies: the CPU usage of a job's tasks in cores.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/model/load_series.h"
#include "tools/sim/replay.h"

namespace taut::tools {

struct UsageLoads {
  // Loads of jobs with measured CPU, ascending by job. A step is one window.
  std::vector<LoadSeries> loads;
  std::vector<double> limits;  // last known CPU limit of a task, by index in `loads`; 0: unknown
};

// Reads the loads. The load in a window is the sum of the tasks' mean usage; absent if CPU was not measured.
// Memory: 4 bytes per window and job. Returns InvalidArgument if the trace has no CPU usage, and errors of
// LoadDay().
absl::StatusOr<UsageLoads> ReadUsageLoads(DaySource& source);

}  // namespace taut::tools
