// taut replay --replicas.
#include "cli/replicas_command.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "cli/cli.h"
#include "cli/decisions.h"
#include "cli/input.h"
#include "cli/json_text.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "fmt/format.h"
#include "model/units.h"
#include "replicas/policies.h"
#include "rollout/job_policy.h"
#include "sim/replica_replay.h"
#include "sim/usage_loads.h"
#include "trace/load_reader.h"

namespace taut {
namespace {

constexpr std::string_view kClairvoyant = "clairvoyant";

int Fail(const absl::Status& status) {
  PrintError(Message(status));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

absl::StatusOr<std::vector<std::string>> ToPolicies(const std::vector<std::string>& asked) {
  std::vector<std::string> out;
  for (const ReplicaPolicyInfo& p : ReplicaPolicies()) {
    if (asked.empty()) out.emplace_back(p.name);
  }
  if (asked.empty()) out.emplace_back(kClairvoyant);
  for (const std::string& name : asked) {
    if (name != kClairvoyant) {
      const auto found = FindReplicaPolicy(name);
      if (!found.ok())
        return absl::InvalidArgumentError(
            StrCat("--policies: ", Message(found.status()), ", ", kClairvoyant));
    }
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

absl::StatusOr<int64_t> Duration(std::string_view option, const std::string& text, int64_t least) {
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(seconds.status())));
  if (*seconds >= least && *seconds <= 3650 * kDaySeconds) return *seconds;
  return absl::InvalidArgumentError(
      StrCat("invalid ", option, " \"", text, "\": expected ", least, "s to 3650d"));
}

absl::StatusOr<ReplicaReplayOptions> ToOptions(const ReplayArgs& replay, const ReplicasArgs& args) {
  ReplicaReplayOptions o;
  if (args.usage) o.settings = LiveReplicaSettings();  // windows of 5 minutes, as in tautd
  const std::tuple<std::string_view, double, double, double> numbers[] = {
      {"--target-utilization", args.max_utilization, 0.01, 1},
      {"--startup-sigma", args.startup_sigma, 0, 3},
      {"--mean-tasks", args.mean_tasks, 0.01, 1e6},
      {"--capacity", args.capacity, 0, 1e30}};
  for (const auto& [name, value, low, high] : numbers) {
    if (!(value >= low && value <= high)) {
      return absl::InvalidArgumentError(
          StrCat("invalid ", name, " ", value, ": expected ", low, " to ", high));
    }
  }
  const absl::StatusOr<int64_t> warmup = Duration("--warmup", replay.engine.warmup, 0);
  if (!warmup.ok()) return warmup.status();
  const absl::StatusOr<int64_t> startup = Duration("--startup", args.startup, 0);
  if (!startup.ok()) return startup.status();
  const absl::StatusOr<int64_t> every = Duration("--decide-every", args.decide_every, 1);
  if (!every.ok()) return every.status();
  o.warmup_s = *warmup;
  o.decide_every_s = args.usage ? std::max(*every, kWindowSeconds) : *every;
  o.settings.startup_s = static_cast<double>(*startup);
  o.settings.max_utilization = args.max_utilization;
  o.startup_sigma = args.startup_sigma;
  o.model = args.overload == "queue" ? OverloadModel::kQueue : OverloadModel::kShed;
  o.seed = args.seed;
  for (const std::string& assignment : replay.engine.set) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      return absl::InvalidArgumentError(StrCat("--set: expected key=value, not \"", assignment, "\""));
    const absl::Status s =
        SetReplicaSetting(assignment.substr(0, equals), assignment.substr(equals + 1), o.settings);
    if (!s.ok()) return absl::InvalidArgumentError(StrCat("--set: ", Message(s)));
  }
  if (absl::Status s = CheckReplicaSettings(o.settings); !s.ok()) return s;
  return o;
}

// The capacity of a task at which the job's mean load keeps `mean_tasks` busy; 0 where there is no load.
double CapacityFor(const LoadSeries& series, double mean_tasks) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < series.load.size(); ++i) {
    sum += series.At(i).value_or(0);
    n += series.At(i).has_value() ? 1 : 0;
  }
  return n > 0 ? sum / static_cast<double>(n) / mean_tasks : 0;
}

struct PolicyResult {
  std::string policy;
  ReplicaScore total;
  std::vector<ReplicaScore> jobs;
};

struct Replayed {
  std::vector<const LoadSeries*> jobs;  // that were replayed
  std::vector<double> capacities;
  std::vector<PolicyResult> results;
  std::vector<std::string> notes;
  bool partial = false;
};

// One row a step, numbers printed so that reading gives the same double.
constexpr std::string_view kDecisionsHeader =
    "time_s,job,policy,load,capacity,ready,starting,decided,reason\n";

