// The table of what can be set for a job: one row a key, and how each kind of value is read and written.
#include <cmath>
#include <string>
#include <variant>

#include "brain/replicas/policies.h"
#include "brain/rollout/maintenance.h"
#include "brain/rollout/replica_gate.h"
#include "brain/rollout/rules.h"
#include "common/base/byte_units.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr std::string_view kKindNames[] = {"choice", "number", "bytes", "duration", "text", "boolean"};

using Field = std::variant<Mode*, Policy*, std::optional<Policy>*, JobClass*, OomTolerance*, AppliesTo*,
                           double*, std::optional<double>*, std::vector<MaintenanceWindow>*, bool*,
                           std::string_view*, SizeBy*, AllowedRange*, JobVersion*, MemorySignal*>;

struct Row {
  JobSetting setting;
  Field (*field)(JobPolicy&);
  double min = 0, max = 0;                  // of numbers, in the unit people write
  double scale = 1;                         // value in that unit = value in the struct * scale
  const ReplicaSetting* replica = nullptr;  // a setting of JobPolicy::replicas; then there is no `field`
};

std::vector<std::string_view> Choices(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

constexpr std::string_view kReplicas = "replicas.";
constexpr std::string_view kNoReplicaPolicy = "none";

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

// A choice's place in the list is its value: those of jobs come first, of them the combined last.
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
    "what the recommendation is, in Kubernetes: limit (the request keeps its ratio to it), request (the "
    "limit "
    "keeps its ratio to it), request_only (the limit stays)";
constexpr std::string_view kAllowedHelp =
    "what others than the owner allow, LOWEST by WHOM..HIGHEST by WHOM: 0.1..4 by the platform; in "
    "Kubernetes the namespace's LimitRange and the largest node that its pods may run on";
constexpr std::string_view kRequestShareHelp =
    "request as a share of the limit, in Kubernetes: 0.8 or 80%; empty: the ratio that the owner has set";

#define TAUT_FIELD(name) +[](JobPolicy& p) -> Field { return &p.name; }
std::vector<Row> OwnRows() {
  using enum SettingKind;
  return {
      {{"mode",
        "what Tautline does: off (measure only), observe (recommend and show), canary (try a new limit "
        "on some tasks first), auto (apply)",
        kChoice, ModeNames()},
       TAUT_FIELD(mode)},
      {{kRecommenderKey, "recommender of both limits", kChoice, RecommenderNames()}, TAUT_FIELD(recommender)},
      {{"cpu.recommender",
        "recommender of the CPU limit; empty: as `recommender`, which also replaces it where it is set at a "
        "later place (default, rule, annotation, person)",
        kChoice, NamesForOneResource()},
       TAUT_FIELD(cpu_recommender)},
      {{"memory.recommender", "recommender of the memory limit, likewise", kChoice, NamesForOneResource()},
       TAUT_FIELD(memory_recommender)},
      {{"memory.signal",
        "what the memory recommender learns of: usage, or probe (what tasks need as their agents have probed "
        "it, "
        "and their usage in windows in which that is not known)",
        kChoice, Choices(kMemorySignalNames)},
       TAUT_FIELD(memory_signal)},
      {{"external",
        "whether answers of external_recommender.address go before the job's recommender and "
        "replicas.policy, "
        "which hold while there is none",
        kBoolean,
        {}},
       TAUT_FIELD(external)},
      {{"class",
        "latency sensitivity, for the CPU limit: batch (none), serving (high), serving_tolerant (some); "
        "moving_window: CPU for the average, the 95th or the 90th percentile; work_function, analogs and "
        "ensemble: an overrun costs 1/4, 1 or 1/2",
        kChoice, Choices(kJobClassNames)},
       TAUT_FIELD(job_class)},
      {{"oom_tolerance",
        "tolerance of OOM kills, for the memory limit: minimal, low, intermediate, or by_size; "
        "moving_window: "
        "memory for the peak, the 98th percentile, the 60th or half the peak, or one of the first two by the "
        "number of tasks; analogs: OOM-days on .3 %, 3 % or 13 % of this job's days, or the fleet's target; "
        "ensemble and work_function: usage above the limit costs 10, 1, 1/10 or 1 times its price",
        kChoice, Choices(kOomToleranceNames)},
       TAUT_FIELD(oom_tolerance)},
      {{"risk",
        "share of days on which this job may exceed its limits, for the recommender analogs: 0.01 or 1%; "
        "empty: the fleet's target, shared over the jobs",
        kNumber,
        {}},
       TAUT_FIELD(risk),
       1e-4,
       0.5},
      {{"throttled",
        "share of this job's CPU work that may be throttled, for the recommenders work_function and "
        "combined: 0.001 or 0.1%; empty: the fleet's target, shared over the jobs",
        kNumber,
        {}},
       TAUT_FIELD(throttled),
       1e-6,
       0.5},
      {{"cpu.lower", "lowest CPU limit per task, cores; empty: none", kNumber, {}},
       TAUT_FIELD(bounds_by[kCpuIndex].lower),
       0,
       1e6},
      {{"cpu.upper", "highest CPU limit per task, cores; empty: none", kNumber, {}},
       TAUT_FIELD(bounds_by[kCpuIndex].upper),
       0.001,
       1e6},
      {{"memory.lower", "lowest memory limit per task; empty: none", kBytes, {}},
       TAUT_FIELD(bounds_by[kMemoryIndex].lower),
       0,
       1024 * kTiB},
      {{"memory.upper", "highest memory limit per task; empty: none", kBytes, {}},
       TAUT_FIELD(bounds_by[kMemoryIndex].upper),
       kMiB,
       1024 * kTiB},
      {{"cpu.allowed", kAllowedHelp, kText, {}}, TAUT_FIELD(allowed_by[kCpuIndex])},
      {{"memory.allowed", kAllowedHelp, kText, {}}, TAUT_FIELD(allowed_by[kMemoryIndex])},
      {{"cpu.applies_to", kAppliesToHelp, kChoice, Choices(kAppliesToNames)},
       TAUT_FIELD(allocation_by[kCpuIndex].applies_to)},
      {{"cpu.request_share", kRequestShareHelp, kNumber, {}},
       TAUT_FIELD(allocation_by[kCpuIndex].request_share),
       0.01,
       1},
      {{"memory.applies_to", kAppliesToHelp, kChoice, Choices(kAppliesToNames)},
       TAUT_FIELD(allocation_by[kMemoryIndex].applies_to)},
      {{"memory.request_share", kRequestShareHelp, kNumber, {}},
       TAUT_FIELD(allocation_by[kMemoryIndex].request_share),
       0.01,
       1},
      {{"min_change",
        "minimum change of a limit, as a share of it; smaller changes wait: 0.05 or 5%",
        kNumber,
        {}},
       TAUT_FIELD(min_change),
       0,
       1},
      {{"change_period",
        "minimum time between two changes of a limit; a sixth of it for a raise",
        kDuration,
        {}},
       TAUT_FIELD(change_period_s),
       0,
       365 * kDay},
      {{"version",
        "version of the program that the job runs, as NAME since TIME: web:1.3 since 2026-11-25T12:00; in "
        "Kubernetes its image",
        kText,
        {}},
       TAUT_FIELD(version)},
      {{"watch_version",
        "time after a new version began in which no limit is lowered, a trial that it came into ends, and a "
        "raise does not wait for change_period; 0s: off",
        kDuration,
        {}},
       TAUT_FIELD(watch_version_s),
       0,
       365 * kDay},
      {{"maintenance",
        "when limits may change, UTC: Mon-Fri 22:00-06:00; Sun 00:00-24:00. Empty: at any time",
        kText,
        {}},
       TAUT_FIELD(maintenance)},
      {{"startup_grace",
        "no limit or request of a task is lowered in this time after its start, as programs need more to "
        "start than to run; a raise never waits; empty: 1m for class batch, else 5m",
        kDuration,
        {}},
       TAUT_FIELD(startup_grace_s),
       0,
       kDay},
      {{"cpu.startup_window",
        "time after a task's start in which its CPU usage is kept apart: the recommender does not see it, "
        "and in "
        "Kubernetes the task gets a limit of its own for this time, by the usage of the last starts; 0s: off",
        kDuration,
        {}},
       TAUT_FIELD(startup_window_s),
       0,
       kMostStartupWindowSeconds},
      {{"cpu.startup_factor",
        "until a start was seen, the CPU limit of a task in its cpu.startup_window as a multiple of the "
        "limit in "
        "force; none: the limit in force",
        kNumber,
        {}},
       TAUT_FIELD(startup_factor),
       1,
       10},
      {{"in_template",
        "whether limits are set in the workload's pod template, which rolls out, and not on its pods, in "
        "Kubernetes; not in mode canary",
        kBoolean,
        {}},
       TAUT_FIELD(in_template)},
      {{"canary.share",
        "share of the tasks on which a new limit is tried: at least one, never all",
        kNumber,
        {}},
       TAUT_FIELD(canary.share),
       0.001,
       0.999},
      {{"canary.duration", "minimum duration of a trial", kDuration, {}},
       TAUT_FIELD(canary.hours),
       0,
       365 * kDay,
       kHour},
      {{"canary.min_task_windows", "minimum five-minute windows of its tasks in a trial", kNumber, {}},
       TAUT_FIELD(canary.min_task_windows),
       1,
       1e9},
      {{"canary.max_extra_over",
        "share of windows by which its tasks may be at their limit more often than the rest",
        kNumber,
        {}},
       TAUT_FIELD(canary.max_extra_over),
       0,
       1},
      {{"migrate", "whether the job may be moved from observe to auto by rule", kBoolean, {}},
       TAUT_FIELD(migrate)},
      {{"replicas.policy",
        "policy that sets the number of the job's tasks from its load; none: the owner sets it", kChoice,
        ReplicaPolicyNames()},
       TAUT_FIELD(replica_policy)},
      {{"replicas.task_capacity",
        "load that one task processes at 100 %: then the load is that of the job's series of kind load; 0: "
        "the "
        "load is the CPU of the tasks, and a task processes its CPU limit",
        kNumber,
        {}},
       TAUT_FIELD(replicas.task_capacity),
       0,
       1e12},
      {{"replicas.startup",
        "time from the start of a task until it processes load: forecast looks this far ahead, in whole "
        "windows "
        "of 5 minutes",
        kDuration,
        {}},
       TAUT_FIELD(replicas.startup_s),
       0,
       kDay},
      {{"replicas.max_utilization",
        "utilisation of its running tasks above which the job is overloaded: forecast and static keep below "
        "it, "
        "and the job's page counts what is above",
        kNumber,
        {}},
       TAUT_FIELD(replicas.max_utilization),
       0.01,
       1},
      {{"replicas.size",
        "who sets the CPU limit of a task whose number follows the CPU usage: cheapest (the number and size "
        "that cost least together) or owner",
        kChoice, Choices(kSizeByNames)},
       TAUT_FIELD(replicas.sizing.by)},
      {{"replicas.size.min_cores", "smallest CPU limit of such a task, cores", kNumber, {}},
       TAUT_FIELD(replicas.sizing.min_cores),
       0.05,
       1e6},
      {{"replicas.size.max_cores",
        "largest CPU limit of such a task, cores, unless the owner's is larger: what a node can hold",
        kNumber,
        {}},
       TAUT_FIELD(replicas.sizing.max_cores),
       0.05,
       1e6},
      {{"replicas.size.max_memory", "largest memory limit of such a task: what a node can hold", kBytes, {}},
       TAUT_FIELD(replicas.sizing.max_bytes),
       kMiB,
       1024 * kTiB},
      {{"replicas.size.gib_price", "cores that cost as much as a GiB of memory", kNumber, {}},
       TAUT_FIELD(replicas.sizing.gib_price),
       0,
       1000},
      {{"replicas.size.min_saving",
        "minimum saving by a change of size, as a share of the cost: 0.1 or 10%",
        kNumber,
        {}},
       TAUT_FIELD(replicas.sizing.min_saving),
       0,
       1},
      {{"replicas.size.spare",
        "tasks that may be lost at the peak of the week without overload of the others; 0: none",
        kNumber,
        {}},
       TAUT_FIELD(replicas.sizing.spare),
       0,
       1000},
      {{"replicas.change_period", kWait, kDuration, {}}, TAUT_FIELD(replica_change_period_s), 0, 365 * kDay},
      {{"replicas.settle", kSettleHelp, kDuration, {}}, TAUT_FIELD(replica_settle_s), 0, kDay},
  };
}
#undef TAUT_FIELD

SettingKind KindOf(const ReplicaSetting& setting) {
  ReplicaSettings settings;
  const ReplicaSetting::Ref ref = setting.ref(settings);
  const bool number = std::holds_alternative<double*>(ref) || std::holds_alternative<int*>(ref);
  return number ? SettingKind::kNumber : SettingKind::kText;
}

// "replicas.min", "replicas.hpa.target": each setting of the replica policies.
std::string JobKeyOf(const ReplicaSetting& setting) {
  return setting.key.starts_with(kReplicas) ? std::string(setting.key) : StrCat(kReplicas, setting.key);
}

const std::vector<Row>& Rows() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> out;
    for (const ReplicaSetting& s : ReplicaSettingsTable()) out.push_back(JobKeyOf(s));
    return out;
  }();
  static const std::vector<Row> rows = [] {
    std::vector<Row> out = OwnRows();
    for (size_t i = 0; i < keys.size(); ++i) {
      const ReplicaSetting& s = ReplicaSettingsTable()[i];
      out.push_back({.setting = {keys[i], s.help, KindOf(s), {}}, .field = nullptr, .replica = &s});
    }
    return out;
  }();
  return rows;
}

