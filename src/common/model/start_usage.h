// Stores the CPU usage of tasks in their start-up window, as signals of a window whose names no rule can
// produce. It is not part of the window's CPU usage, and limits are not learnt from it.
#pragma once

#include <span>
#include <vector>

#include "common/model/closed_window.h"

namespace taut {

// Sums over the tasks of a job in one window.
struct StartSums {
  float peak_cores = kAbsent;  // highest peak of a task; negative: no task was in its start-up window
  // Added to the sum of the tasks' means, it yields the usage of all tasks.
  float more_cores = 0;
  uint32_t tasks = 0;  // tasks of which only the start was measured

  bool known() const { return peak_cores >= 0; }
};

// Sums up the starts; not known() without any.
StartSums SumStarts(std::span<const TaskStart> starts);
// Inserts the sums into `out` at `first`, before the job's own signals. Returns how many signals it added.
uint32_t PutStarts(const StartSums& sums, size_t first, std::vector<NamedSignal>& out);
// Returns the sums among a window's signals; not known() where none was stored.
StartSums StartsOf(std::span<const NamedSignal> signals);

}  // namespace taut