void AppendStep(const ReplicaStep& step, std::string_view job_and_policy, double capacity, std::string& out) {
  std::string load, why;
  if (step.load.has_value()) load = fmt::format("{}", *step.load);
  if (step.decider != nullptr) {
    Reason reason;
    step.decider->Explain(reason);
    why = CsvField(reason.sentence);
  }
  fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", step.time_s, job_and_policy, load,
                 capacity, step.ready, step.starting, step.decided, why);
}

// What is replayed, and what was read, for people.
struct Input {
  std::vector<LoadSeries> loads;
  std::vector<double> limits;  // of usage: of each job's tasks, cores; 0: not known
  std::string description;
  bool interrupted = false;  // reading was
};

// The capacity of a task of the job at this place; or why there is none.
absl::StatusOr<double> CapacityOf(const Input& input, size_t at, const ReplicasArgs& args) {
  const LoadSeries& series = input.loads[at];
  if (args.capacity > 0) return args.capacity;
  if (args.usage) {
    if (input.limits[at] > 0) return input.limits[at];
    return absl::NotFoundError(StrCat(
        "job \"", series.job, "\" is not replayed: no CPU limit of its tasks is known; give --capacity"));
  }
  const double capacity = CapacityFor(series, args.mean_tasks);
  if (capacity > 0) return capacity;
  return absl::NotFoundError(StrCat("job \"", series.job, "\" is not replayed: its load is always 0"));
}

// `decisions` may be null.
absl::StatusOr<Replayed> ReplayAll(const Input& input, const ReplicasArgs& args, ReplicaReplayOptions options,
                                   const std::vector<std::string>& policies, OutputFile* decisions,
                                   bool quiet) {
  const std::vector<LoadSeries>& loads = input.loads;
  ProgressLine progress(quiet);
  Replayed out;
  out.partial = input.interrupted;
  for (const std::string& name : policies) out.results.push_back({name, {}, {}});
  for (size_t at = 0; at < loads.size(); ++at) {
    const LoadSeries& series = loads[at];
    if (Interrupted()) {
      out.partial = true;
      break;
    }
    const absl::StatusOr<double> capacity = CapacityOf(input, at, args);
    if (!capacity.ok()) {
      out.notes.push_back(StrCat(Message(capacity.status())));
      continue;
    }
    options.capacity = *capacity;
    std::vector<ReplicaScore> scores;
    std::string rows;  // of this job, written once every policy has replayed it
    absl::Status failed;
    for (size_t i = 0; i < policies.size() && failed.ok(); ++i) {
      progress.Update(StrCat("replaying ", series.job),
                      static_cast<double>(out.jobs.size()) / static_cast<double>(loads.size()));
      const std::string names = StrCat(CsvField(series.job), ",", policies[i]);
      OnReplicaStep on_step;
      if (decisions != nullptr)
        on_step = [&](const ReplicaStep& step) { AppendStep(step, names, options.capacity, rows); };
      absl::StatusOr<ReplicaScore> score = ReplayByName(series, options, policies[i], on_step);
      failed = score.status();
      if (score.ok()) scores.push_back(*score);
    }
    if (!failed.ok()) {
      out.notes.push_back(StrCat(Message(failed)));
      continue;
    }
    for (size_t i = 0; i < policies.size(); ++i) {
      out.results[i].total.Add(scores[i]);
      out.results[i].jobs.push_back(scores[i]);
    }
    if (decisions != nullptr) decisions->Append(rows);
    out.jobs.push_back(&series);
    out.capacities.push_back(options.capacity);
  }
  if (out.jobs.empty() && !out.partial)
    return absl::InvalidArgumentError(
        StrCat("nothing to replay: ", out.notes.empty() ? "no load" : out.notes.front()));
  return out;
}

std::string Percent(double share, int decimals) { return fmt::format("{:.{}f} %", 100 * share, decimals); }