const Row* Find(std::string_view key) {
  for (const Row& row : Rows()) {
    if (row.setting.key == key) return &row;
  }
  return nullptr;
}

// What people call things before they have read the table.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"latency sensitivity", "class"},
    {"latency_sensitivity", "class"},
    {"sensitivity", "class"},
    {"policy", "recommender"},
    {"algorithm", "recommender"},
    {"maintenance_window", "maintenance"},
    {"memory.max", "memory.upper"},
    {"memory.min", "memory.lower"},
    {"cpu.max", "cpu.upper"},
    {"cpu.min", "cpu.lower"},
    {"recommender.cpu", "cpu.recommender"},
    {"recommender.memory", "memory.recommender"},
};

absl::Status UnknownKey(std::string_view key) {
  std::vector<std::string_view> names;
  for (const Row& row : Rows()) names.push_back(row.setting.key);
  for (const auto& [other, ours] : kOtherNames) names.push_back(other);
  std::string nearest = NearestName(key, names);
  for (const auto& [other, ours] : kOtherNames) {
    if (nearest == other) nearest = std::string(ours);
  }
  return absl::InvalidArgumentError(
      StrCat("unknown job setting \"", key, "\"; did you mean \"", nearest, "\"?"));
}

absl::Status Bad(const Row& row, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(row.setting.key, ": ", what));
}

