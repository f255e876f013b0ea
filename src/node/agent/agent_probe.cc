// Probes the memory that tasks need: memory.high is lowered until the tasks stall (node/agent/memory_probe.h).
#include <algorithm>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "node/agent/agent.h"
#include "node/agent/messages.h"

namespace taut::node {
namespace {

constexpr int64_t kReadEveryUs = 900'000;  // about once a second, also with a shorter sample interval
constexpr int64_t kBlindUs = 60'000'000;

}  // namespace

bool Agent::IsProbeRead(const AgentTask& task, const NodeTime& now) const {
  return task.probe.has_value() && now.steady_us - task.probe_read.at_us >= kReadEveryUs;
}

bool Agent::MayBeProbed(const AgentTask& task) const {
  const ProbeSelection& probe = options_.probe;
  const auto high = static_cast<size_t>(LimitKind::kMemoryHigh);
  if (options_.observe || !options_.has_memory_high || !task.rule->manage) return false;
  // memory.high has a single owner: tautd's orders, the guard while it throttles, or another program.
  if (task.rule->memory == MemoryStyle::kSoft || task.high_before.has_value()) return false;
  if (task.is_others[high] || task.is_refused[high]) return false;
  return probe.tiers[static_cast<size_t>(task.tier.tier)] ||
         (!probe.jobs.empty() && FitsPattern(task.found.job, probe.jobs));
}

// A limit on a group limits all tasks in the group, and the group's stall time includes their stalls: do not
// probe a group with other tasks.
bool Agent::StandsAlone(const AgentTask& task, const std::vector<std::string>& paths) const {
  const std::string_view path = task.group->cgroup_path();
  if (path == "/") return false;
  if (path.empty()) return true;
  for (const std::string& own : options_.own_groups) {
    if (IsWithin(own, path)) return false;
  }
  // `paths` is sorted. Paths below this group begin with "path/" and follow each other, so one comparison
  // suffices.
  const auto next = std::upper_bound(paths.begin(), paths.end(), StrCat(path, "/"));
  return next == paths.end() || !IsWithin(*next, path);
}

void Agent::ProbeMemory(const NodeTime& now) {
  if (!options_.probe.is_on()) return;
  std::vector<std::string> paths;
  for (const auto& [id, task] : tasks_) paths.emplace_back(task->group->cgroup_path());
  std::sort(paths.begin(), paths.end());
  for (const auto& [id, task] : tasks_) {
    if (!MayBeProbed(*task) || !StandsAlone(*task, paths)) {
      EndProbe(*task, "it is not probed any more");
    } else {
      StepProbe(*task, now);
    }
  }
}

void Agent::StepProbe(AgentTask& task, const NodeTime& now) {
  if (!task.probe.has_value()) task.probe.emplace(options_.probe.options);
  // A reading counts once: the same stall time twice would look like an interval without stalls.
  if (task.probe_read.at_us != now.steady_us) {
    if (now.steady_us - task.probe_read.at_us > kBlindUs) EndProbe(task, "the task cannot be read");
    return;
  }
  const ProbeReading reading{task.probe_read.stall_us, task.probe_read.usage, task.in_force.memory_max_bytes,
                             task.owner.memory_high_bytes, !guard_.is_short()};
  const LimitValue before = task.probe->high();
  const ProbeStep step = task.probe->Step(reading, now.steady_us);
  switch (step.kind) {
    case ProbeStep::Kind::kNone:
      return;
    case ProbeStep::Kind::kRelease:
      RestoreHigh(task, task.owner.memory_high_bytes);
      return Act(task.found, {.action = "probe_ended",
                              .resource = Resource::kMemory,
                              .from = before,
                              .to = task.owner.memory_high_bytes,
                              .text = "it stalls whatever the limit is, its memory.max or its start is "
                                      "another, or its figures are missing"});
    case ProbeStep::Kind::kSet:
      break;
  }
  // Another program may have set memory.high since the last comparison.
  CompareLimits(task, now);
  if (!MayBeProbed(task)) return EndProbe(task, "another program has set memory.high");
  const absl::Status s = WriteNow(task, LimitKind::kMemoryHigh, step.high);
  if (s.ok()) {
    if (!before.has_value()) {
      Act(task.found, {.action = "probe_started",
                       .resource = Resource::kMemory,
                       .from = task.owner.memory_high_bytes,
                       .to = step.high});
    }
    return;
  }
  if (s.code() == absl::StatusCode::kNotFound) return;
  task.is_refused[static_cast<size_t>(LimitKind::kMemoryHigh)] = absl::IsUnimplemented(s);
  if (!absl::IsUnimplemented(s)) {
    TaskError(task.finder, task.found.identity, StrCat("memory probe: memory.high: ", Message(s)));
  }
  if (!before.has_value()) return task.probe->Drop();  // retried with the next reading
  // The kernel may or may not have the new limit: restore the owner's value.
  EndProbe(task, "memory.high could not be set");
}

void Agent::EndProbe(AgentTask& task, std::string why) {
  if (!task.probe.has_value()) return;
  const LimitValue high = task.probe->high();
  task.probe->Drop();
  if (!high.has_value()) return;
  RestoreHigh(task, task.owner.memory_high_bytes);
  Act(task.found, {.action = "probe_ended",
                   .resource = Resource::kMemory,
                   .from = high,
                   .to = task.owner.memory_high_bytes,
                   .text = std::move(why)});
}

}  // namespace taut::node
