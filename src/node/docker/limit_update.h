// Computes the engine request that sets a limit of a container. Arithmetic only. The rules were found by
// experiments with an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "node/agent/task_group.h"
#include "node/cgroup/cgroup_mounts.h"
#include "node/docker/engine_answer.h"

namespace taut::node {

// The kernel's value for no memory limit. In an update the engine accepts neither 0 nor -1 for "no limit".
inline constexpr int64_t kNoMemoryLimit = 0x7FFFFFFFFFFFF000;
// Amounts of at least this size exceed the memory of any machine, and also mean no limit.
inline constexpr int64_t kLeastNoMemoryLimit = int64_t{1} << 60;

// The engine's minimum for a memory limit.
inline constexpr int64_t kLeastMemoryLimit = int64_t{6} << 20;

struct LimitUpdate {
  std::string body;        // JSON for POST /containers/ID/update; "": nothing to change
  ContainerLimits result;  // the engine's values after a successful update
};

// Plans the update of one limit. `version`: version of the container's memory and CPU controllers. `cores`:
// number of cores of the engine's machine.
//   Memory  Set together with MemorySwap: equal values stay equal, a swap allowance keeps its size, and a
//           container without a swap limit gets no swap limit. No limit: kNoMemoryLimit.
//   CPU     A container made with --cpus keeps that form. The engine accepts at most all cores, which
//           therefore replace "no limit". Other containers get a quota in their present period, -1 for no limit.
//   Weight  CpuShares. No limit: the default of a container.
// InvalidArgument if the value is not a number or not above 0. Unimplemented for kMemoryHigh, kMemoryLow and
// kMemoryMin, which the engine does not support.
absl::StatusOr<LimitUpdate> PlanLimitUpdate(const ContainerLimits& now, LimitKind kind,
                                            std::optional<double> value, CgroupVersion version,
                                            int64_t cores);

// Converts the engine's fields. cpu_weight is absent if the container's weight was never set.
TaskLimits ToTaskLimits(const ContainerLimits& limits, int64_t cores);

}  // namespace taut::node