std::string Table(const std::vector<std::pair<std::string, ReplicaScore>>& rows, OverloadModel model) {
  const bool shed = model == OverloadModel::kShed;
  TextTable table({"policy", "tasks of\nclairvoyant", "over-\nloaded", shed ? "load\nlost" : "mean\ndelay",
                   "starts\n/day", "changes\n/day", "days w/o\nchange", "under-\nprov.", "time\nunder",
                   "over-\nprov.", "time\nover", "un-\nstable"});
  for (const auto& [name, s] : rows) {
    const double days = static_cast<double>(std::max<uint64_t>(s.days, 1));
    table.Add(
        {name, fmt::format("{:.3f}", s.of_clairvoyant()), Percent(s.overloaded_share(), 2),
         shed ? Percent(s.load > 0 ? s.lost / s.load : 0, 2)
              : fmt::format("{:.2f} s", s.OfLoadSteps(s.delay_s)),
         fmt::format("{:.1f}", s.PerDay(s.starts)), fmt::format("{:.1f}", s.PerDay(s.changes)),
         Percent(static_cast<double>(s.days_without_change) / days, 0), Percent(s.OfLoadSteps(s.under), 1),
         Percent(s.OfLoadSteps(static_cast<double>(s.under_steps)), 1), Percent(s.OfLoadSteps(s.over), 1),
         Percent(s.OfLoadSteps(static_cast<double>(s.over_steps)), 1),
         Percent(s.OfLoadSteps(static_cast<double>(s.unstable_steps)), 1)});
  }
  return table.Render();
}

std::string DescribeLoads(const ReadReport& r, const std::vector<LoadSeries>& loads) {
  std::string out = fmt::format("read {} rows of {} {} ({}): {} {}\n", FormatCount(r.rows), r.files,
                                r.files == 1 ? "file" : "files", FormatBytes(static_cast<double>(r.bytes)),
                                FormatCount(loads.size()), loads.size() == 1 ? "job" : "jobs");
  for (const auto& [cause, skipped] : r.skipped) {
    StrAppend(&out, "  skipped ", FormatCount(skipped.count), " rows: ", cause, "\n");
    for (const std::string& example : skipped.examples) StrAppend(&out, "    ", Printable(example), "\n");
  }
  for (const std::string& w : r.warnings) StrAppend(&out, "  warning: ", Printable(w), "\n");
  return out;
}

std::string Conditions(const ReplicaReplayOptions& o, const ReplicasArgs& args) {
  return fmt::format(
      "{}; a task is ready {} after its start{};\n"
      "overloaded: above {:.4g} % of the ready tasks; decisions every {}; the first {:.3g} days are not "
      "measured;\nload above the capacity {}\n",
      args.capacity > 0 ? fmt::format("one task processes {:.6g}", args.capacity)
      : args.usage      ? std::string("one task processes its CPU limit")
                        : fmt::format("load scaled to a mean of {:.4g} busy tasks", args.mean_tasks),
      FormatDuration(static_cast<int64_t>(o.settings.startup_s)),
      o.startup_sigma > 0 ? fmt::format(" (log-normal, sigma {:.3g})", o.startup_sigma) : "",
      100 * o.settings.max_utilization, FormatDuration(o.decide_every_s),
      static_cast<double>(o.warmup_s) / kDaySeconds, o.model == OverloadModel::kShed ? "is lost" : "waits");
}

constexpr size_t kJobTables = 12;
constexpr std::string_view kLegend =
    "tasks: task-time, starting tasks included, over that of exactly the tasks needed; under- and\n"
    "over-prov.: mean shortage and excess of ready tasks over the need; time: share of time with one;\n"
    "unstable: share of time in which ready tasks and need move differently (SPEC's elasticity metrics).\n";

Json ScoreJson(const ReplicaScore& s) {
  const auto share = [&s](uint64_t steps) { return s.OfLoadSteps(static_cast<double>(steps)); };
  return {{"minutes_measured", s.measured_s / 60},
          {"steps_without_load", s.absent_steps},
          {"task_hours", s.task_s / 3600},
          {"task_hours_of_clairvoyant", s.of_clairvoyant()},
          {"overloaded_share", s.overloaded_share()},
          {"load_lost_share", s.load > 0 ? s.lost / s.load : 0},
          {"mean_delay_seconds", s.OfLoadSteps(s.delay_s)},
          {"max_delay_seconds", s.max_delay_s},
          {"starts", s.starts},
          {"changes", s.changes},
          {"changes_per_day", s.PerDay(s.changes)},
          {"days", s.days},
          {"days_without_change", s.days_without_change},
          {"underprovisioning_accuracy", s.OfLoadSteps(s.under)},
          {"overprovisioning_accuracy", s.OfLoadSteps(s.over)},
          {"underprovisioning_timeshare", share(s.under_steps)},
          {"overprovisioning_timeshare", share(s.over_steps)},
          {"instability", share(s.unstable_steps)}};
}

