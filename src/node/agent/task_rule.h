// Which tasks of a machine belong to which job, and what may be done to them: rules as data, from the agent's
// configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/model/tier.h"

namespace taut::node {

enum class TaskSource : uint8_t { kCgroup, kSystemd, kDocker };

// What a CPU limit is made of on the node.
enum class CpuStyle : uint8_t {
  kNone,  // CPU is only measured
  kSoft,  // cpu.weight: who has more gets more when cores are short; no task is throttled
  kHard   // cpu.max: throttled above it, always
};
enum class MemoryStyle : uint8_t {
  kNone,
  kHard,  // memory.max
  kSoft   // memory.high at the limit, memory.max a tenth above it (cgroup v2; on v1 as kHard)
};

// The first rule that fits a task decides.
struct TaskRule {
  std::string name;  // for people; "" : "rule 3"
  TaskSource source = TaskSource::kCgroup;
  // kCgroup: a path from the hierarchy's root with '*' for any text within one component:
  // "/apps/*/worker-*"; only groups that are named by it, not those below. kSystemd: pattern
  // (common/base/pattern.h) of unit names: "*.service", "web-*.service|batch.slice". kDocker: pattern of container
  // names.
  std::string match;
  // Templates (common/base/name_template.h). All know {host}; cgroups {path}, {base} and {1}, {2}, ... for what
  // the
  // '*' stood for; units {unit} (no suffix), {prefix} (before '@'), {instance}, {slice}; containers {name},
  // {id}, {image}, {service} (Compose "project/service", else the name) and {label.KEY}.
  std::string job, task;
  bool manage = false;  // false: measured, never touched
  // Whether a task gets a CPU quota or memory limit of which its owner has set none.
  bool add_limits = false;
  // No limit is lowered in the first seconds of a task; raises are made at once. Absent: as the job's settings
  // say, of which the daemon tells.
  std::optional<int64_t> startup_grace_s;
  CpuStyle cpu = CpuStyle::kSoft;
  MemoryStyle memory = MemoryStyle::kHard;
  // Whatever is ordered, limits stay within these (cores, bytes).
  std::optional<double> cpu_lower, cpu_upper, memory_lower, memory_upper;
  std::optional<Tier> tier;
  std::optional<double> memory_request;  // bytes
};

}  // namespace taut::node
