// Stores the CPU usage of tasks in their start-up window, as signals of a window whose names no rule can
// produce. This usage is not part of the window's CPU usage, and recommenders do not use it.
#pragma once

#include <span>
#include <vector>

#include "common/model/closed_window.h"

namespace taut {

// Sums over the tasks of a job in one window.
struct StartSums {
  float peak_cores = kAbsent;  // highest peak of a task; negative: no task was in its start-up window
  // The CPU usage of all tasks, less the sum of the tasks' means.
  float more_cores = 0;
  uint32_t tasks = 0;  // number of tasks of which only the start was measured

  bool known() const { return peak_cores >= 0; }
};

// Sums up the starts. The result is not known() if `starts` is empty.
StartSums SumStarts(std::span<const TaskStart> starts);
// Inserts the sums into `out` at `first`, before the job's own signals. Returns the number of added signals.
uint32_t PutStarts(const StartSums& sums, size_t first, std::vector<NamedSignal>& out);
// Returns the sums that PutStarts() stored in a window's `signals`. The result is not known() if `signals` contain
// no sums.
StartSums StartsOf(std::span<const NamedSignal> signals);

}  // namespace taut
