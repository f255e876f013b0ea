// taut tune --replicas: replays a sweep over settings of replica policies, and scores the chosen settings on time
// that the choice did not use.
#include <algorithm>
#include <utility>

#include "brain/replicas/policies.h"
#include "brain/rollout/rules.h"
#include "common/base/strings.h"
#include "common/base/worker_pool.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/export_text.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/replicas_input.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr size_t kMostTrials = 2000;

struct Assignment {
  std::string key, value;
};

struct ReplicaTrial {
  std::string policy;
  std::vector<Assignment> swept;
  brain::ReplicaSettings settings;
  ReplicaScore chosen_on;  // score of the time before the cut
  // score of the time after the cut; absent: not replayed, or no time was held out
  std::optional<ReplicaScore> held_out;
  bool on_frontier = false;
};

// Load series of a job, split at the cut. The settings are chosen on the part before the cut and scored on the
// part after it.
struct SweptJob {
  LoadSeries before;                // load before the cut
  const LoadSeries* all = nullptr;  // load of the whole time
  int64_t cut_s = 0;                // time of the cut, seconds since the start of the series
  double capacity = 0;
};

struct ReplicaSweep {
  std::vector<SweptJob> jobs;
  std::vector<ReplicaTrial> trials;
  std::vector<std::string> notes;
  size_t chosen = SIZE_MAX;  // index of the chosen trial; SIZE_MAX: no trial meets the targets
  bool partial = false;
};

// Returns the setting with this key; nullptr if there is none. Accepts the keys of `taut replay --set`, and those
// keys with the prefix "replicas." of tautd's job settings.
const brain::ReplicaSetting* FindSetting(std::string_view key) {
  for (const brain::ReplicaSetting& s : brain::ReplicaSettingsTable()) {
    if (s.key == key) return &s;
  }
  return nullptr;
}

absl::StatusOr<std::vector<std::pair<std::string, std::vector<std::string>>>> ParseAxes(
    const std::vector<std::string>& sweep) {
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  for (const std::string& text : sweep) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return absl::InvalidArgumentError(StrCat("--sweep: expected key=value,value, not \"", text, "\""));
    std::vector<std::string> values;
    for (const std::string_view value : Split(std::string_view(text).substr(equals + 1), ','))
      values.emplace_back(StripSpace(value));
    brain::ReplicaSettings scratch;
    for (const std::string& value : values) {
      if (absl::Status s = brain::SetReplicaSetting(text.substr(0, equals), value, scratch); !s.ok())
        return absl::InvalidArgumentError(StrCat("--sweep: ", Message(s)));
    }
    axes.emplace_back(text.substr(0, equals), std::move(values));
  }
  return axes;
}

// Adds one trial per combination of the swept values. Errors name the invalid value.
absl::Status AddTrials(const std::string& policy, const std::vector<std::string>& sweep,
                       const brain::ReplicaSettings& given, std::vector<ReplicaTrial>& trials) {
  const auto axes = ParseAxes(sweep);
  if (!axes.ok()) return axes.status();
  size_t count = 1;
  for (const auto& [key, values] : *axes) count *= values.size();
  if (trials.size() + count > kMostTrials) {
    return absl::InvalidArgumentError(
        StrCat("--sweep: more than ", kMostTrials, " combinations; sweep fewer values"));
  }
  for (size_t i = 0; i < count; ++i) {
    ReplicaTrial t{.policy = policy, .swept = {}, .settings = given, .chosen_on = {}, .held_out = {}};
    size_t rest = i;
    for (const auto& [key, values] : *axes) {
      const std::string& value = values[rest % values.size()];
      rest /= values.size();
      t.swept.push_back({key, value});
      if (absl::Status s = brain::SetReplicaSetting(key, value, t.settings); !s.ok()) return s;
    }
    if (absl::Status s = brain::CheckReplicaSettings(t.settings); !s.ok()) return s;
    trials.push_back(std::move(t));
  }
  return absl::OkStatus();
}

// Returns the axes in `asked` that the policy uses; the policy's default axes if `asked` is empty.
std::vector<std::string> AxesOf(const brain::ReplicaPolicyInfo& info, const std::vector<std::string>& asked) {
  if (asked.empty()) return {info.sweep.begin(), info.sweep.end()};
  std::vector<std::string> out;
  for (const std::string& axis : asked) {
    const std::string_view key = std::string_view(axis).substr(0, axis.find('='));
    const std::string_view group = key.substr(0, key.find('.'));
    const bool is_read = group == "replicas" || std::ranges::find(info.groups, group) != info.groups.end();
    // Keep an unknown key, so that a later check reports it and suggests the nearest key.
    if (is_read || FindSetting(key) == nullptr) out.push_back(axis);
  }
  return out;
}

