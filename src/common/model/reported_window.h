// A window of one task as an agent measured it, before it joins the job's closed window.
#pragma once

#include <vector>

#include "common/histogram/grid.h"
#include "common/model/closed_window.h"
#include "common/model/usage.h"

namespace taut {

struct ReportedWindow {
  WindowId window;
  TaskWindow figures;                     // .task does not count
  std::vector<BucketWeight> cpu_buckets;  // seconds at each bucket, ascending
  float cpu_limit_cores = kAbsent;        // the owner's
  float memory_limit_bytes = kAbsent;
  float memory_kernel_peak_bytes = kAbsent;  // the most that was charged since the task's start
  TaskReport report;                         // .task does not count
};

}  // namespace taut