std::string NumberText(const Row& row, double value) {
  const double shown = value * row.scale;
  if (row.setting.kind == SettingKind::kBytes) return BytesText(shown);
  if (row.setting.kind == SettingKind::kDuration) return DurationText(std::llround(shown));
  return StrCat(shown);
}

absl::StatusOr<double> ParsePlain(std::string_view text) {
  double factor = 1;
  if (!text.empty() && text.back() == '%') {
    factor = 0.01;
    text = StripSpace(text.substr(0, text.size() - 1));
  }
  const std::optional<double> value = ParseDouble(text);
  if (!value.has_value()) return absl::InvalidArgumentError(StrCat("\"", text, "\" is not a number"));
  return *value * factor;
}

absl::StatusOr<double> ParseNumber(const Row& row, std::string_view text) {
  absl::StatusOr<double> value = 0.0;
  if (row.setting.kind == SettingKind::kBytes) {
    value = ParseBytes(text);
  } else if (const std::optional<double> bare = ParseDouble(text);
             row.setting.kind == SettingKind::kDuration && bare.has_value()) {
    value = std::round(*bare);  // seconds: settings stored by earlier versions may have no unit
  } else if (row.setting.kind == SettingKind::kDuration) {
    const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
    if (!seconds.ok()) return Bad(row, Message(seconds.status()));
    value = static_cast<double>(*seconds);
  } else {
    value = ParsePlain(text);
  }
  if (!value.ok()) return Bad(row, Message(value.status()));
  if (!(*value >= row.min && *value <= row.max)) {
    const bool is_share = row.setting.kind == SettingKind::kNumber && row.max == 1;
    return Bad(row, StrCat(text, " is outside ", NumberText(row, row.min / row.scale), " .. ",
                           NumberText(row, row.max / row.scale),
                           is_share ? "; expected a share such as 0.05 or 5%" : ""));
  }
  return *value / row.scale;
}