std::string ResultText(const Replayed& replayed, OverloadModel model) {
  std::string out;
  const size_t jobs = replayed.jobs.size();
  const auto table_of = [&](auto score_of) {
    std::vector<std::pair<std::string, ReplicaScore>> rows;
    for (const PolicyResult& r : replayed.results) rows.emplace_back(r.policy, score_of(r));
    return Table(rows, model);
  };
  if (jobs > 1) StrAppend(&out, "All ", jobs, " jobs\n");
  StrAppend(&out, table_of([](const PolicyResult& r) { return r.total; }));
  for (size_t j = 0; jobs > 1 && j < std::min(jobs, kJobTables); ++j) {
    StrAppend(&out, "\n", Printable(replayed.jobs[j]->job), "\n",
              table_of([j](const PolicyResult& r) { return r.jobs[j]; }));
  }
  if (jobs > kJobTables)
    StrAppend(&out, "\n(the tables of ", jobs - kJobTables, " more jobs are in --json and --output json)\n");
  return out;
}

std::string ResultJson(const Replayed& replayed) {
  Json policies = Json::array();
  for (const PolicyResult& r : replayed.results) {
    Json jobs = Json::array();
    for (size_t j = 0; j < replayed.jobs.size(); ++j) {
      Json job = {{"job", replayed.jobs[j]->job}, {"task_capacity", replayed.capacities[j]}};
      job.update(ScoreJson(r.jobs[j]));
      jobs.push_back(std::move(job));
    }
    policies.push_back({{"policy", r.policy}, {"total", ScoreJson(r.total)}, {"by_job", std::move(jobs)}});
  }
  return JsonText(
      {{"partial", replayed.partial}, {"notes", replayed.notes}, {"policies", std::move(policies)}});
}

absl::StatusOr<Input> ReadInput(const ReplayArgs& replay, const ReplicasArgs& args) {
  Input input;
  if (!args.usage) {
    ReadReport report;
    absl::StatusOr<std::vector<LoadSeries>> loads =
        ReadLoads({replay.trace.paths, replay.trace.strict}, report);
    if (!loads.ok()) {
      if (report.rows > 0) Print(DescribeLoads(report, {}));
      return loads.status();
    }
    input.loads = *std::move(loads);
    input.description = DescribeLoads(report, input.loads);
    return input;
  }
  const absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(replay.trace, replay.quiet);
  if (!trace.ok()) return trace.status();
  absl::StatusOr<UsageLoads> usage = ReadUsageLoads(**trace);
  if (!usage.ok()) return usage.status();
  input.loads = std::move(usage->loads);
  input.limits = std::move(usage->limits);
  input.description = DescribeInput(**trace);
  input.interrupted = (*trace)->interrupted;
  return input;
}

}  // namespace

int RunReplicas(const ReplayArgs& replay, const ReplicasArgs& args) {
  const absl::StatusOr<ReplicaReplayOptions> options = ToOptions(replay, args);
  if (!options.ok()) return Fail(options.status());
  const absl::StatusOr<std::vector<std::string>> policies = ToPolicies(args.policies);
  if (!policies.ok()) return Fail(policies.status());
  const NamedPath outputs[] = {{"--json", replay.json}, {"--decisions", replay.decisions}};
  if (absl::Status s = CheckOutputs(outputs, replay.trace.paths); !s.ok()) return Fail(s);
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(outputs[0]);
  if (!file.ok()) return Fail(file.status());
  absl::StatusOr<std::unique_ptr<OutputFile>> decisions = OpenOutput(outputs[1]);
  if (!decisions.ok()) return Fail(decisions.status());
  if (*decisions != nullptr) (*decisions)->Append(kDecisionsHeader);
  CatchInterrupts();
  const absl::StatusOr<Input> input = ReadInput(replay, args);
  if (!input.ok()) return Fail(input.status());
  const absl::StatusOr<Replayed> replayed =
      ReplayAll(*input, args, *options, *policies, decisions->get(), replay.quiet);
  if (!replayed.ok()) return Fail(replayed.status());
  if (*file != nullptr) {
    (*file)->Append(ResultJson(*replayed));
    if (absl::Status s = (*file)->Close(); !s.ok()) return Fail(s);
  }
  if (*decisions != nullptr) {
    if (absl::Status s = (*decisions)->Close(); !s.ok()) return Fail(s);
  }
  if (replay.output == OutputForm::kJson) {
    Print(ResultJson(*replayed));
  } else {
    std::string notes;
    for (const std::string& note : replayed->notes) StrAppend(&notes, "note: ", Printable(note), "\n");
    if (replayed->partial)
      StrAppend(&notes, "PARTIAL: interrupted after ", replayed->jobs.size(), " of ", input->loads.size(),
                " jobs\n");
    Print(StrCat(input->description, Conditions(*options, args), notes, "\n",
                 ResultText(*replayed, options->model), "\n", kLegend));
    if (!replay.json.empty()) Print(StrCat("results: ", replay.json, "\n"));
    if (!replay.decisions.empty()) Print(StrCat("decisions: ", replay.decisions, "\n"));
  }
  return replayed->partial ? kExitPartial : kExitOk;
}

}  // namespace taut
