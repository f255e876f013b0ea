#include "tools/cli/replicas_input.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "brain/replicas/policies.h"
#include "brain/rollout/job_policy.h"
#include "brain/rollout/maintenance.h"
#include "brain/rollout/rules.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/signal_name.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/changed_defaults.h"
#include "server/config/replica_file.h"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"
#include "tools/sim/usage_loads.h"
#include "tools/trace/load_reader.h"

namespace taut::tools {
namespace {

constexpr std::string_view kClairvoyant = "clairvoyant";

absl::StatusOr<int64_t> Duration(std::string_view option, const std::string& text, int64_t least) {
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(seconds.status())));
  if (*seconds >= least && *seconds <= 3650 * kDaySeconds) return *seconds;
  return absl::InvalidArgumentError(
      StrCat("invalid ", option, " \"", text, "\": expected ", least, "s to 3650d"));
}

// Returns the capacity of a task with which the job's mean load needs `mean_tasks` tasks; 0 if there is no load.
double CapacityFor(const LoadSeries& series, double mean_tasks) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < series.load.size(); ++i) {
    sum += series.At(i).value_or(0);
    n += series.At(i).has_value() ? 1 : 0;
  }
  return n > 0 ? sum / static_cast<double>(n) / mean_tasks : 0;
}

// Applies the settings in a file, except settings that an option overrides.
absl::Status TakeSettingsFile(const std::string& path, ReplicasArgs& args, brain::ReplicaSettings& settings,
                              brain::JobPolicy& managed) {
  brain::JobPolicy defaults;
  defaults.replicas = settings;
  defaults.replica_settle_s = managed.replica_settle_s;
  absl::StatusOr<server::ReplicaFile> file = server::ReadReplicaFile(path, defaults);
  if (!file.ok()) return absl::InvalidArgumentError(StrCat(Message(file.status())));
  settings = std::move(file->policy.replicas);
  managed.replica_change_period_s = file->policy.replica_change_period_s;
  managed.replica_settle_s = file->policy.replica_settle_s;
  if (args.policies.empty() && !file->policy.replica_policy.empty())
    args.policies.emplace_back(file->policy.replica_policy);
  if (settings.task_capacity == 0) return absl::OkStatus();
  if (args.usage) {
    return absl::InvalidArgumentError(
        StrCat(path, ": replicas.task_capacity is of a load series; with --usage the load is CPU"));
  }
  if (!args.mean_tasks.has_value() && !args.capacity.has_value()) args.capacity = settings.task_capacity;
  return absl::OkStatus();
}

// Parses the options about the gate between recommended and ordered numbers of tasks. On entry, `managed` contains
// the settings of the file.
absl::Status TakeMode(const EngineArgs& engine, brain::JobPolicy managed, ReplicaReplayOptions& o) {
  constexpr std::string_view kKeys[] = {"replicas.change_period", "replicas.settle", "maintenance"};
  if (engine.mode == "recommend") {
    if (engine.policy.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("--policy: has no effect with --mode recommend");
  }
  if (engine.mode != "auto" && engine.mode != "canary") {
    return absl::InvalidArgumentError(
        StrCat("--mode: \"", engine.mode, "\": expected recommend, auto or canary with --replicas"));
  }
  if (absl::Status s = brain::SetJobSetting("mode", engine.mode, managed); !s.ok()) return s;
  for (const std::string& assignment : engine.policy) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      return absl::InvalidArgumentError(StrCat("--policy: expected key=value, not \"", assignment, "\""));
    const std::string key = assignment.substr(0, equals);
    if (std::ranges::find(kKeys, key) == std::end(kKeys)) {
      return absl::InvalidArgumentError(
          fmt::format("--policy: \"{}\": expected one of {} with --replicas", key, Join(kKeys, ", ")));
    }
    const absl::Status s = brain::SetJobSetting(key, assignment.substr(equals + 1), managed);
    if (!s.ok()) return absl::InvalidArgumentError(StrCat("--policy: ", Message(s)));
  }
  o.managed = std::move(managed);
  return absl::OkStatus();
}

bool IsReplicaKey(std::string_view name) {
  return FindSetting(brain::ReplicaSettingsTable(), name) != nullptr;
}

// Removes the prefix "replicas." from a key of tautd's job settings. Returns any other key unchanged.
std::string_view ReplicaKeyOf(std::string_view key) {
  constexpr std::string_view kReplicas = "replicas.";
  const bool longer =
      !IsReplicaKey(key) && key.starts_with(kReplicas) && IsReplicaKey(key.substr(kReplicas.size()));
  return longer ? key.substr(kReplicas.size()) : key;
}

