// The processes of a machine, and what oom_score_adj each has: a seam, so that a test needs none.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace taut::node {

// Bounds of oom_score_adj; a process with the lowest is never killed.
inline constexpr int kLeastOomScoreAdj = -1000, kMostOomScoreAdj = 1000;

// One process, never taken for another of its number.
struct ProcessId {
  int pid = 0;
  uint64_t started = 0;  // clock ticks after the machine's start

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
  // nullopt: there is no such process, or it cannot be read.
  virtual std::optional<ProcessReading> Read(int pid) = 0;
  // NotFound: the process has ended. PermissionDenied: a value below the process's own needs CAP_SYS_RESOURCE.
  virtual absl::Status SetOomScoreAdj(const ProcessId& process, int value) = 0;
};

}  // namespace taut::node