absl::StatusOr<std::vector<ReplicaTrial>> TrialsOf(const TuneArgs& args, const ReplicasArgs& replicas,
                                                   const brain::ReplicaSettings& given) {
  std::vector<ReplicaTrial> trials;
  for (const brain::ReplicaPolicyInfo& info : brain::ReplicaPolicies()) {
    const bool asked = std::ranges::find(replicas.policies, info.name) != replicas.policies.end();
    if (!asked && (!replicas.policies.empty() || info.sweep.empty())) continue;
    if (absl::Status s = AddTrials(std::string(info.name), AxesOf(info, args.sweep), given, trials); !s.ok())
      return s;
  }
  for (const std::string& name : replicas.policies) {
    if (const auto found = brain::FindReplicaPolicy(name); !found.ok())
      return absl::InvalidArgumentError(StrCat("--policies: ", Message(found.status())));
  }
  return trials;
}

// Adds the jobs that have enough time before and after the cut.
void MakeJobs(const ReplicaInput& input, const TuneArgs& args, const ReplicasArgs& replicas,
              const ReplicaReplayOptions& options, ReplicaSweep& sweep) {
  for (size_t at = 0; at < input.loads.size(); ++at) {
    const LoadSeries& series = input.loads[at];
    const absl::StatusOr<double> capacity = TaskCapacityOf(input, at, replicas);
    if (!capacity.ok()) {
      sweep.notes.push_back(std::string(Message(capacity.status())));
      continue;
    }
    const int64_t length_s = static_cast<int64_t>(series.load.size()) * series.step_s;
    const int64_t measured_s = length_s - options.warmup_s;
    const auto held_s = static_cast<int64_t>(args.holdout * static_cast<double>(measured_s));
    const int64_t steps = (length_s - held_s) / series.step_s;
    if (measured_s <= 0 || steps * series.step_s <= options.warmup_s) {
      sweep.notes.push_back(StrCat("job \"", series.job, "\" is not replayed: it has ",
                                   FormatDuration(length_s), ", not more than --warmup"));
      continue;
    }
    SweptJob job{.before = series, .all = &series, .cut_s = steps * series.step_s, .capacity = *capacity};
    job.before.load.resize(static_cast<size_t>(steps));
    sweep.jobs.push_back(std::move(job));
  }
}

ReplicaScore Score(const ReplicaTrial& trial, const SweptJob& job, ReplicaReplayOptions options,
                   bool held_out) {
  options.settings = trial.settings;
  options.capacity = job.capacity;
  if (held_out) options.warmup_s = job.cut_s;
  const absl::StatusOr<ReplicaScore> score =
      ReplayByName(held_out ? *job.all : job.before, options, trial.policy);
  // MakeJobs() checked the lengths, so an error only means that no step was measured.
  return score.ok() ? *score : ReplicaScore();
}

ReplicaScore Total(const ReplicaTrial& trial, const std::vector<SweptJob>& jobs,
                   const ReplicaReplayOptions& options, bool held_out) {
  ReplicaScore total;
  for (const SweptJob& job : jobs) total.Add(Score(trial, job, options, held_out));
  return total;
}

void MarkFrontier(std::vector<ReplicaTrial>& trials) {
  for (ReplicaTrial& t : trials) {
    const ReplicaScore& a = t.chosen_on;
    t.on_frontier = std::ranges::none_of(trials, [&](const ReplicaTrial& other) {
      const ReplicaScore& b = other.chosen_on;
      if (other.policy != t.policy) return false;
      const bool no_worse =
          b.of_clairvoyant() <= a.of_clairvoyant() && b.overloaded_share() <= a.overloaded_share();
      return no_worse &&
             (b.of_clairvoyant() < a.of_clairvoyant() || b.overloaded_share() < a.overloaded_share());
    });
  }
}

bool IsWithin(const ReplicaTrial& t, const TuneArgs& args) {
  return t.chosen_on.overloaded_share() <= args.overloaded &&
         t.chosen_on.PerDay(t.chosen_on.changes) <= args.replica_changes;
}

void Choose(const TuneArgs& args, ReplicaSweep& sweep) {
  for (size_t i = 0; i < sweep.trials.size(); ++i) {
    if (!IsWithin(sweep.trials[i], args)) continue;
    if (sweep.chosen == SIZE_MAX ||
        sweep.trials[i].chosen_on.of_clairvoyant() < sweep.trials[sweep.chosen].chosen_on.of_clairvoyant())
      sweep.chosen = i;
  }
}

