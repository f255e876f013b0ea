// Selects the tasks to kill if a machine's tasks use more memory than the machine has. With soft limits, a task
// may use more than its request while the machine has free memory. docs/algorithms/overcommit.md, "Soft limits".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taut::brain {

struct SoftTask {
  int tier = 0;        // a higher tier is more important
  double usage = 0;    // used memory, bytes; 0 if the task does not run
  double request = 0;  // requested memory, bytes
};

// Returns the tasks to kill, in order, so that the remaining tasks use at most `capacity`. O(n * victims). The
// order is:
//  1. the lowest tier;
//  2. within a tier, tasks above their request, by the excess in bytes, the largest excess first;
//  3. then, to kill few tasks, the smallest task that suffices alone, or else the largest task.
// The first of equal tasks is selected. A task without usage is never selected.
std::vector<uint32_t> FindVictims(std::span<const SoftTask> tasks, double capacity);

}  // namespace taut::brain
