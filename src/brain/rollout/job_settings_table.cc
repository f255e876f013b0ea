// The settings of a job that are fields of JobPolicy, one row per key.
#include "brain/replicas/policies.h"
#include "brain/rollout/job_setting_rows.h"
#include "brain/rollout/replica_gate.h"
#include "common/base/byte_units.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

template <const auto& names>
std::vector<std::string_view> NamesOf() {
  return {std::begin(names), std::end(names)};
}

std::vector<std::string_view> ReplicaPolicyNames() {
  std::vector<std::string_view> names = {kNoReplicaPolicy};
  for (const ReplicaPolicyInfo& p : ReplicaPolicies()) names.push_back(p.name);
  return names;
}

std::vector<std::string_view> ModeNames() {
  std::vector<std::string_view> names;
  for (int i = 0; i < kNumModes; ++i) names.push_back(Name(static_cast<Mode>(i)));
  return names;
}

// The position of a choice in the list is its enum value. Recommenders of jobs precede comparators of replays,
// and `combined` is the last recommender of jobs.
std::vector<std::string_view> RecommenderNames() {
  std::vector<std::string_view> names;
  for (const PolicyInfo& p : Policies()) {
    if (!p.replay_only) names.push_back(p.name);
  }
  return names;
}
std::vector<std::string_view> NamesForOneResource() {
  std::vector<std::string_view> names = RecommenderNames();
  names.resize(static_cast<size_t>(Policy::kCombined));
  return names;
}

constexpr double kMostStartupWindowSeconds = 30 * 60;

constexpr std::string_view kAppliesToHelp =
    "amount that the recommendation replaces, in Kubernetes: limit (the request keeps its ratio to it), "
    "request (the limit keeps its ratio to it), request_only (the limit stays)";
constexpr std::string_view kAllowedHelp =
    "bounds by others than the owner, LOWEST by WHOM..HIGHEST by WHOM: 0.1..4 by the platform; in "
    "Kubernetes the namespace's LimitRange and the largest node for its pods";
constexpr std::string_view kRequestShareHelp =
    "request as a share of the limit, in Kubernetes: 0.8 or 80%; empty: the ratio that the owner has set";

