// All jobs of a cell in one window that is over: what ingest yields, the engine steps and a store keeps.
#pragma once

#include <vector>

#include "model/usage.h"

namespace taut {

// Offsets in `window` point into the ClosedWindow's vectors.
struct JobWindowData {
  JobId job;
  JobWindow window;
};

struct ClosedWindow {
  WindowId window;
  std::vector<JobWindowData> jobs;  // ascending JobId, each with at least one task measured
  std::vector<TaskWindow> tasks;    // of a job ascending
  std::vector<BucketWeight> cpu_buckets;
};

// Job `index` of a closed window as a day of one window, as the engine's DaySignals takes it. Reuses out's
// memory.
void ToJobDay(const ClosedWindow& closed, size_t index, JobDay& out);

}  // namespace taut
