// Interface for the free memory of a machine, or of a cgroup on the machine. Tests replace it by fixed figures.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::node {

struct MemoryNow {
  double total = 0, free = 0;        // bytes; free: available without swapping or killing
  std::optional<double> some, full;  // share of the last ten seconds under memory pressure (PSI), 0 .. 1
};

// A threshold of free memory: the lower of a share of the whole and an amount in bytes.
struct FreeThreshold {
  double share = 0;
  double bytes = 0;

  double Of(double total) const { return total * share < bytes ? total * share : bytes; }
};

class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // An error means that the memory is unknown now. Not thread-safe.
  virtual absl::StatusOr<MemoryNow> Read() = 0;
  // Registers thresholds of free memory at which wakeup_fd() becomes readable, where the kernel supports it
  // (cgroup v1). Takes effect with the next Read, and again when the group or its limit changes.
  virtual void Watch(std::vector<FreeThreshold> /*below*/) {}
  // Readable (EPOLLIN) after a threshold was passed; < 0: not supported.
  virtual int wakeup_fd() const { return -1; }
  virtual void ClearWakeup() {}
};

}  // namespace taut::node
