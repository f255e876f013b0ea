// Who goes when the tasks of a machine use more memory than it has. With soft limits a task may use more than
// it requested as long as the machine has room. docs/algorithms/overcommit.md, "Soft limits".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taut::brain {

struct SoftTask {
  int tier = 0;        // the higher, the more important
  double usage = 0;    // bytes; >= 0, 0 for one that does not run
  double request = 0;  // bytes
};

// The tasks that are killed so that the usage of the rest is at most `capacity`, in the order of their kills. Of
// the lowest tier first. Within a tier those over their request first, the furthest over first, in bytes; then,
// so that few go, the one that uses least of those that alone suffice, or else the one that uses most. Of equal
// ones the first. One that uses nothing is never among them. O(n * victims).
std::vector<uint32_t> FindVictims(std::span<const SoftTask> tasks, double capacity);

}  // namespace taut::brain
