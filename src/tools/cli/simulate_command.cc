#include "tools/cli/simulate_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/simulate_text.h"
#include "tools/cli/terminal.h"
#include "tools/report/cell_page.h"
#include "tools/report/page.h"
#include "tools/sim/cell_runs.h"

namespace taut::tools {
namespace {

constexpr double kMostMadeTasks = 20e6;

// A cell with events, and a description of its source.
struct TimedCell {
  brain::CellModel model;
  brain::CellWorkload workload;
  ReadReport report;
  std::vector<brain::CellFinding> findings;
  std::string about;  // lines for users about the source
};

absl::StatusOr<int64_t> Milliseconds(std::string_view option, const std::string& text) {
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(seconds.status())));
  if (*seconds > brain::kMaxCellTime / 1000)
    return absl::InvalidArgumentError(
        StrCat("invalid ", option, " ", text, ": expected at most ", brain::kMaxCellTime / 1000, " s"));
  return *seconds * 1000;
}

absl::Status CheckMade(const brain::MadeCellEventsOptions& made) {
  const auto bad = [](std::string_view option, auto value, std::string_view expected) {
    return absl::InvalidArgumentError(StrCat("invalid --", option, " ", value, ": expected ", expected));
  };
  const brain::MadeCellOptions& cell = made.cell;
  if (cell.machines < 1 || cell.machines > 100'000) return bad("machines", cell.machines, "1 to 100000");
  if (!(cell.tasks_per_machine >= 1 && cell.tasks_per_machine <= 100))
    return bad("tasks-per-machine", cell.tasks_per_machine, "1 to 100");
  if (!(cell.other_cpu >= 0 && cell.other_cpu <= 10)) return bad("load", cell.other_cpu, "0 to 10");
  if (!(made.failure_days >= 0)) return bad("failure-days", made.failure_days, "0 or more");
  if (!(made.maintenance_days == 0 || made.maintenance_days >= 0.1))
    return bad("maintenance-days", made.maintenance_days, "0, or 0.1 or more");
  if (!(made.failure_days == 0 || made.failure_days >= 0.01))
    return bad("failure-days", made.failure_days, "0, or 0.01 or more");
  if (!(made.changes_a_day >= 0 && made.changes_a_day <= 1000))
    return bad("limit-changes", made.changes_a_day, "0 to 1000");
  const double tasks = brain::MadeTasks(made);
  if (tasks > kMostMadeTasks)
    return absl::InvalidArgumentError(StrCat(
        "--machines, --tasks-per-machine and --time make about ", FormatCount(static_cast<uint64_t>(tasks)),
        " tasks: expected at most ", FormatCount(static_cast<uint64_t>(kMostMadeTasks))));
  return absl::OkStatus();
}

absl::StatusOr<CellRunsOptions> ToOptions(const SimulateArgs& args) {
  CellRunsOptions o;
  const absl::StatusOr<brain::CellScore> score = brain::CellScoreByName(args.score);
  if (!score.ok()) return score.status();
  o.simulation.scheduler.scoring.score = *score;
  o.simulation.scheduler.enough = args.enough;
  o.simulation.scheduler.seed = o.simulation.seed = args.made.cell.seed;
  const absl::StatusOr<int64_t> pass = Milliseconds("--pass-every", args.pass_every);
  if (!pass.ok()) return pass.status();
  o.simulation.pass_every_ms = *pass;
  if (args.threads < 0) return absl::InvalidArgumentError("--threads: expected 0 (one per core) or more");
  o.threads = args.threads;
  for (const std::string& name : args.compare) {
    const absl::StatusOr<const CellSetup*> setup = CellSetupByName(name);
    if (!setup.ok()) return absl::InvalidArgumentError(StrCat("--compare: ", Message(setup.status())));
    o.setups.push_back(*setup);
  }
  return o;
}

// Returns the later of the time of the last event and the end of the last job, computed as if no job had to wait.
int64_t LastTime(const brain::CellWorkload& workload) {
  int64_t last = 1000;
  for (const brain::CellEvent& e : workload.events) {
    last = std::max(last, e.time_ms);
    if (e.kind != brain::CellEventKind::kSubmit || workload.runs[e.id].run_ms == brain::kNoEnd) continue;
    last = std::max(last, e.time_ms + workload.runs[e.id].run_ms);
  }
  return last;
}

absl::Status CheckEvents(TimedCell& cell) {
  absl::StatusOr<std::vector<brain::CellFinding>> findings =
      brain::CheckCellWorkload(cell.model, cell.workload);
  if (!findings.ok()) return findings.status();
  for (brain::CellFinding& f : *findings) cell.findings.push_back(std::move(f));
  return absl::OkStatus();
}

// Reads or generates a cell with events, and sets the times in `options`.
absl::StatusOr<TimedCell> MakeTimedCell(const SimulateArgs& args, brain::CellSimulationOptions& options) {
  TimedCell cell;
  const absl::StatusOr<int64_t> time = Milliseconds("--time", args.time);
  if (!time.ok()) return time.status();
  options.end_ms = *time;
  options.warmup_ms = *time / 4;
  brain::MadeCellEventsOptions made = args.made;
  made.days = static_cast<double>(*time) / 86'400'000;
  if (absl::Status s = CheckMade(made); !s.ok()) return s;
  if (!args.until.empty()) return absl::InvalidArgumentError("--until: of files only; see --time");
  if (*time == 0) return absl::InvalidArgumentError("invalid --time 0: expected more than 0");
  brain::MadeCellEvents events = brain::MakeCellEvents(made);
  cell.model = std::move(events.model);
  cell.workload = std::move(events.workload);
  absl::StatusOr<std::vector<brain::CellFinding>> findings = brain::CheckCell(cell.model);
  if (!findings.ok()) return findings.status();
  cell.findings = *std::move(findings);
  cell.about = StrCat("a generated cell (seed ", args.made.cell.seed, ")\n");
  if (absl::Status s = CheckEvents(cell); !s.ok()) return s;
  return cell;
}

absl::StatusOr<TimedCell> ReadTimedCell(const SimulateArgs& args, brain::CellSimulationOptions& options) {
  TimedCell cell;
  const absl::StatusOr<TraceOptions> read = ToTraceOptions(args.files);
  if (!read.ok()) return read.status();
  absl::StatusOr<LoadedCell> input = LoadCellFiles(*read, args.quiet);
  if (!input.ok()) return input.status();
  cell.report = std::move(input->report);
  cell.model = std::move(input->model);
  cell.workload = std::move(input->workload);
  cell.findings = std::move(input->findings);
  cell.about = ReadText(cell.report);
  if (absl::Status s = CheckEvents(cell); !s.ok()) return s;
  options.end_ms = LastTime(cell.workload);
  if (args.until.empty()) return cell;
  const absl::StatusOr<int64_t> until = Milliseconds("--until", args.until);
  if (!until.ok()) return until.status();
  options.end_ms = *until;
  return cell;
}

// Writes the steps of a simulation as CSV in the format of docs/reference/traces.md.
class StepWriter {
 public:
  StepWriter(const brain::CellModel& model, OutputFile& out) : model_(model), out_(out), index_(model) {
    out_.Append("time_s,event,job,task,machine,cause\n");
    machine_.resize(index_.tasks(), brain::kNowhere);
  }
  void Add(const brain::CellStep& s) {
    std::string job, task, machine;
    if (s.kind >= brain::CellStepKind::kOut) {
      machine = model_.machines[s.id].name;
    } else if (s.kind == brain::CellStepKind::kSubmitted || s.kind == brain::CellStepKind::kLimit) {
      job = model_.jobs[s.id].name;
    } else {
      const uint32_t number = index_.job_of(s.id);
      job = model_.jobs[number].name;
      task = StrCat(s.id - index_.first_task(number));
      if (s.kind == brain::CellStepKind::kStarted) machine_[s.id] = s.machine;
      if (machine_[s.id] != brain::kNowhere) machine = model_.machines[machine_[s.id]].name;
      if (s.kind == brain::CellStepKind::kEvicted) machine_[s.id] = brain::kNowhere;
    }
    out_.Append(fmt::format("{:.3f},{},{},{},{},{}\n", static_cast<double>(s.time_ms) / 1000, Name(s.kind),
                            Quoted(job), task, Quoted(machine),
                            s.kind == brain::CellStepKind::kEvicted ? Name(s.cause) : std::string_view()));
  }

 private:
  static std::string Quoted(const std::string& name) {
    return name.find(',') == std::string::npos ? name : StrCat("\"", name, "\"");
  }

  const brain::CellModel& model_;
  OutputFile& out_;
  const brain::CellIndex index_;
  std::vector<uint32_t> machine_;  // current machine of each task
};

struct Outputs {
  std::unique_ptr<OutputFile> json, report, events;
};

absl::StatusOr<Outputs> OpenOutputs(const SimulateArgs& args) {
  const NamedPath paths[] = {{"--json", args.json}, {"--report", args.report}, {"--events", args.events}};
  if (absl::Status s = CheckOutputs(paths, args.files.paths); !s.ok()) return s;
  if (absl::Status s = CheckPageOf(paths[1]); !s.ok()) return s;
  Outputs out;
  std::unique_ptr<OutputFile>* files[] = {&out.json, &out.report, &out.events};
  for (size_t i = 0; i < std::size(paths); ++i) {
    absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(paths[i]);
    if (!file.ok()) return file.status();
    *files[i] = *std::move(file);
  }
  return out;
}

std::string Describe(const TimedCell& cell, const brain::CellSimulationOptions& o) {
  std::string out = cell.about + FindingsText(cell.findings);
  StrAppend(&out, Counted(cell.model.machines.size(), "machine"), ", ",
            Counted(cell.model.jobs.size(), "job"), ", ", Counted(cell.model.tasks(), "task"), "; ",
            FormatDuration(o.end_ms / 1000));
  if (o.warmup_ms > 0) StrAppend(&out, ", the first ", FormatDuration(o.warmup_ms / 1000), " not measured");
  return out + "\n";
}

Json ResultJson(const TimedCell& cell, const SimulateArgs& args, const brain::CellSimulationOptions& o,
                std::vector<CellRun>& runs) {
  return {{"machines", cell.model.machines.size()},
          {"jobs", cell.model.jobs.size()},
          {"tasks", cell.model.tasks()},
          {"end_s", static_cast<double>(o.end_ms) / 1000},
          {"warmup_s", static_cast<double>(o.warmup_ms) / 1000},
          {"seed", args.made.cell.seed},
          {"score", args.score},
          {"skipped_rows", SkippedJson(cell.report)},
          {"kept_rows", KeptJson(cell.report)},
          {"findings", FindingsJson(cell.findings)},
          {"runs", SimulateJson(cell.model, runs)}};
}

absl::StatusOr<std::vector<CellRun>> RunAll(const TimedCell& cell, const CellRunsOptions& options,
                                            OutputFile* events, bool quiet) {
  ProgressLine progress(quiet);
  CellRunsHooks hooks;
  std::optional<StepWriter> writer;
  if (events != nullptr) {
    writer.emplace(cell.model, *events);
    hooks.on_step = [&](const brain::CellStep& step) { writer->Add(step); };
  }
  hooks.on_progress = [&](double share) { progress.Update("simulating", share); };
  hooks.should_stop = Interrupted;
  return RunCells(cell.model, cell.workload, options, hooks);
}

absl::Status WriteFiles(const TimedCell& cell, const SimulateArgs& args,
                        const brain::CellSimulationOptions& o, std::vector<CellRun>& runs, Outputs& files) {
  if (files.json != nullptr) {
    files.json->Append(JsonText(ResultJson(cell, args, o, runs)));
    if (absl::Status s = files.json->Close(); !s.ok()) return s;
  }
  if (files.report != nullptr) {
    files.report->Append(PageWith(
        DocumentJson(CellDocument({"A cell over time", Describe(cell, o), cell.model.resources}, runs))));
    if (absl::Status s = files.report->Close(); !s.ok()) return s;
  }
  return files.events != nullptr ? files.events->Close() : absl::OkStatus();
}

}  // namespace