absl::StatusOr<ReplicaSweep> RunSweep(const TuneArgs& args, const ReplicasArgs& replicas,
                                      const ReplicaInput& input, ReplicaReplayOptions options) {
  const std::optional<FleetMoves> fleet = FleetMovesOf(input, options);
  options.fleet = fleet.has_value() ? &*fleet : nullptr;
  ReplicaSweep sweep;
  absl::StatusOr<std::vector<ReplicaTrial>> trials = TrialsOf(args, replicas, options.settings);
  if (!trials.ok()) return trials.status();
  sweep.trials = *std::move(trials);
  MakeJobs(input, args, replicas, options, sweep);
  if (sweep.jobs.empty())
    return absl::InvalidArgumentError(
        StrCat("nothing to replay: ", sweep.notes.empty() ? "no load" : sweep.notes.front()));
  ProgressLine progress(args.quiet);
  WorkerPool workers(args.engine.threads);
  constexpr size_t kPiece = 16;  // replays between two checks for an interrupt
  size_t done = 0;
  for (; done < sweep.trials.size() && !Interrupted(); done += kPiece) {
    progress.Update(StrCat("trial ", done + 1, " of ", sweep.trials.size()),
                    static_cast<double>(done) / static_cast<double>(sweep.trials.size()));
    workers.ForEach(std::min(kPiece, sweep.trials.size() - done), [&](size_t i) {
      ReplicaTrial& t = sweep.trials[done + i];
      t.chosen_on = Total(t, sweep.jobs, options, /*held_out=*/false);
    });
  }
  if (done < sweep.trials.size()) {
    sweep.trials.resize(done);
    sweep.partial = true;
  }
  MarkFrontier(sweep.trials);
  Choose(args, sweep);
  if (args.holdout > 0 && !sweep.partial) {
    workers.ForEach(sweep.trials.size(), [&](size_t i) {
      ReplicaTrial& t = sweep.trials[i];
      if (t.on_frontier || i == sweep.chosen) t.held_out = Total(t, sweep.jobs, options, /*held_out=*/true);
    });
  }
  return sweep;
}

std::string SettingsText(const ReplicaTrial& t) {
  std::string out;
  for (const Assignment& a : t.swept) StrAppend(&out, out.empty() ? "" : " ", a.key, "=", a.value);
  return out.empty() ? "as given" : out;
}

std::string SweepTable(const ReplicaSweep& sweep) {
  TextTable table({"policy", "settings", "tasks of\nclairvoyant", "over-\nloaded", "changes\n/day",
                   "held out:\ntasks", "over-\nloaded", ""});
  std::vector<size_t> order;
  for (size_t i = 0; i < sweep.trials.size(); ++i) {
    if (sweep.trials[i].on_frontier || i == sweep.chosen) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    const ReplicaTrial &x = sweep.trials[a], &y = sweep.trials[b];
    if (x.policy != y.policy) return false;
    return x.chosen_on.of_clairvoyant() < y.chosen_on.of_clairvoyant();
  });
  for (const size_t i : order) {
    const ReplicaTrial& t = sweep.trials[i];
    table.Add({t.policy, SettingsText(t), fmt::format("{:.3f}", t.chosen_on.of_clairvoyant()),
               Percent(t.chosen_on.overloaded_share(), 2),
               fmt::format("{:.1f}", t.chosen_on.PerDay(t.chosen_on.changes)),
               t.held_out.has_value() ? fmt::format("{:.3f}", t.held_out->of_clairvoyant()) : "-",
               t.held_out.has_value() ? Percent(t.held_out->overloaded_share(), 2) : "-",
               i == sweep.chosen ? "<- chosen" : ""});
  }
  return table.Render();
}

Json ReplicaScoreJson(const ReplicaScore& s) {
  return {{"task_hours_of_clairvoyant", s.of_clairvoyant()},
          {"overloaded_share", s.overloaded_share()},
          {"starts_per_day", s.PerDay(s.starts)},
          {"changes_per_day", s.PerDay(s.changes)}};
}

std::string SweepJson(const ReplicaSweep& sweep) {
  Json trials = Json::array();
  for (size_t i = 0; i < sweep.trials.size(); ++i) {
    const ReplicaTrial& t = sweep.trials[i];
    Json settings = Json::object();
    for (const Assignment& a : t.swept) settings[a.key] = a.value;
    Json trial = {{"policy", t.policy},
                  {"settings", std::move(settings)},
                  {"chosen_on", ReplicaScoreJson(t.chosen_on)}};
    trial["held_out"] = t.held_out.has_value() ? ReplicaScoreJson(*t.held_out) : Json();
    trial["on_frontier"] = t.on_frontier;
    trial["chosen"] = i == sweep.chosen;
    trials.push_back(std::move(trial));
  }
  return JsonText({{"format", "taut-tune-replicas/1"},
                   {"partial", sweep.partial},
                   {"notes", sweep.notes},
                   {"trials", std::move(trials)}});
}

