// Rules of the agent's configuration. A rule assigns tasks of a machine to a job and defines the limits that the
// agent may change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/tier.h"

namespace taut::node {

enum class TaskSource : uint8_t { kCgroup, kSystemd, kDocker };

// Implementation of a CPU limit on the node.
enum class CpuStyle : uint8_t {
  kNone,  // CPU is only measured
  kSoft,  // cpu.weight: a share when cores are short; no task is throttled
  kHard   // cpu.max: a task above the limit is throttled, even if cores are free
};
enum class MemoryStyle : uint8_t {
  kNone,
  kHard,  // memory.max
  kSoft   // memory.high at the limit, memory.max a tenth above the limit (cgroup v2); kHard on cgroup v1
};

// The first rule that matches a task applies.
struct TaskRule {
  std::string name;  // human-readable name; "": a name such as "rule 3"
  TaskSource source = TaskSource::kCgroup;
  // kCgroup: a path from the hierarchy's root, with '*' for any text within one component: "/apps/*/worker-*". The
  // path matches only the named groups, not the groups below them. kSystemd: pattern (common/base/pattern.h) of
  // unit names: "*.service", "web-*.service|batch.slice". kDocker: pattern of container names.
  std::string match;
  // Templates (common/base/name_template.h). All templates accept {host}. Templates of cgroups also accept {path},
  // {base} and {1}, {2}, ... for the text that each '*' matched. Templates of units also accept {unit} (without
  // suffix), {prefix} (before '@'), {instance} and {slice}. Templates of containers also accept {name}, {id},
  // {image}, {service} (Compose "project/service", else the name) and {label.KEY}.
  std::string job, task;
  // True if the tasks are containers of Kubernetes' pods: the daemon finds their jobs by its watch of the cluster,
  // and only the agent uses the names from these templates. Not for kDocker.
  bool pods = false;
  bool manage = false;  // false: tasks are measured, never changed
  // True if the agent sets a CPU quota or memory limit also where the owner has set none.
  bool add_limits = false;
  // Time after the start of a task in which no limit is lowered; raises are made at once. Absent: the time in the
  // job's terms, which the daemon sends.
  std::optional<int64_t> startup_grace_s;
  CpuStyle cpu = CpuStyle::kSoft;
  MemoryStyle memory = MemoryStyle::kHard;
  // Inclusive bounds of every limit (cores, bytes). They apply to all orders.
  std::optional<double> cpu_lower, cpu_upper, memory_lower, memory_upper;
  std::optional<Tier> tier;
  std::optional<double> memory_request;  // memory request in bytes
};

}  // namespace taut::node