int RunSimulate(const SimulateArgs& args) {
  absl::StatusOr<CellRunsOptions> options = ToOptions(args);
  if (!options.ok()) return Fail(options.status());
  absl::StatusOr<Outputs> files = OpenOutputs(args);
  if (!files.ok()) return Fail(files.status());
  CatchInterrupts();
  brain::CellSimulationOptions& o = options->simulation;
  absl::StatusOr<TimedCell> cell = args.files.paths.empty() ? MakeTimedCell(args, o) : ReadTimedCell(args, o);
  if (!cell.ok()) return Fail(cell.status());
  if (!args.warmup.empty()) {
    const absl::StatusOr<int64_t> warmup = Milliseconds("--warmup", args.warmup);
    if (!warmup.ok()) return Fail(warmup.status());
    if (*warmup >= o.end_ms) {
      return Fail(absl::InvalidArgumentError(StrCat("invalid --warmup ", args.warmup,
                                                    ": expected less than the simulated time, ",
                                                    FormatDuration(o.end_ms / 1000))));
    }
    o.warmup_ms = *warmup;
  }
  absl::StatusOr<std::vector<CellRun>> runs = RunAll(*cell, *options, files->events.get(), args.quiet);
  if (!runs.ok()) return Fail(runs.status());
  if (absl::Status s = WriteFiles(*cell, args, o, *runs, *files); !s.ok()) return Fail(s);
  const bool partial = std::ranges::any_of(*runs, [](const CellRun& r) { return r.totals.partial; });
  if (args.output != OutputForm::kTable) {
    Print(Formatted(args.output, ResultJson(*cell, args, o, *runs)));
  } else {
    Print(Describe(*cell, o));
    if (partial) Print("PARTIAL: interrupted\n");
    Print(SimulateText(cell->model, *runs));
    for (const auto& [what, path] : {std::pair{"results", &args.json}, std::pair{"report", &args.report},
                                     std::pair{"events", &args.events}}) {
      if (!path->empty()) Print(StrCat(what, ": ", *path, "\n"));
    }
  }
  return partial ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