// Returns a command line that replays the chosen settings on the same load.
std::string ReplayCommand(const TuneArgs& args, const ReplicasArgs& replicas) {
  std::string out = StrCat("taut replay --replicas", replicas.usage ? " --usage" : "");
  for (const std::string& path : args.trace.paths) StrAppend(&out, " ", ShellWord(path));
  const ReplicasArgs plain;
  const TraceArgs trace;
  const auto add = [&](std::string_view option, const std::string& value, const std::string& by_default) {
    if (value != by_default) StrAppend(&out, " ", option, " ", ShellWord(value));
  };
  add("--format", args.trace.format, trace.format);
  add("--group", StrCat(args.trace.group), StrCat(trace.group));
  add("--from", args.trace.from, trace.from);
  add("--to", args.trace.to, trace.to);
  add("--unit-cpu", StrCat(args.trace.unit_cpu_cores), StrCat(trace.unit_cpu_cores));
  add("--unit-memory", args.trace.unit_memory, trace.unit_memory);
  if (args.trace.strict) StrAppend(&out, " --strict");
  add("--job-label", replicas.job_label, plain.job_label);
  add("--signals", Join(replicas.signals, ","), "");
  if (replicas.mean_tasks.has_value()) add("--mean-tasks", StrCat(*replicas.mean_tasks), "");
  if (replicas.usage && replicas.capacity.has_value()) add("--capacity", StrCat(*replicas.capacity), "");
  add("--decide-every", replicas.decide_every, plain.decide_every);
  add("--startup-sigma", StrCat(replicas.startup_sigma), StrCat(plain.startup_sigma));
  add("--overload", replicas.overload, plain.overload);
  add("--seed", StrCat(replicas.seed), StrCat(plain.seed));
  add("--warmup", args.engine.warmup, EngineArgs().warmup);
  add("--mode", args.engine.mode, EngineArgs().mode);
  for (const std::string& assignment : args.engine.policy) add("--policy", assignment, "");
  return StrCat(out, " --settings ", ShellWord(args.out));
}

// Returns the `set` of a rule for tautd: the chosen settings, and every setting whose default differs between
// tautd and the replay.
std::string SettingsFile(const ReplicaTrial& t, const ReplicasArgs& replicas, const std::string& command) {
  brain::JobPolicy policy;
  policy.replicas = t.settings;
  policy.replicas.task_capacity = replicas.usage ? 0 : replicas.capacity.value_or(0);
  brain::JobPolicy replayed;
  replayed.replicas = replicas.usage ? brain::LiveReplicaSettings() : brain::ReplicaSettings();
  const brain::ReplicaPolicyInfo& info = **brain::FindReplicaPolicy(t.policy);
  std::string out = StrCat("# by taut tune --replicas; job settings of tautd, under `set` of a rule\n# ",
                           command, "\nreplicas.policy: ", t.policy, "\n");
  const auto add = [&](const std::string& key, bool always) {
    const std::string value = brain::GetJobSetting(key, policy);
    if (always || value != brain::GetJobSetting(key, brain::JobPolicy()) ||
        value != brain::GetJobSetting(key, replayed))
      StrAppend(&out, key, ": \"", value, "\"\n");
  };
  for (const char* key : {"replicas.task_capacity", "replicas.startup", "replicas.max_utilization"})
    add(key, false);
  for (const brain::ReplicaSetting& s : brain::ReplicaSettingsTable()) {
    const bool swept = std::ranges::any_of(t.swept, [&](const Assignment& a) { return a.key == s.key; });
    const std::string_view group = s.key.substr(0, s.key.find('.'));
    const bool is_read = group == "replicas" || s.key == "function.silent_after" ||
                         std::ranges::find(info.groups, group) != info.groups.end();
    if (is_read || swept) add(group == "replicas" ? std::string(s.key) : StrCat("replicas.", s.key), swept);
  }
  return out;
}