absl::Status SetOne(const std::string& assignment, brain::ReplicaSettings& settings) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    return absl::InvalidArgumentError(StrCat("--set: expected key=value, not \"", assignment, "\""));
  const std::string_view key = ReplicaKeyOf(std::string_view(assignment).substr(0, equals));
  SettingNotices notices;
  const absl::Status s = brain::SetReplicaSetting(key, assignment.substr(equals + 1), settings, &notices);
  for (const std::string& notice : notices) Warn(notice);
  return s.ok() ? s : absl::InvalidArgumentError(StrCat("--set: ", Message(s)));
}

absl::Status RestoreReplicaDefaults(std::string_view version, brain::ReplicaSettings& settings) {
  const auto set = [&settings](std::string_view job_key, std::string_view value) {
    const std::string_view key = ReplicaKeyOf(job_key);
    return IsReplicaKey(key) ? brain::SetReplicaSetting(key, value, settings) : absl::OkStatus();
  };
  const absl::Status s = server::RestoreDefaults(version, server::kScopeJobs, server::ChangedDefaults(), set);
  return s.ok() ? s : absl::InvalidArgumentError(StrCat("--compatibility: ", Message(s)));
}

// Returns lines about the gate; "" if there is no gate.
std::string ModeText(const std::optional<brain::JobPolicy>& managed) {
  if (!managed.has_value()) return "";
  std::string waits;
  if (managed->replica_change_period_s > 0) {
    waits = StrCat(FormatDuration(std::llround(managed->replica_change_period_s)), " after a change");
  }
  if (managed->replica_settle_s > 0) {
    StrAppend(&waits, waits.empty() ? "" : ", ", FormatDuration(std::llround(managed->replica_settle_s)),
              " and longer after rises that take falls back");
  }
  if (!managed->maintenance.empty())
    StrAppend(&waits, waits.empty() ? "" : " and ", "for maintenance, ",
              brain::MaintenanceText(managed->maintenance));
  return Wrapped(StrCat("orders as by tautd in mode ", Name(managed->mode), ": a lower number waits ",
                        waits.empty() ? "for nothing" : waits, "; young jobs by what the others' loads did"),
                 "");
}

