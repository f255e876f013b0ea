// The processes of a machine and their oom_score_adj. An interface, so that tests need no processes.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace taut::node {

// Bounds of oom_score_adj. The kernel never kills a process with the lowest value.
inline constexpr int kLeastOomScoreAdj = -1000, kMostOomScoreAdj = 1000;

// Identity of a process. A later process with the same pid has another identity.
struct ProcessId {
  int pid = 0;
  uint64_t started = 0;  // start in clock ticks after boot

  auto operator<=>(const ProcessId&) const = default;
};

struct ProcessReading {
  ProcessId id;
  int parent = 0;
  int oom_score_adj = 0;
};

class ProcessTable {
 public:
  virtual ~ProcessTable() = default;
  // Returns the process with this pid; nullopt if it does not exist or cannot be read.
  virtual std::optional<ProcessReading> Read(int pid) = 0;
  // Sets the value. NotFound if the process has ended. PermissionDenied if lowering the value requires
  // CAP_SYS_RESOURCE.
  virtual absl::Status SetOomScoreAdj(const ProcessId& process, int value) = 0;
};

}  // namespace taut::node
