// The CPU that tasks used in their start-up window, as a stored window keeps it: as signals with names that no
// rule can give. Usage of a start is no part of the window's CPU usage, and limits are not learnt of it.
#pragma once

#include <span>
#include <vector>

#include "common/model/closed_window.h"

namespace taut {

// Over the tasks of a job in one window.
struct StartSums {
  float peak_cores = kAbsent;  // highest task; below 0: no task was in its start-up window
  // To be added to the sum of the tasks' means, so that it is the usage of all tasks.
  float more_cores = 0;
  uint32_t tasks = 0;  // of which nothing but their start was measured

  bool known() const { return peak_cores >= 0; }
};

StartSums SumStarts(std::span<const TaskStart> starts);
// Before the job's own signals in `out`, from `first` on. Returns how many were added.
uint32_t PutStarts(const StartSums& sums, size_t first, std::vector<NamedSignal>& out);
// Of a window's signals; not known where nothing was put.
StartSums StartsOf(std::span<const NamedSignal> signals);

}  // namespace taut
