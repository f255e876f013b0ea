// A window of one task as its agent measured it, before it is merged into the job's closed window.
#pragma once

#include <vector>

#include "common/histogram/grid.h"
#include "common/model/closed_window.h"
#include "common/model/usage.h"

namespace taut {

struct ReportedWindow {
  WindowId window;
  TaskWindow figures;                     // the member task is unused
  std::vector<BucketWeight> cpu_buckets;  // seconds at each bucket, ascending
  float cpu_limit_cores = kAbsent;        // the owner's limits
  float memory_limit_bytes = kAbsent;
  float memory_kernel_peak_bytes = kAbsent;  // highest charged memory since the task's start
  TaskReport report;                         // .task is unused
};

}  // namespace taut