Resource ResourceOf(const Row& row) {
  return row.setting.key.starts_with(Name(Resource::kCpu)) ? Resource::kCpu : Resource::kMemory;
}

struct Assign {
  const Row& row;
  std::string_view text;

  template <typename T>
  requires std::is_enum_v<T> absl::Status operator()(T* target) const {
    const auto& choices = row.setting.choices;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] == text) {
        *target = static_cast<T>(i);
        return absl::OkStatus();
      }
    }
    return Bad(row, StrCat("\"", text, "\": expected one of ", Join(choices, ", ")));
  }
  absl::Status operator()(std::optional<Policy>* target) const {
    target->reset();
    return text.empty() ? absl::OkStatus() : (*this)(&target->emplace());
  }
  absl::Status operator()(double* target) const {
    const absl::StatusOr<double> value = ParseNumber(row, text);
    if (value.ok()) *target = *value;
    return value.status();
  }
  absl::Status operator()(std::optional<double>* target) const {
    if (text.empty() || text == "none") {
      target->reset();
      return absl::OkStatus();
    }
    const absl::StatusOr<double> value = ParseNumber(row, text);
    if (value.ok()) *target = *value;
    return value.status();
  }
  absl::Status operator()(std::vector<MaintenanceWindow>* target) const {
    absl::StatusOr<std::vector<MaintenanceWindow>> windows = ParseMaintenance(text);
    if (!windows.ok()) return Bad(row, Message(windows.status()));
    *target = *std::move(windows);
    return absl::OkStatus();
  }
  // A name of the choices, which outlives every policy; the first is none.
  absl::Status operator()(std::string_view* target) const {
    for (const std::string_view choice : row.setting.choices) {
      if (choice != text) continue;
      *target = choice == kNoReplicaPolicy ? std::string_view() : choice;
      return absl::OkStatus();
    }
    return Bad(row, StrCat("\"", text, "\": expected one of ", Join(row.setting.choices, ", ")));
  }
  absl::Status operator()(AllowedRange* target) const {
    absl::StatusOr<AllowedRange> range = ParseAllowedRange(ResourceOf(row), text);
    if (!range.ok()) return Bad(row, Message(range.status()));
    *target = *std::move(range);
    return absl::OkStatus();
  }
  absl::Status operator()(JobVersion* target) const {
    absl::StatusOr<JobVersion> version = ParseJobVersion(text);
    if (!version.ok()) return Bad(row, Message(version.status()));
    *target = *std::move(version);
    return absl::OkStatus();
  }
  absl::Status operator()(bool* target) const {
    const bool yes = text == "true" || text == "yes" || text == "on";
    if (!yes && text != "false" && text != "no" && text != "off") {
      return Bad(row, StrCat("\"", text, "\": expected true or false"));
    }
    *target = yes;
    return absl::OkStatus();
  }
};

