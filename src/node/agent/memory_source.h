// How much memory a machine, or a group of it, still has: a seam, so that a test needs no machine to fill.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"

namespace taut::node {

struct MemoryNow {
  double total = 0, free = 0;        // bytes; free: without swapping or killing
  std::optional<double> some, full;  // share of the last ten seconds under memory pressure (PSI), 0 .. 1
};

// How much is to be free: this share of the whole, and no more than these bytes.
struct FreeThreshold {
  double share = 0;
  double bytes = 0;

  double Of(double total) const { return total * share < bytes ? total * share : bytes; }
};

class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // An error means "not known now".
  virtual absl::StatusOr<MemoryNow> Read() = 0;
  // Readiness whenever memory in use passes one of these amounts of free memory, where the kernel reports that
  // (cgroup v1). Set up with the next Read, and again when the group or its limit is another.
  virtual void Watch(std::vector<FreeThreshold> /*below*/) {}
  virtual int wakeup_fd() const { return -1; }  // for EPOLLIN; < 0: there is none
  virtual void ClearWakeup() {}
};

}  // namespace taut::node
