#include "node/agent/task_group.h"

#include <array>

namespace taut::node {

std::string_view Name(LimitKind kind) {
  constexpr std::array<std::string_view, kNumLimitKinds> kNames = {"memory.max", "memory.high", "cpu.max",
                                                                   "cpu.weight", "memory.low",  "memory.min"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<double>& TaskLimits::of(LimitKind kind) {
  switch (kind) {
    case LimitKind::kMemoryMax:
      return memory_max_bytes;
    case LimitKind::kMemoryHigh:
      return memory_high_bytes;
    case LimitKind::kCpuMax:
      return cpu_max_cores;
    case LimitKind::kMemoryLow:
      return memory_low_bytes;
    case LimitKind::kMemoryMin:
      return memory_min_bytes;
    case LimitKind::kCpuWeight:
      break;
  }
  return cpu_weight;
}

const std::optional<double>& TaskLimits::of(LimitKind kind) const {
  return const_cast<TaskLimits*>(this)->of(kind);
}

}  // namespace taut::node