struct Show {
  const Row& row;

  template <typename T>
  requires std::is_enum_v<T> std::string operator()(const T* value) const {
    return std::string(row.setting.choices[static_cast<size_t>(*value)]);
  }
  std::string operator()(const std::optional<Policy>* value) const {
    return value->has_value() ? (*this)(&**value) : "";  // where it is not set see GetJobSetting
  }
  std::string operator()(const double* value) const { return NumberText(row, *value); }
  std::string operator()(const std::optional<double>* value) const {
    return value->has_value() ? NumberText(row, **value) : "";
  }
  std::string operator()(const std::vector<MaintenanceWindow>* value) const {
    return MaintenanceText(*value);
  }
  std::string operator()(const std::string_view* value) const {
    return std::string(value->empty() ? kNoReplicaPolicy : *value);
  }
  std::string operator()(const AllowedRange* value) const {
    return AllowedRangeText(ResourceOf(row), *value);
  }
  std::string operator()(const JobVersion* value) const { return JobVersionText(*value); }
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
};

}  // namespace

std::string_view Name(SettingKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::span<const JobSetting> JobSettingsTable() {
  static const std::vector<JobSetting> table = [] {
    std::vector<JobSetting> out;
    for (const Row& row : Rows()) out.push_back(row.setting);
    return out;
  }();
  return table;
}

absl::Status SetJobSetting(std::string_view key, std::string_view value, JobPolicy& policy) {
  const Row* row = Find(key);
  if (row == nullptr) return UnknownKey(key);
  if (row->replica != nullptr) {
    const absl::Status s = SetReplicaSetting(row->replica->key, StripSpace(value), policy.replicas);
    return s.ok() ? s : Bad(*row, Message(s));
  }
  return std::visit(Assign{*row, StripSpace(value)}, row->field(policy));
}

std::string GetJobSetting(std::string_view key, const JobPolicy& policy) {
  const Row* row = Find(key);
  if (row == nullptr) return "";
  if (row->replica != nullptr) return GetReplicaSetting(*row->replica, policy.replicas);
  JobPolicy copy = policy;
  const Field field = row->field(copy);
  if (std::holds_alternative<std::optional<Policy>*>(field))
    return std::string(Name(policy.recommenders().of(ResourceOf(*row))));
  return std::visit(Show{*row}, field);
}

absl::Status CheckJobPolicy(const JobPolicy& policy) {
  for (const Resource r : kResources) {
    const BoundSettings& b = policy.bounds(r);
    if (b.lower.has_value() && b.upper.has_value() && *b.lower > *b.upper) {
      return absl::InvalidArgumentError(
          StrCat(Name(r), ".lower ", GetJobSetting(StrCat(Name(r), ".lower"), policy), " is above ", Name(r),
                 ".upper ", GetJobSetting(StrCat(Name(r), ".upper"), policy)));
    }
  }
  for (const Resource r : kResources) {
    const Allocation& a = policy.allocation(r);
    if (a.applies_to == AppliesTo::kRequestOnly && a.request_share.has_value()) {
      return absl::InvalidArgumentError(
          StrCat(Name(r), ".request_share does nothing where ", Name(r),
                 ".applies_to is request_only: the limit stays; leave it empty"));
    }
  }
  if (GoesToZeroForGood(policy)) {
    return absl::InvalidArgumentError(
        "replicas.min 0 needs replicas.task_capacity and a load series: the CPU of a job that runs no task "
        "is 0, "
        "and it would never start again");
  }
  return CheckReplicaSettings(policy.replicas);
}

}  // namespace taut::brain