#define TAUT_FIELD(name) +[](JobPolicy& p) -> JobField { return &p.name; }
using enum SettingKind;
constexpr JobFieldRow kJobFieldRows[] = {
    {"mode",
     "how far Tautline acts: off (measure only), observe (recommend and show), canary (try a new limit on "
     "some tasks first), auto (apply)",
     kChoice, ModeNames, TAUT_FIELD(mode)},
    {kRecommenderKey, "recommender of both limits", kChoice, RecommenderNames, TAUT_FIELD(recommender)},
    {"cpu.recommender",
     "recommender of the CPU limit; empty: as `recommender`, which also replaces it where it is set at a "
     "later place (default, rule, annotation, person)",
     kChoice, NamesForOneResource, TAUT_FIELD(cpu_recommender)},
    {"memory.recommender", "recommender of the memory limit, likewise", kChoice, NamesForOneResource,
     TAUT_FIELD(memory_recommender)},
    {"memory.signal",
     "input of the memory recommender: usage, or probe (the need that agents have probed, and usage in "
     "windows without a known need)",
     kChoice, NamesOf<kMemorySignalNames>, TAUT_FIELD(memory_signal)},
    {"external",
     "true: answers of external_recommender.address precede the job's recommender and replicas.policy, "
     "which apply while there is no answer",
     kBoolean, nullptr, TAUT_FIELD(external)},
    {"class",
     "latency sensitivity, for the CPU limit: batch (none), serving (high), serving_tolerant (some); "
     "moving_window: CPU for the average, the 95th or the 90th percentile; work_function, analogs and "
     "ensemble: an overrun costs 1/4, 1 or 1/2",
     kChoice, NamesOf<kJobClassNames>, TAUT_FIELD(job_class)},
    {"oom_tolerance",
     "tolerance of OOM kills, for the memory limit: minimal, low, intermediate, or by_size; moving_window: "
     "memory for the peak, the 98th percentile, the 60th or half the peak, or one of the first two by the "
     "number of tasks; analogs: OOM-days on .3 %, 3 % or 13 % of this job's days, or the fleet's target; "
     "ensemble and work_function: usage above the limit costs 10, 1, 1/10 or 1 times its price",
     kChoice, NamesOf<kOomToleranceNames>, TAUT_FIELD(oom_tolerance)},
    {"risk",
     "share of days on which this job may exceed its limits, for the recommender analogs: 0.01 or 1%; empty: "
     "the fleet's target, shared over the jobs",
     kNumber, nullptr, TAUT_FIELD(risk), 1e-4, 0.5},
    {"throttled",
     "share of this job's CPU work that may be throttled, for the recommenders work_function and combined: "
     "0.001 or 0.1%; empty: the fleet's target, shared over the jobs",
     kNumber, nullptr, TAUT_FIELD(throttled), 1e-6, 0.5},
    {"cpu.lower", "lowest CPU limit per task, cores; empty: none", kNumber, nullptr,
     TAUT_FIELD(bounds_by[kCpuIndex].lower), 0, 1e6},
    {"cpu.upper", "highest CPU limit per task, cores; empty: none", kNumber, nullptr,
     TAUT_FIELD(bounds_by[kCpuIndex].upper), 0.001, 1e6},
    {"memory.lower", "lowest memory limit per task; empty: none", kBytes, nullptr,
     TAUT_FIELD(bounds_by[kMemoryIndex].lower), 0, 1024 * kTiB},
    {"memory.upper", "highest memory limit per task; empty: none", kBytes, nullptr,
     TAUT_FIELD(bounds_by[kMemoryIndex].upper), kMiB, 1024 * kTiB},
    {"cpu.allowed", kAllowedHelp, kText, nullptr, TAUT_FIELD(allowed_by[kCpuIndex])},
    {"memory.allowed", kAllowedHelp, kText, nullptr, TAUT_FIELD(allowed_by[kMemoryIndex])},
    {"cpu.applies_to", kAppliesToHelp, kChoice, NamesOf<kAppliesToNames>,
     TAUT_FIELD(allocation_by[kCpuIndex].applies_to)},
    {"cpu.request_share", kRequestShareHelp, kNumber, nullptr,
     TAUT_FIELD(allocation_by[kCpuIndex].request_share), 0.01, 1},
    {"memory.applies_to", kAppliesToHelp, kChoice, NamesOf<kAppliesToNames>,
     TAUT_FIELD(allocation_by[kMemoryIndex].applies_to)},
    {"memory.request_share", kRequestShareHelp, kNumber, nullptr,
     TAUT_FIELD(allocation_by[kMemoryIndex].request_share), 0.01, 1},
    {"min_change", "minimum change of a limit, as a share of it; smaller changes wait: 0.05 or 5%", kNumber,
     nullptr, TAUT_FIELD(min_change), 0, 1},
    {"change_period", "minimum time between two changes of a limit; a sixth of it for a raise", kDuration,
     nullptr, TAUT_FIELD(change_period_s), 0, 365 * kDay},
    {"version",
     "version of the program that the job runs, as NAME since TIME: web:1.3 since 2026-11-25T12:00; in "
     "Kubernetes its image",
     kText, nullptr, TAUT_FIELD(version)},
    {"watch_version",
     "time after the start of a new version in which no limit is lowered and raises do not wait for "
     "change_period; a running trial ends; 0s: off",
     kDuration, nullptr, TAUT_FIELD(watch_version_s), 0, 365 * kDay},
    {"maintenance",
     "times in which limits may change, UTC: Mon-Fri 22:00-06:00; Sun 00:00-24:00. Empty: at any time", kText,
     nullptr, TAUT_FIELD(maintenance)},
    {"startup_grace",
     "time after a task's start in which no limit or request is lowered; empty: 1m for class batch, else 5m",
     kDuration, nullptr, TAUT_FIELD(startup_grace_s), 0, kDay},
    {"cpu.startup_window",
     "time after a task's start whose CPU usage the recommender ignores; in Kubernetes the task has a "
     "limit of its own in this time, by the usage of the last starts; 0s: off",
     kDuration, nullptr, TAUT_FIELD(startup_window_s), 0, kMostStartupWindowSeconds},
    {"cpu.startup_factor",
     "CPU limit in cpu.startup_window before the first observed start, as a multiple of the limit in "
     "force; none: the limit in force",
     kNumber, nullptr, TAUT_FIELD(startup_factor), 1, 10},
    {"cpu.throttle_target",
     "share of throttled periods at which the agent keeps each task by small steps of the CPU limit around the "
     "recommended limit: 0.02 or 2%; empty: off, the limit stays at the recommended limit",
     kNumber, nullptr, TAUT_FIELD(throttle_control.target), 0.001, 0.5},
    {"cpu.throttle_low", "lowest limit by cpu.throttle_target, as a multiple of the recommended limit",
     kNumber, nullptr, TAUT_FIELD(throttle_control.low), 0.1, 1},
    {"cpu.throttle_high", "highest limit by cpu.throttle_target, as a multiple of the recommended limit",
     kNumber, nullptr, TAUT_FIELD(throttle_control.high), 1, 10},
    {"in_template",
     "true: limits are set in the workload's pod template, which rolls out, instead of its pods, in "
     "Kubernetes; not in mode canary",
     kBoolean, nullptr, TAUT_FIELD(in_template)},
    {"canary.share", "share of the tasks on which a new limit is tried: at least one, never all", kNumber,
     nullptr, TAUT_FIELD(canary.share), 0.001, 0.999},
    {"canary.duration", "minimum duration of a trial", kDuration, nullptr, TAUT_FIELD(canary.hours), 0,
     365 * kDay, kHour},
    {"canary.min_task_windows", "minimum five-minute windows of its tasks in a trial", kNumber, nullptr,
     TAUT_FIELD(canary.min_task_windows), 1, 1e9},
    {"canary.max_extra_over",
     "share of windows by which its tasks may be at their limit more often than the rest", kNumber, nullptr,
     TAUT_FIELD(canary.max_extra_over), 0, 1},
    {"migrate", "true: migration may move the job from observe to auto", kBoolean, nullptr,
     TAUT_FIELD(migrate)},
    {"replicas.policy",
     "policy that sets the number of the job's tasks from its load; none: the owner sets it", kChoice,
     ReplicaPolicyNames, TAUT_FIELD(replica_policy)},
    {"replicas.task_capacity",
     "load that one task processes at 100 %, for a load from series of kind load; 0: the load is the CPU "
     "usage, and a task's capacity its CPU limit",
     kNumber, nullptr, TAUT_FIELD(replicas.task_capacity), 0, 1e12},
    {"replicas.startup",
     "time from the start of a task until it processes load: forecast looks this far ahead, in whole windows "
     "of 5 minutes",
     kDuration, nullptr, TAUT_FIELD(replicas.startup_s), 0, kDay},
    {"replicas.max_utilization",
     "utilisation of the running tasks above which the job is overloaded; forecast and static keep below it",
     kNumber, nullptr, TAUT_FIELD(replicas.max_utilization), 0.01, 1},
    {"replicas.size",
     "CPU limit of a job that is scaled by CPU: cheapest (the number and size that cost least together) or "
     "owner",
     kChoice, NamesOf<kSizeByNames>, TAUT_FIELD(replicas.sizing.by)},
    {"replicas.size.min_cpu", "smallest CPU limit of size cheapest, in cores", kNumber, nullptr,
     TAUT_FIELD(replicas.sizing.min_cores), 0.05, 1e6, 1, "replicas.size.min_cores"},
    {"replicas.size.max_cpu",
     "largest CPU limit of size cheapest, in cores, unless the owner's is larger: a node's capacity", kNumber,
     nullptr, TAUT_FIELD(replicas.sizing.max_cores), 0.05, 1e6, 1, "replicas.size.max_cores"},
    {"replicas.size.max_memory", "largest memory limit of size cheapest: a node's capacity", kBytes, nullptr,
     TAUT_FIELD(replicas.sizing.max_bytes), kMiB, 1024 * kTiB},
    {"replicas.size.gib_price", "cores that cost as much as a GiB of memory", kNumber, nullptr,
     TAUT_FIELD(replicas.sizing.gib_price), 0, 1000},
    {"replicas.size.min_saving", "minimum saving by a change of size, as a share of the cost: 0.1 or 10%",
     kNumber, nullptr, TAUT_FIELD(replicas.sizing.min_saving), 0, 1},
    {"replicas.size.spare",
     "tasks that may be lost at the peak of the week without overload of the others; 0: none", kNumber,
     nullptr, TAUT_FIELD(replicas.sizing.spare), 0, 1000},
    {"replicas.change_period", kWait, kDuration, nullptr, TAUT_FIELD(replica_change_period_s), 0, 365 * kDay},
    {"replicas.settle", kSettleHelp, kDuration, nullptr, TAUT_FIELD(replica_settle_s), 0, kDay},
};
#undef TAUT_FIELD

}  // namespace

std::span<const JobFieldRow> JobFieldRows() { return kJobFieldRows; }

}  // namespace taut::brain
