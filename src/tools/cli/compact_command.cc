// Implements `taut compact`.
#include "tools/cli/compact_command.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "brain/cell/made_cell.h"
#include "brain/cell/recorded_cell.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/cell_usage.h"
#include "tools/cli/cli.h"
#include "tools/cli/compact_after.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/terminal.h"
#include "tools/sim/cell_demands.h"
#include "tools/sim/compaction_runs.h"

namespace taut::tools {
namespace {

// A cell and a description of its source.
struct Cell {
  brain::CellModel model;
  std::string about;  // lines for users about the source of the cell
  ReadReport report;
  std::vector<brain::CellFinding> findings;
  std::optional<int64_t> at_s;  // time of the cell; absent if the input has no times
  std::optional<CellUsage> usage;
  CellDemands demands;  // demands computed from `usage`
};

std::string Underscored(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

absl::Status CheckArgs(const CompactArgs& args) {
  if (args.machines < 1 || args.machines > 100'000)
    return absl::InvalidArgumentError(StrCat("invalid --machines ", args.machines, ": expected 1 to 100000"));
  if (!(args.tasks_per_machine >= 1 && args.tasks_per_machine <= 100))
    return absl::InvalidArgumentError(
        StrCat("invalid --tasks-per-machine ", args.tasks_per_machine, ": expected 1 to 100"));
  if (args.trials < 1 || args.trials > 1000)
    return absl::InvalidArgumentError(StrCat("invalid --trials ", args.trials, ": expected 1 to 1000"));
  if (!(args.pending_percent >= 0 && args.pending_percent < 100))
    return absl::InvalidArgumentError(
        StrCat("invalid --pending ", args.pending_percent, ": expected 0 to less than 100"));
  if (!(args.large_user_percent > 0 && args.large_user_percent <= 100))
    return absl::InvalidArgumentError(
        StrCat("invalid --large-user ", args.large_user_percent, ": expected more than 0, up to 100"));
  if (!(args.stranded_weight >= 0 && args.stranded_weight <= 1000))
    return absl::InvalidArgumentError(
        StrCat("invalid --stranded-weight ", args.stranded_weight, ": expected 0 to 1000"));
  if (args.threads < 0) return absl::InvalidArgumentError("--threads: expected 0 (one per core) or more");
  return absl::OkStatus();
}

absl::StatusOr<CompactionRunsOptions> ToOptions(const CompactArgs& args) {
  if (absl::Status s = CheckArgs(args); !s.ok()) return s;
  CompactionRunsOptions o;
  const absl::StatusOr<brain::CellScore> score = brain::CellScoreByName(args.score);
  if (!score.ok()) return score.status();
  o.variant.scoring.score = *score;
  o.variant.scoring.stranded_weight = args.stranded_weight;
  o.variant.large_user = args.large_user_percent / 100;
  o.variant.seed = o.compaction.seed = args.seed;
  o.compaction.trials = args.trials;
  o.compaction.pending_share = args.pending_percent / 100;
  o.threads = args.threads;
  for (const std::string& name : args.experiments) {
    const absl::StatusOr<const brain::CellExperiment*> e = brain::CellExperimentByName(name);
    if (!e.ok()) return absl::InvalidArgumentError(StrCat("--experiments: ", Message(e.status())));
    o.experiments.push_back(*e);
  }
  // If only demands were requested, compare them with the base only.
  if (args.experiments.empty() && !AsksForDemands(args)) {
    for (const brain::CellExperiment& e : brain::CellExperiments()) {
      // The base already uses this score, so the experiment would repeat the base.
      const absl::StatusOr<brain::CellScore> its = brain::CellScoreByName(Underscored(e.name));
      if (!its.ok() || *its != *score) o.experiments.push_back(&e);
    }
  }
  return o;
}

// Keeps the jobs and machines that exist at one time, or all of them if the input has no times.
absl::Status TakeTime(const CompactArgs& args, LoadedCell& input, Cell& cell) {
  if (args.at.empty() && !input.recorded) {
    cell.model = std::move(input.model);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<brain::CellFinding>> found =
      brain::CheckCellWorkload(input.model, input.workload);
  if (!found.ok()) return found.status();
  for (brain::CellFinding& f : *found) cell.findings.push_back(std::move(f));
  int64_t at_ms = brain::FullestTime(input.model, input.workload);
  if (!args.at.empty()) {
    const absl::StatusOr<int64_t> at = SecondsOfAt(args);
    if (!at.ok()) return at.status();
    at_ms = *at * 1000;
  }
  cell.model = brain::CellAt(input.model, input.workload, at_ms);
  cell.at_s = at_ms / 1000;
  StrAppend(&cell.about, "the jobs that are there at ", FormatDuration(at_ms / 1000),
            args.at.empty() ? ", the fullest time" : "", ": ", FormatCount(cell.model.jobs.size()), " of ",
            FormatCount(input.model.jobs.size()),
            "; machines in service: ", FormatCount(cell.model.machines.size()), " of ",
            FormatCount(input.model.machines.size()), "\n");
  if (cell.model.jobs.empty() || cell.model.machines.empty())
    return absl::InvalidArgumentError(StrCat("no ", cell.model.jobs.empty() ? "job" : "machine",
                                             " is there at ", FormatDuration(at_ms / 1000),
                                             ": expected another --at"));
  absl::StatusOr<std::vector<brain::CellFinding>> findings = brain::CheckCell(cell.model);
  if (!findings.ok()) return findings.status();
  return absl::OkStatus();
}

// Adds the jobs with usage to a cell that has only machines.
absl::Status TakeJobsOfUsage(Cell& cell) {
  absl::StatusOr<UsageJobs> jobs = JobsOfUsage(*cell.usage->trace, cell.usage->until);
  if (!jobs.ok()) return jobs.status();
  for (brain::CellFinding& f : jobs->left_out.Take()) cell.findings.push_back(std::move(f));
  cell.model.jobs = std::move(jobs->jobs);
  StrAppend(&cell.about, "the jobs that have usage within the hour before ",
            FormatTime(cell.usage->until.start_s()), ", with their owners' limits\n");
  if (cell.model.jobs.empty())
    return absl::InvalidArgumentError(StrCat("no job with an owner's limit has usage within the hour before ",
                                             FormatTime(cell.usage->until.start_s()),
                                             ": expected another --at, usage with limits, or a file "
                                             "of jobs (name, cpu_limit, memory_limit)"));
  absl::StatusOr<std::vector<brain::CellFinding>> findings = brain::CheckCell(cell.model);
  if (!findings.ok()) return findings.status();
  for (brain::CellFinding& f : *findings) cell.findings.push_back(std::move(f));
  return absl::OkStatus();
}

absl::Status TakeUsage(const CompactArgs& args, LoadedCell& input, Cell& cell) {
  absl::StatusOr<CellUsage> usage = LoadCellUsage(args, input.recorded, cell.at_s);
  if (!usage.ok()) return usage.status();
  cell.usage = *std::move(usage);
  if (!cell.model.jobs.empty()) return absl::OkStatus();
  return TakeJobsOfUsage(cell);
}

absl::StatusOr<Cell> LoadCell(const CompactArgs& args) {
  Cell cell;
  if (args.files.paths.empty() && !args.at.empty())
    return absl::InvalidArgumentError("--at: expected with files; a generated cell is of one time");
  if (args.files.paths.empty()) {
    brain::MadeCellOptions made;
    made.machines = args.machines;
    made.tasks_per_machine = args.tasks_per_machine;
    made.seed = args.seed;
    cell.model = brain::MakeCell(made);
    absl::StatusOr<std::vector<brain::CellFinding>> findings = brain::CheckCell(cell.model);
    if (!findings.ok()) return findings.status();
    cell.findings = *std::move(findings);
    cell.about = StrCat("a generated cell (seed ", args.seed, ")\n");
    return cell;
  }
  const absl::StatusOr<TraceOptions> options = ToTraceOptions(args.files);
  if (!options.ok()) return options.status();
  absl::StatusOr<LoadedCell> input =
      LoadCellFiles(*options, args.quiet, args.usage.empty() && !AsksForDemands(args));
  if (!input.ok()) return input.status();
  cell.report = std::move(input->report);
  cell.about = ReadText(cell.report);
  cell.findings = std::move(input->findings);
  if (!input->recorded && input->model.jobs.empty()) {
    cell.model = std::move(input->model);
  } else if (absl::Status s = TakeTime(args, *input, cell); !s.ok()) {
    return s;
  }
  if (!AsksForDemands(args) && args.usage.empty()) return cell;
  if (absl::Status s = TakeUsage(args, *input, cell); !s.ok()) return s;
  return cell;
}

std::string DescribeCell(const Cell& cell) {
  const brain::CellModel& model = cell.model;
  std::string out = cell.about;
  if (cell.usage.has_value()) out += UsageText(*cell.usage);
  out += FindingsText(cell.findings);
  StrAppend(&out, Counted(model.machines.size(), "machine"), ", ", Counted(model.jobs.size(), "job"), ", ",
            Counted(model.tasks(), "task"), "\n");
  for (size_t r = 0; r < model.resources.size(); ++r) {
    const CellLoad load = LoadOf(model, r);
    StrAppend(&out, "  ", Printable(model.resources[r].name), ": limits ", Percent(load.limit),
              " of the capacity (production ", Percent(load.production_limit), "), reservations ",
              Percent(load.reservation), "\n");
  }
  return out;
}

double Change(const CompactionRun& run, const CompactionRun& base) {
  return base.result.needed == 0
             ? 0
             : static_cast<double>(run.result.needed) / static_cast<double>(base.result.needed) - 1;
}

std::string Text(const Cell& cell, const CompactArgs& args, const CompactionRuns& runs) {
  const auto machines = static_cast<double>(cell.model.machines.size());
  std::string out = fmt::format("packed as it is by {}: {} of {} tasks are pending\n", args.score,
                                FormatCount(runs.packed.pending), FormatCount(cell.model.tasks()));
  out += SentenceLines(runs.packed.why);
  if (runs.impossible_jobs > 0)
    StrAppend(&out,
              "left out below, since no machine could ever run them: ", FormatCount(runs.impossible_jobs),
              runs.impossible_jobs == 1 ? " job" : " jobs", " of ", FormatCount(runs.impossible_tasks),
              runs.impossible_tasks == 1 ? " task\n" : " tasks\n");
  if (runs.runs.empty()) return out;
  const CompactionRun& base = runs.runs.front();
  StrAppend(&out,
            fmt::format("\nmachines needed: {} of {} ({}); {}, {} to {}, seed {}\n",
                        FormatCount(base.result.needed), FormatCount(cell.model.machines.size()),
                        Percent(base.result.needed / machines), Counted(base.result.trials.size(), "trial"),
                        FormatCount(base.result.min), FormatCount(base.result.max), args.seed));
  if (!runs.one_less.empty()) out += SentenceLines(StrCat("with one less, ", runs.one_less));
  TextTable table(
      {"experiment", "cells", "machines", "min..max", "of the\ncell", "against\nbase", "Borg's\npaper"});
  std::string notes;
  for (const CompactionRun& run : runs.runs) {
    if (!run.not_run.empty()) {
      StrAppend(&notes, run.experiment->name, ": not run, ", Printable(run.not_run), "\n");
      continue;
    }
    if (run.left_out > 0)
      StrAppend(&notes, run.experiment->name, ": ", FormatCount(run.left_out),
                run.left_out == 1 ? " job is" : " jobs are", " left out\n");
    if (run.cut_to_machine > 0)
      StrAppend(&notes, run.experiment->name, ": ", FormatCount(run.cut_to_machine),
                run.cut_to_machine == 1 ? " job asks" : " jobs ask",
                " for more than a machine has, which counts as the machine\n");
    table.Add({std::string(run.experiment->name), StrCat(run.cells), FormatCount(run.result.needed),
               StrCat(run.result.min, "..", run.result.max), Percent(run.result.needed / machines),
               &run == &base ? "" : fmt::format("{:+.1f} %", 100 * Change(run, base)),
               std::string(run.experiment->published)});
  }
  if (runs.softened > 0)
    StrAppend(&notes, "constraints are preferences for ", FormatCount(runs.softened),
              runs.softened == 1 ? " job" : " jobs", " larger than half of the cell\n");
  return StrCat(out, "\n", table.Render(), notes, "machines: 90th percentile of the trials with at most ",
                fmt::format("{:g}", args.pending_percent),
                " % of the tasks pending; against base:\n"
                "machines more than the cell as it is. `taut list experiments` describes the rows.\n");
}

Json RunJson(const CompactionRun& run, const CompactionRun& base) {
  Json one = {{"experiment", run.experiment->name}, {"published", run.experiment->published}};
  if (!run.not_run.empty()) {
    one["not_run"] = run.not_run;
    return one;
  }
  one["cells"] = run.cells;
  one["machines"] = run.result.needed;
  one["min"] = run.result.min;
  one["max"] = run.result.max;
  one["change"] = Change(run, base);
  one["trials"] = run.result.trials;
  one["tasks"] = run.result.tasks;
  one["jobs_left_out"] = run.left_out;
  one["jobs_cut_to_machine"] = run.cut_to_machine;
  return one;
}

Json ResultJson(const Cell& cell, const CompactArgs& args, const CompactionRuns& runs,
                const AfterPacking& after, bool partial) {
  Json resources = Json::array(), rows = Json::array();
  for (size_t r = 0; r < cell.model.resources.size(); ++r) {
    const CellLoad load = LoadOf(cell.model, r);
    resources.push_back({{"resource", cell.model.resources[r].name},
                         {"limit", load.limit},
                         {"production_limit", load.production_limit},
                         {"reservation", load.reservation}});
  }
  for (const CompactionRun& run : runs.runs) {
    rows.push_back(RunJson(run, runs.runs.front()));
    if (Json usage = after.Of(run.experiment); !usage.is_null()) rows.back()["after"] = std::move(usage);
    for (const CellDemand& demand : cell.demands.all) {
      if (demand.name == run.experiment->name) rows.back()["demand"] = DemandJson(cell.model, demand);
    }
  }
  return {{"partial", partial},
          {"machines", cell.model.machines.size()},
          {"jobs", cell.model.jobs.size()},
          {"tasks", cell.model.tasks()},
          {"resources", std::move(resources)},
          {"at_seconds", cell.at_s.has_value() ? Json(*cell.at_s) : Json(nullptr)},
          {"usage", cell.usage.has_value() ? UsageJson(*cell.usage) : Json(nullptr)},
          {"after_seconds", after.Seconds()},
          {"skipped_rows", SkippedJson(cell.report)},
          {"kept_rows", KeptJson(cell.report)},
          {"findings", FindingsJson(cell.findings)},
          {"score", args.score},
          {"stranded_weight", args.stranded_weight},
          {"seed", args.seed},
          {"trials", args.trials},
          {"pending_percent", args.pending_percent},
          {"large_user_percent", args.large_user_percent},
          {"packed", {{"pending", runs.packed.pending}, {"why", runs.packed.why}}},
          {"impossible", {{"jobs", runs.impossible_jobs}, {"tasks", runs.impossible_tasks}}},
          {"jobs_softened", runs.softened},
          {"one_less", runs.one_less},
          {"experiments", std::move(rows)}};
}

// Adds one experiment per recommender and predictor, after the experiments that the user requested.
absl::Status AddDemands(const CompactArgs& args, Cell& cell, CompactionRunsOptions& options,
                        std::deque<brain::CellExperiment>& experiments) {
  if (!AsksForDemands(args)) return absl::OkStatus();
  absl::StatusOr<CellDemands> demands = DemandsOf(args, *cell.usage, cell.model);
  if (!demands.ok()) return demands.status();
  cell.demands = *std::move(demands);
  for (const CellDemand& demand : cell.demands.all) {
    experiments.push_back(demand.loads != nullptr ? brain::LoadsExperiment(demand.name, "", demand.loads)
                          : demand.is_limits
                              ? brain::LimitsExperiment(demand.name, "", demand.amounts)
                              : brain::ReservationsExperiment(demand.name, "", demand.amounts));
    options.experiments.push_back(&experiments.back());
  }
  return absl::OkStatus();
}

absl::StatusOr<CompactionRuns> RunAll(const Cell& cell, const CompactionRunsOptions& options,
                                      AfterPacking& after, bool quiet) {
  ProgressLine progress(quiet);
  CompactionRunsHooks hooks;
  hooks.on_progress = [&](std::string_view what, double share) {
    progress.Update(StrCat("compacting: ", what), share);
  };
  hooks.should_stop = Interrupted;
  if (after.wanted())
    hooks.on_packing = [&](const CompactionRun& run, const brain::CellModel& part, uint32_t trial,
                           const brain::TrialPacking& packing) { after.Take(run, part, trial, packing); };
  return RunCompactions(cell.model, options, hooks);
}

int FailOrInterrupted(const absl::Status& status) {
  if (!absl::IsCancelled(status)) return Fail(status);
  PrintError(Message(status));
  return kExitPartial;
}

}  // namespace

int RunCompact(const CompactArgs& args) {
  absl::StatusOr<CompactionRunsOptions> options = ToOptions(args);
  if (!options.ok()) return Fail(options.status());
  if (absl::Status s = CheckDemandArgs(args); !s.ok()) return Fail(s);
  if (absl::Status s = CheckAfter(args); !s.ok()) return Fail(s);
  const NamedPath outputs[] = {{"--json", args.json}, {"--placements", args.placements}};
  std::vector<std::string> inputs = args.files.paths;
  inputs.insert(inputs.end(), args.usage.begin(), args.usage.end());
  inputs.push_back(args.engine.settings_file);
  if (absl::Status s = CheckOutputs(outputs, inputs); !s.ok()) return Fail(s);
  std::unique_ptr<OutputFile> files[2];
  for (size_t i = 0; i < std::size(files); ++i) {
    absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(outputs[i]);
    if (!file.ok()) return Fail(file.status());
    files[i] = *std::move(file);
  }
  CatchInterrupts();
  absl::StatusOr<Cell> cell = LoadCell(args);
  if (!cell.ok()) return FailOrInterrupted(cell.status());
  std::deque<brain::CellExperiment> experiments;  // must outlive the result, which points to the experiments
  if (absl::Status s = AddDemands(args, *cell, *options, experiments); !s.ok()) return FailOrInterrupted(s);
  AfterPacking after;
  if (absl::Status s = after.Begin(args, cell->usage, cell->model, files[1].get()); !s.ok())
    return FailOrInterrupted(s);
  const absl::StatusOr<CompactionRuns> runs = RunAll(*cell, *options, after, args.quiet);
  if (!runs.ok()) return Fail(runs.status());
  // After an interrupt, skip the measurement and report the numbers of machines found so far.
  const absl::Status measured = runs->partial ? absl::OkStatus() : after.Measure();
  if (!measured.ok() && !absl::IsCancelled(measured)) return Fail(measured);
  const bool partial = runs->partial || !measured.ok();
  const std::string json = JsonText(ResultJson(*cell, args, *runs, after, partial));
  if (files[0] != nullptr) files[0]->Append(json);
  for (const std::unique_ptr<OutputFile>& file : files) {
    if (file == nullptr) continue;
    if (absl::Status s = file->Close(); !s.ok()) return Fail(s);
  }
  if (args.output != OutputForm::kTable) {
    Print(FormattedText(args.output, json));
  } else {
    Print(DescribeCell(*cell));
    if (partial) Print("PARTIAL: interrupted\n");
    Print(Text(*cell, args, *runs));
    if (!cell->demands.all.empty()) Print(StrCat("\n", DemandsText(cell->model, cell->demands)));
    if (const std::string text = after.Text(); !text.empty()) Print(StrCat("\n", text));
    if (!args.json.empty()) Print(StrCat("results: ", args.json, "\n"));
    if (!args.placements.empty()) Print(StrCat("placements: ", args.placements, "\n"));
  }
  return partial ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
