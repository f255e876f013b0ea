// What to ask of the engine so that a container gets a limit. Plain arithmetic, found by trying an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "node/agent/task_group.h"
#include "node/cgroup/cgroup_mounts.h"
#include "node/docker/engine_answer.h"

namespace taut::node {

// The kernel's own word for no memory limit. The engine takes neither 0 nor -1 for it in an update.
inline constexpr int64_t kNoMemoryLimit = 0x7FFFFFFFFFFFF000;
// More than any machine has: means no limit too.
inline constexpr int64_t kLeastNoMemoryLimit = int64_t{1} << 60;

// The engine refuses a memory limit below it.
inline constexpr int64_t kLeastMemoryLimit = int64_t{6} << 20;

struct LimitUpdate {
  std::string body;        // JSON for POST /containers/ID/update; "": there is nothing to change
  ContainerLimits result;  // what the engine says it has, if it takes this
};

// `version`: where the container's memory and CPU are. `cores`: of the engine's machine.
//   Memory  Goes together with MemorySwap: equal stays equal, an allowance of swap stays as large, and what
//           has no swap limit gets none. No limit: kNoMemoryLimit.
//   CPU     A container that was made with --cpus stays so; the engine takes at most all cores for it, so
//           that, and no limit, is as many cores as there are. All others have a quota, in the period that
//           they have; -1 is no limit.
//   Weight  CpuShares. No limit: what a container has that nothing was said of.
// InvalidArgument: no number, or not above 0. Unimplemented: kMemoryHigh, kMemoryLow and
// kMemoryMin, which the engine does not know.
absl::StatusOr<LimitUpdate> PlanLimitUpdate(const ContainerLimits& now, LimitKind kind,
                                            std::optional<double> value, CgroupVersion version,
                                            int64_t cores);

// What the engine's fields mean. cpu_weight is absent if nothing was said of it.
TaskLimits ToTaskLimits(const ContainerLimits& limits, int64_t cores);

}  // namespace taut::node
