// Implements `taut replay --replicas`.
#include "tools/cli/replicas_command.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "common/base/csv_field.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/replicas_input.h"
#include "tools/cli/terminal.h"
#include "tools/report/page.h"
#include "tools/report/replicas_page.h"
#include "tools/sim/replica_replay.h"

namespace taut::tools {
namespace {

struct PolicyResult {
  std::string policy;
  ReplicaScore total;
  std::vector<ReplicaScore> jobs;
};

struct Replayed {
  std::vector<const LoadSeries*> jobs;  // replayed jobs
  std::vector<double> capacities;
  std::vector<PolicyResult> results;
  std::vector<std::string> notes;
  bool partial = false;
  ReplicasPage page;  // data for the page of --report
};

// Returns an empty track over the measured time of a job, for the chart.
ReplicaTrack TrackOf(const LoadSeries& series, const ReplicaReplayOptions& options) {
  return ReplicaTrack(series.start_s + options.warmup_s, series.time_s(series.load.size()),
                      options.capacity * options.settings.max_utilization);
}

// Columns of the CSV with one row per step. Each printed number parses to the same double.
constexpr std::string_view kReplicaDecisionsHeader =
    "time_s,job,policy,load,capacity,ready,starting,decided,reason\n";

void AppendStep(const ReplicaStep& step, std::string_view job_and_policy, double capacity, std::string& out) {
  std::string load, why;
  if (step.load.has_value()) load = StrCat(*step.load);
  if (step.decider != nullptr) {
    Reason reason;
    step.decider->Explain(reason);
    if (!step.waits.empty()) StrAppend(&reason.sentence, " It waits: ", step.waits, ".");
    why = CsvField(reason.sentence);
  }
  StrAppend(&out, step.time_s, ",", job_and_policy, ",", load, ",", capacity, ",", step.ready, ",",
            step.starting, ",", step.decided, ",", why, "\n");
}

// Outputs of a replay in addition to the scores.
struct ReplayOutput {
  OutputFile* decisions = nullptr;  // file of --decisions; null if not requested
  bool draws = false;               // true: collect tracks for the charts of --report
  bool quiet = false;               // true: show no progress
};

absl::StatusOr<Replayed> ReplayAll(const ReplicaInput& input, const ReplicasArgs& args,
                                   ReplicaReplayOptions options, const std::vector<std::string>& policies,
                                   const ReplayOutput& output) {
  const auto& [decisions, draws, quiet] = output;
  const std::vector<LoadSeries>& loads = input.loads;
  ProgressLine progress(quiet);
  const std::optional<FleetMoves> fleet = FleetMovesOf(input, options);
  options.fleet = fleet.has_value() ? &*fleet : nullptr;
  Replayed out;
  out.partial = input.interrupted;
  for (const std::string& name : policies) out.results.push_back({name, {}, {}});
  for (size_t at = 0; at < loads.size(); ++at) {
    const LoadSeries& series = loads[at];
    if (Interrupted()) {
      out.partial = true;
      break;
    }
    const absl::StatusOr<double> capacity = TaskCapacityOf(input, at, args);
    if (!capacity.ok()) {
      out.notes.push_back(StrCat(Message(capacity.status())));
      continue;
    }
    options.capacity = *capacity;
    std::vector<ReplicaScore> scores;
    std::vector<ReplicaTrack> tracks;
    std::string rows;  // rows of one job, complete after every policy has replayed the job
    absl::Status failed;
    for (size_t i = 0; i < policies.size() && failed.ok(); ++i) {
      progress.Update(StrCat("replaying ", series.job),
                      static_cast<double>(out.jobs.size()) / static_cast<double>(loads.size()));
      const std::string names = StrCat(CsvField(series.job), ",", policies[i]);
      if (draws) tracks.push_back(TrackOf(series, options));
      OnReplicaStep on_step;
      if (decisions != nullptr || draws)
        on_step = [&](const ReplicaStep& step) {
          if (output.decisions != nullptr) AppendStep(step, names, options.capacity, rows);
          if (output.draws) tracks.back().Add(step);
        };
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
    if (draws) out.page.Add({.name = series.job, .scores = scores, .tracks = std::move(tracks)});
    out.jobs.push_back(&series);
    out.capacities.push_back(options.capacity);
  }
  if (out.jobs.empty() && !out.partial)
    return absl::InvalidArgumentError(
        StrCat("nothing to replay: ", out.notes.empty() ? "no load" : out.notes.front()));
  return out;
}

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

constexpr size_t kJobTables = 12;
constexpr std::string_view kReplicaLegend =
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
          {"minutes_held", s.held_s / 60},
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

// Returns lines about numbers of tasks that were kept for lack of a load, a signal or a result; "" if there are
// none.
std::string HeldText(const Replayed& replayed) {
  std::string out;
  for (const PolicyResult& r : replayed.results) {
    if (r.total.held_s > 0)
      StrAppend(&out, out.empty() ? "held for want of a load, a signal or a number: " : ", ", r.policy, " ",
                FormatCount(static_cast<uint64_t>(std::llround(r.total.held_s / 60))), " min of ",
                FormatCount(static_cast<uint64_t>(std::llround(r.total.measured_s / 60))));
  }
  return out.empty() ? "" : Wrapped(out, "");
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

std::string ReportOf(Replayed& replayed, std::string conditions, OverloadModel model) {
  ReplicasPage& page = replayed.page;
  page.title = replayed.jobs.size() == 1 ? StrCat("Replicas of ", replayed.jobs.front()->job)
                                         : std::string("Replicas by policy");
  page.conditions = StrCat(replayed.partial ? "PARTIAL: the replay was interrupted.\n" : "", conditions);
  page.model = model;
  page.jobs = replayed.jobs.size();
  for (const PolicyResult& r : replayed.results) {
    page.policies.push_back(r.policy);
    page.totals.push_back(r.total);
  }
  return PageWith(DocumentJson(ReplicasDocument(page)));
}

}  // namespace

int RunReplicas(const ReplayArgs& replay, const ReplicasArgs& given) {
  ReplicasArgs args = given;
  const absl::StatusOr<ReplicaReplayOptions> options = ToReplicaOptions(replay.engine, args);
  if (!options.ok()) return Fail(options.status());
  const absl::StatusOr<std::vector<std::string>> policies = ToReplicaPolicies(args.policies);
  if (!policies.ok()) return Fail(policies.status());
  const NamedPath outputs[] = {
      {"--json", replay.json}, {"--decisions", replay.decisions}, {"--report", replay.report}};
  std::vector<std::string> inputs = replay.trace.paths;
  inputs.push_back(replay.engine.settings_file);
  if (absl::Status s = CheckOutputs(outputs, inputs); !s.ok()) return Fail(s);
  if (absl::Status s = CheckPageOf(outputs[2]); !s.ok()) return Fail(s);
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(outputs[0]);
  if (!file.ok()) return Fail(file.status());
  absl::StatusOr<std::unique_ptr<OutputFile>> decisions = OpenOutput(outputs[1]);
  if (!decisions.ok()) return Fail(decisions.status());
  absl::StatusOr<std::unique_ptr<OutputFile>> report = OpenOutput(outputs[2]);
  if (!report.ok()) return Fail(report.status());
  if (*decisions != nullptr) (*decisions)->Append(kReplicaDecisionsHeader);
  CatchInterrupts();
  const absl::StatusOr<ReplicaInput> input = ReadReplicaInput(replay.trace, args, replay.quiet);
  if (!input.ok()) return Fail(input.status());
  absl::StatusOr<Replayed> replayed =
      ReplayAll(*input, args, *options, *policies,
                {.decisions = decisions->get(), .draws = *report != nullptr, .quiet = replay.quiet});
  if (!replayed.ok()) return Fail(replayed.status());
  if (*file != nullptr) {
    (*file)->Append(ResultJson(*replayed));
    if (absl::Status s = (*file)->Close(); !s.ok()) return Fail(s);
  }
  if (*decisions != nullptr) {
    if (absl::Status s = (*decisions)->Close(); !s.ok()) return Fail(s);
  }
  if (*report != nullptr) {
    (*report)->Append(ReportOf(*replayed, ReplicaConditions(*options, args), options->model));
    if (absl::Status s = (*report)->Close(); !s.ok()) return Fail(s);
  }
  if (replay.output != OutputForm::kTable) {
    Print(FormattedText(replay.output, ResultJson(*replayed)));
  } else {
    std::string notes;
    for (const std::string& note : replayed->notes) StrAppend(&notes, "note: ", Printable(note), "\n");
    if (replayed->partial)
      StrAppend(&notes, "PARTIAL: interrupted after ", replayed->jobs.size(), " of ", input->loads.size(),
                " jobs\n");
    Print(StrCat(input->description, ReplicaConditions(*options, args), notes, "\n",
                 ResultText(*replayed, options->model), HeldText(*replayed), "\n", kReplicaLegend));
    if (!replay.json.empty()) Print(StrCat("results: ", replay.json, "\n"));
    if (!replay.decisions.empty()) Print(StrCat("decisions: ", replay.decisions, "\n"));
    if (!replay.report.empty()) Print(StrCat("report: ", replay.report, "\n"));
  }
  return replayed->partial ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
