#include "server/agents/machine_bounds.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;

// Counters are read at times that are exact only to some milliseconds, so measured rates may be slightly too
// high.
constexpr double kMeasuringError = 1.1;

double CoresOf(const pb::Hello& machine) { return machine.cores() > 0 ? machine.cores() : kMostCores; }
double MemoryOf(const pb::Hello& machine) {
  return machine.memory_bytes() > 0 ? machine.memory_bytes() : kMostMemoryBytes;
}

}  // namespace

bool FitsMachine(const pb::TaskWindow& w, const pb::Hello& machine) {
  const double cores = CoresOf(machine) * kMeasuringError;
  const double memory = MemoryOf(machine) * kMeasuringError;
  return w.cpu_mean_cores() <= cores && w.cpu_peak_cores() <= 2 * cores && w.memory_mean_bytes() <= memory &&
         w.memory_peak_bytes() <= memory && w.memory_kernel_peak_bytes() <= memory &&
         w.memory_needed_bytes() <= memory && w.memory_needed_peak_bytes() <= memory &&
         w.owner_cpu_cores() <= kMostCores && w.owner_memory_bytes() <= kMostMemoryBytes;
}

bool FitsMachine(const pb::TierAct& act, const pb::Hello& machine) {
  const double memory = MemoryOf(machine) * kMeasuringError;
  return act.usage_bytes() <= memory && act.high_bytes() <= memory && act.free_bytes() <= memory &&
         act.total_bytes() <= memory && act.request_bytes() <= kMostMemoryBytes && act.pressure_some() <= 1 &&
         act.pressure_full() <= 1;
}

bool FitsMachine(const pb::Oom& oom, const pb::Hello& machine) {
  // The limit at which a task was killed cannot be above the memory of the task's machine.
  return oom.limit_bytes() <= MemoryOf(machine) * kMeasuringError;
}

}  // namespace taut::server