std::string DescribeLoads(const ReadReport& r, const std::vector<LoadSeries>& loads) {
  std::string out = fmt::format("read {} of {} ({}): {}\n", Counted(r.rows, "row"), Counted(r.files, "file"),
                                FormatBytes(static_cast<double>(r.bytes)), Counted(loads.size(), "job"));
  for (const auto& [cause, skipped] : r.skipped) {
    StrAppend(&out, "  skipped ", Counted(skipped.count, "row"), ": ", cause, "\n");
    for (const std::string& example : skipped.examples) StrAppend(&out, "    ", Printable(example), "\n");
  }
  for (const std::string& w : r.warnings) StrAppend(&out, "  warning: ", Printable(w), "\n");
  return out;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ToReplicaPolicies(const std::vector<std::string>& asked) {
  std::vector<std::string> out;
  for (const brain::ReplicaPolicyInfo& p : brain::ReplicaPolicies()) {
    if (asked.empty()) out.emplace_back(p.name);
  }
  if (asked.empty()) out.emplace_back(kClairvoyant);
  for (const std::string& name : asked) {
    if (name != kClairvoyant && !brain::FindReplicaPolicy(name).ok()) {
      const absl::Status unknown =
          UnknownName("replica policy", name, RowNames(brain::ReplicaPolicies(), {kClairvoyant}));
      return absl::InvalidArgumentError(StrCat("--policies: ", Message(unknown)));
    }
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

absl::StatusOr<ReplicaReplayOptions> ToReplicaOptions(const EngineArgs& engine, ReplicasArgs& args) {
  ReplicaReplayOptions o;
  // With --usage, a step is a window of 5 minutes as in tautd, so tautd's settings are the defaults.
  if (args.usage) o.settings = brain::LiveReplicaSettings();
  const std::tuple<std::string_view, double, double, double> numbers[] = {
      {"--target-utilization", args.max_utilization.value_or(1), 0.01, 1},
      {"--startup-sigma", args.startup_sigma, 0, 3},
      {"--mean-tasks", args.mean_tasks.value_or(1), 0.01, 1e6}};
  for (const auto& [name, value, low, high] : numbers) {
    if (!(value >= low && value <= high)) {
      return absl::InvalidArgumentError(
          StrCat("invalid ", name, " ", value, ": expected ", low, " to ", high));
    }
  }
  if (args.capacity.has_value() && !(*args.capacity > 0 && *args.capacity <= 1e30)) {
    return absl::InvalidArgumentError(
        StrCat("invalid --capacity ", *args.capacity, ": expected more than 0, at most 1e+30"));
  }
  const absl::StatusOr<int64_t> warmup = Duration("--warmup", engine.warmup, 0);
  if (!warmup.ok()) return warmup.status();
  const absl::StatusOr<int64_t> every = Duration("--decide-every", args.decide_every, 1);
  if (!every.ok()) return every.status();
  o.warmup_s = *warmup;
  o.decide_every_s = args.usage ? std::max(*every, kWindowSeconds) : *every;
  o.startup_sigma = args.startup_sigma;
  o.model = args.overload == "queue" ? OverloadModel::kQueue : OverloadModel::kShed;
  o.seed = args.seed;
  for (const std::string& name : args.signals) {
    if (std::ranges::find(kOwnSignals, name) != kOwnSignals.end()) continue;
    if (absl::Status s = CheckSignalName(name); !s.ok())
      return absl::InvalidArgumentError(StrCat("--signals: ", Message(s)));
  }
  if (absl::Status s = RestoreReplicaDefaults(engine.compatibility, o.settings); !s.ok()) return s;
  o.settings.signals = args.signals;
  brain::JobPolicy managed;
  managed.replica_settle_s = 0;  // tautd's default is 5 min, which --policy replicas.settle=5m sets
  if (!engine.settings_file.empty()) {
    if (absl::Status s = TakeSettingsFile(engine.settings_file, args, o.settings, managed); !s.ok()) return s;
  }
  if (absl::Status s = TakeMode(engine, std::move(managed), o); !s.ok()) return s;
  if (args.startup.has_value()) {
    const absl::StatusOr<int64_t> startup = Duration("--startup", *args.startup, 0);
    if (!startup.ok()) return startup.status();
    o.settings.startup_s = static_cast<double>(*startup);
  }
  o.settings.max_utilization = args.max_utilization.value_or(o.settings.max_utilization);
  for (const std::string& assignment : engine.set) {
    if (absl::Status s = SetOne(assignment, o.settings); !s.ok()) return s;
  }
  if (absl::Status s = brain::CheckReplicaSettings(o.settings); !s.ok()) return s;
  return o;
}

absl::StatusOr<double> TaskCapacityOf(const ReplicaInput& input, size_t at, const ReplicasArgs& args) {
  const LoadSeries& series = input.loads[at];
  if (args.capacity.has_value()) return *args.capacity;
  if (args.usage) {
    if (input.limits[at] > 0) return input.limits[at];
    return absl::NotFoundError(StrCat(
        "job \"", series.job, "\" is not replayed: no CPU limit of its tasks is known; give --capacity"));
  }
  const double capacity = CapacityFor(series, args.mean_tasks.value_or(kMeanTasks));
  if (capacity > 0) return capacity;
  return absl::NotFoundError(StrCat("job \"", series.job, "\" is not replayed: its load is always 0"));
}

std::string ReplicaConditions(const ReplicaReplayOptions& o, const ReplicasArgs& args) {
  return fmt::format(
             "{}; a task is ready {} after its start{};\n"
             "overloaded: above {:.4g} % of the ready tasks; decisions every {}; the first {:.3g} days are "
             "not "
             "measured;\nload above the capacity {}\n",
             args.capacity.has_value() ? fmt::format("one task processes {:.6g}", *args.capacity)
             : args.usage              ? std::string("one task processes its CPU limit")
                                       : fmt::format("load scaled to a mean of {:.4g} busy tasks",
                                                     args.mean_tasks.value_or(kMeanTasks)),
             FormatDuration(static_cast<int64_t>(o.settings.startup_s)),
             o.startup_sigma > 0 ? fmt::format(" (log-normal, sigma {:.3g})", o.startup_sigma) : "",
             100 * o.settings.max_utilization, FormatDuration(o.decide_every_s),
             static_cast<double>(o.warmup_s) / kDaySeconds,
             o.model == OverloadModel::kShed ? "is lost" : "waits") +
         ModeText(o.managed);
}

std::optional<FleetMoves> FleetMovesOf(const ReplicaInput& input, const ReplicaReplayOptions& options) {
  if (!options.managed.has_value()) return std::nullopt;
  return FleetMoves(input.loads, options.decide_every_s, options.settings.startup_s);
}

absl::StatusOr<ReplicaInput> ReadReplicaInput(const TraceArgs& args_of_trace, const ReplicasArgs& args,
                                              bool quiet) {
  ReplicaInput input;
  if (!args.usage) {
    ReadReport report;
    absl::StatusOr<std::vector<LoadSeries>> loads =
        ReadLoads({args_of_trace.paths, args_of_trace.strict, args.job_label, args.signals}, report);
    if (!loads.ok()) {
      if (report.rows > 0) Print(DescribeLoads(report, {}));
      return loads.status();
    }
    input.loads = *std::move(loads);
    input.description = DescribeLoads(report, input.loads);
    return input;
  }
  const absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args_of_trace, quiet);
  if (!trace.ok()) return trace.status();
  absl::StatusOr<UsageLoads> usage = ReadUsageLoads(**trace);
  if (!usage.ok()) return usage.status();
  input.loads = std::move(usage->loads);
  input.limits = std::move(usage->limits);
  input.description = DescribeInput(**trace);
  input.interrupted = (*trace)->interrupted;
  return input;
}

}  // namespace taut::tools