// Returns lines about differences between the replayed load and the load in tautd; "" if there are none.
std::string OfTautd(const ReplicaReplayOptions& options, const ReplicasArgs& replicas) {
  std::string out;
  if (options.decide_every_s != kWindowSeconds) {
    StrAppend(
        &out,
        Wrapped(StrCat("note: tautd decides every 5 min, and these settings were chosen for decisions every ",
                       FormatDuration(options.decide_every_s), ": --decide-every 5m chooses for tautd"),
                ""));
  }
  if (!replicas.usage && !replicas.capacity.has_value()) {
    StrAppend(
        &out,
        Wrapped("note: loads were scaled; in tautd replicas.task_capacity is the load of a fully used task",
                ""));
  }
  return out;
}

absl::Status NoReplicasWithin(const TuneArgs& args, const ReplicaSweep& sweep) {
  const auto nearest = std::ranges::min_element(sweep.trials, {}, [](const ReplicaTrial& t) {
    return std::pair(t.chosen_on.overloaded_share(), t.chosen_on.PerDay(t.chosen_on.changes));
  });
  return absl::FailedPreconditionError(fmt::format(
      "no settings tried are overloaded at most {} of the time (--overloaded) with {} changes a day "
      "(--replica-changes); "
      "the least were {} with {:.1f} changes by {} {}. {}Allow more, or try other settings with --sweep",
      Percent(args.overloaded, 2), args.replica_changes, Percent(nearest->chosen_on.overloaded_share(), 2),
      nearest->chosen_on.PerDay(nearest->chosen_on.changes), nearest->policy, SettingsText(*nearest),
      args.out.empty() ? "" : StrCat(args.out, " was not written. ")));
}

absl::Status Tune(const TuneArgs& args, ReplicasArgs replicas, bool* partial) {
  if (!(args.holdout >= 0 && args.holdout <= 0.9)) {
    return absl::InvalidArgumentError(StrCat("invalid --holdout ", args.holdout, ": expected 0 to 0.9"));
  }
  if (!(args.replica_changes >= 0 && args.replica_changes <= 1e6)) {
    return absl::InvalidArgumentError(
        StrCat("invalid --replica-changes ", args.replica_changes, ": expected 0 to 1000000"));
  }
  if (!(args.overloaded > 0 && args.overloaded < 1)) {
    return absl::InvalidArgumentError(
        StrCat("invalid --overloaded ", args.overloaded, ": expected above 0 and below 1"));
  }
  const absl::StatusOr<ReplicaReplayOptions> options = ToReplicaOptions(args.engine, replicas);
  if (!options.ok()) return options.status();
  const NamedPath out{"--out", args.out};
  std::vector<std::string> inputs = args.trace.paths;
  inputs.push_back(args.engine.settings_file);
  if (absl::Status s = CheckOutputs({&out, 1}, inputs); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(out);
  if (!file.ok()) return file.status();
  CatchInterrupts();
  const absl::StatusOr<ReplicaInput> input = ReadReplicaInput(args.trace, replicas, args.quiet);
  if (!input.ok()) return input.status();
  const absl::StatusOr<ReplicaSweep> sweep = RunSweep(args, replicas, *input, *options);
  if (!sweep.ok()) return sweep.status();
  *partial = sweep->partial || input->interrupted;
  if (args.output != OutputForm::kTable) {
    Print(FormattedText(args.output, SweepJson(*sweep)));
  } else {
    std::string notes;
    for (const std::string& note : sweep->notes) StrAppend(&notes, "note: ", Printable(note), "\n");
    Print(StrCat(input->description, ReplicaConditions(*options, replicas), notes,
                 args.holdout > 0
                     ? fmt::format("chosen on the first {:.0f} % of the measured time, held out: the rest\n",
                                   100 * (1 - args.holdout))
                     : "nothing is held out: expect more overload on other days\n",
                 "\nFrontier over ", sweep->trials.size(), " trials\n\n", SweepTable(*sweep)));
  }
  if (*partial) Warn("interrupted: only the trials shown were run");
  if (sweep->chosen == SIZE_MAX) return *partial ? absl::OkStatus() : NoReplicasWithin(args, *sweep);
  if (*file == nullptr) return absl::OkStatus();
  const std::string command = ReplayCommand(args, replicas);
  (*file)->Append(SettingsFile(sweep->trials[sweep->chosen], replicas, command));
  if (absl::Status s = (*file)->Close(); !s.ok()) return s;
  if (args.output == OutputForm::kTable)
    Print(StrCat("\nsettings: ", args.out, "\nreplay: ", Printable(command), "\n",
                 OfTautd(*options, replicas)));
  return absl::OkStatus();
}

}  // namespace

int RunTuneReplicas(const TuneArgs& args, const ReplicasArgs& replicas) {
  bool partial = false;
  const absl::Status status = Tune(args, replicas, &partial);
  if (status.ok()) return partial ? kExitPartial : kExitOk;
  PrintError(Message(status));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace taut::tools
