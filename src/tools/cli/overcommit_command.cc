// Implements `taut overcommit`.
#include "tools/cli/overcommit_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "brain/overcommit/predictors.h"
#include "common/base/csv_field.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/changed_defaults.h"
#include "tools/cli/answer.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/resource_option.h"
#include "tools/cli/terminal.h"
#include "tools/report/overcommit_page.h"
#include "tools/report/page.h"
#include "tools/sim/overcommit_intervals.h"
#include "tools/sim/overcommit_replay.h"
#include "tools/sim/recorded_overcommit.h"

namespace taut::tools {
namespace {

absl::StatusOr<int64_t> Duration(std::string_view option, const std::string& text) {
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(seconds.status())));
  if (*seconds >= kWindowSeconds && *seconds <= 365 * kDaySeconds && *seconds % kWindowSeconds == 0)
    return *seconds;
  return absl::InvalidArgumentError(
      StrCat("invalid ", option, " \"", text, "\": expected 5m to 365d, in steps of 5m"));
}

absl::StatusOr<OvercommitOptions> ToOptions(const OvercommitArgs& args) {
  OvercommitOptions o;
  const OvercommitArgs unset;
  // --seed is allowed with --soft, which also draws tiers.
  if (args.machines == kRecordedMachines &&
      (args.machine_tasks != unset.machine_tasks || args.placements != unset.placements ||
       (args.seed != unset.seed && !args.soft))) {
    return absl::InvalidArgumentError(
        "--machine-tasks, --placements and --seed: expected with --machines made; recorded machines have the "
        "tasks that the trace says");
  }
  if (!(args.warmup_days >= 0 && args.warmup_days <= 3650)) {
    return absl::InvalidArgumentError(
        StrCat("invalid --warmup-days ", args.warmup_days, ": expected 0 to 3650"));
  }
  const absl::StatusOr<int64_t> every = Duration("--every", args.every);
  if (!every.ok()) return every.status();
  const absl::StatusOr<int64_t> horizon = Duration("--horizon", args.horizon);
  if (!horizon.ok()) return horizon.status();
  o.every_s = *every;
  o.settings.horizon_h = static_cast<double>(*horizon) / 3600;
  o.warmup_s = Whole(args.warmup_days * kDaySeconds);
  o.machine_tasks = args.machine_tasks;
  o.placements = args.placements;
  o.seed = args.seed;
  const absl::Status restored =
      server::RestoreDefaults(args.compatibility, server::kScopeOvercommit, server::ChangedDefaults(),
                              [&o](std::string_view key, std::string_view value) {
                                return brain::SetOvercommitSetting(key, value, o.settings);
                              });
  if (!restored.ok()) return absl::InvalidArgumentError(StrCat("--compatibility: ", Message(restored)));
  SettingNotices notices;
  for (const std::string& assignment : args.set) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      return absl::InvalidArgumentError(StrCat("--set: expected key=value, not \"", assignment, "\""));
    const absl::Status s = brain::SetOvercommitSetting(assignment.substr(0, equals),
                                                       assignment.substr(equals + 1), o.settings, &notices);
    if (!s.ok()) return absl::InvalidArgumentError(StrCat("--set: ", Message(s)));
  }
  o.predictors = args.predictors;
  if (o.predictors.empty()) {
    for (const brain::PeakPredictorInfo& p : brain::PeakPredictors()) o.predictors.emplace_back(p.name);
    o.predictors.emplace_back(kOracle);
  }
  for (const std::string& name : o.predictors) {
    if (name == kOracle) continue;
    // The name of a predictor ends at ':'; its settings follow.
    const std::string_view its = std::string_view(name).substr(0, name.find(':'));
    const absl::Status known =
        brain::FindPeakPredictor(its).ok()
            ? brain::NewPeakPredictor(name, o.settings, &notices).status()
            : UnknownName("peak predictor", its, RowNames(brain::PeakPredictors(), {kOracle}));
    if (!known.ok()) return absl::InvalidArgumentError(StrCat("--predictors: ", Message(known)));
  }
  for (const std::string& notice : notices) Warn(notice);
  return o;
}

// Columns of the CSV with one row per prediction. Each printed number parses to the same double.
constexpr std::string_view kDecisionsHeader =
    "time_s,resource,placement,machine,predictor,limit,predicted,oracle,reason\n";

void Append(const OvercommitDecision& d, OutputFile& out) {
  Reason reason;
  if (d.decider != nullptr) d.decider->Explain(d.machine_number, reason);
  out.Append(fmt::format("{},{},{},{},{},{},{},{},{}\n", d.time_s, Name(d.resource), d.placement,
                         d.machine_name.empty() ? StrCat(d.machine) : CsvField(d.machine_name),
                         CsvField(d.predictor), d.limit, d.predicted, d.oracle, CsvField(reason.sentence)));
}

std::string LeftOutText(const OvercommitResult& result) {
  std::string out;
  for (const auto& [count, why] : {std::pair{result.not_throughout, "not measured throughout the trace"},
                                   std::pair{result.without_limit, "without an owner's limit"},
                                   std::pair{result.left_over, "of each placement, which fill no machine"}}) {
    if (count > 0)
      StrAppend(&out, out.empty() ? "  left out: " : ", ", count, count == 1 ? " task " : " tasks ", why);
  }
  return out.empty() ? out : out + "\n";
}

// Describes the replayed input for users.
std::string ReadText(const OvercommitResult& result, const OvercommitOptions& options) {
  std::string out =
      result.of_recorded
          ? RecordedUseText(result.resource, result.tasks, result.machines, result.recorded)
          : fmt::format(
                "{}: {} tasks present throughout, {} machines of {} tasks ({} placement{}, seed {})\n",
                Name(result.resource), result.tasks, result.machines, options.machine_tasks,
                options.placements, options.placements == 1 ? "" : "s", options.seed);
  out += LeftOutText(result);
  if (result.unscored > 0) {
    StrAppend(&out, "  not scored: ", FormatCount(result.unscored),
              " machine-times whose horizon was measured for less than half\n");
  }
  return out;
}

std::string FootprintText(const ScoreInterval& i) { return fmt::format("{:.3f} to {:.3f}", i.low, i.high); }
std::string ShareText(const ScoreInterval& i) {
  return fmt::format("{:.2f} to {}", 100 * i.low, Percent(i.high, 2));
}

std::string Text(const OvercommitResult& result, const OvercommitOptions& options) {
  const bool of_capacity = result.of_recorded && result.recorded.capacity > 0;
  std::vector<std::string> head = {"predictor", "footprint", "95 %",    "below\noracle",
                                   "95 %",      "severity",  "savings", "predictions"};
  if (of_capacity) head.emplace_back("of\ncapacity");
  TextTable table(head);
  for (const OvercommitResult::Row& row : result.rows) {
    const OvercommitScore& s = row.total;
    const std::optional<ScoreIntervals> intervals = IntervalsOf(result, row);
    std::vector<std::string> cells = {row.predictor,
                                      fmt::format("{:.3f}", s.footprint()),
                                      intervals ? FootprintText(intervals->footprint) : "",
                                      Percent(s.below_share(), 2),
                                      intervals ? ShareText(intervals->below_share) : "",
                                      Percent(s.severity(), 1),
                                      Percent(s.mean_savings(), 1),
                                      FormatCount(s.predictions)};
    if (of_capacity) cells.push_back(Percent(s.capacity_share(), 1));
    table.Add(cells);
  }
  return ReadText(result, options) + table.Render();
}

std::string TimesText(const OvercommitOptions& options) {
  return fmt::format(
      "a prediction every {} of the peak of the next {}; the first {:.4g} days are not scored\n",
      FormatDuration(options.every_s), FormatDuration(options.horizon_s()),
      static_cast<double>(options.warmup_s) / kDaySeconds);
}
constexpr std::string_view kPartial = "PARTIAL: interrupted\n";

constexpr std::string_view kLegend =
    "footprint: sum of predictions over the owners' limits; below oracle: share of predictions below the\n"
    "peak that came; severity: mean of (peak - prediction) / peak among these; savings: mean over machines\n"
    "and times of 1 - prediction / limits; 95 %: interval of the figure before it, by drawing as many of the\n"
    "machines as one placement has.\n";
constexpr std::string_view kCapacityLegend =
    "of capacity: sum of predictions over the capacity of the machines they are for, where it is known.\n";

Json ScoreJson(const OvercommitScore& s) {
  return {{"predictions", s.predictions},
          {"footprint", s.footprint()},
          {"below_share", s.below_share()},
          {"severity", s.severity()},
          {"mean_savings", s.mean_savings()},
          {"oracle_footprint", s.limit > 0 ? s.oracle / s.limit : 0},
          {"mean_limit", OvercommitScore::Mean(s.limit, s.predictions)}};
}

Json IntervalsJson(const std::optional<ScoreIntervals>& intervals) {
  if (!intervals) return nullptr;
  return {{"footprint", {intervals->footprint.low, intervals->footprint.high}},
          {"below_share", {intervals->below_share.low, intervals->below_share.high}}};
}

Json ResultJson(const std::vector<OvercommitResult>& results, const OvercommitOptions& o,
                const ReadReport& report) {
  Json resources = Json::array();
  bool partial = false;
  for (const OvercommitResult& result : results) {
    partial = partial || result.partial;
    Json rows = Json::array();
    for (const OvercommitResult::Row& row : result.rows) {
      Json one = {{"predictor", row.predictor},
                  {"total", ScoreJson(row.total)},
                  {"intervals", IntervalsJson(IntervalsOf(result, row))}};
      for (const auto& [key, scores] :
           {std::pair{"by_placement", &row.by_placement}, std::pair{"by_machine", &row.by_machine}}) {
        one[key] = Json::array();
        for (size_t i = 0; i < scores->size(); ++i) {
          const OvercommitScore& s = (*scores)[i];
          const bool recorded = result.of_recorded;
          if (recorded && s.predictions == 0) continue;
          one[key].push_back(ScoreJson(s));
          if (recorded && scores == &row.by_machine) one[key].back()["machine"] = result.recorded.machines[i];
        }
      }
      if (result.of_recorded && row.total.capacity > 0)
        one["total"]["of_capacity"] = row.total.capacity_share();
      rows.push_back(std::move(one));
    }
    resources.push_back({{"resource", Name(result.resource)},
                         {"tasks", result.tasks},
                         {"machines", result.machines},
                         {"unscored", result.unscored},
                         {"predictors", std::move(rows)}});
    if (!result.of_recorded) {
      resources.back()["left_out"] = {{"not_throughout", result.not_throughout},
                                      {"without_limit", result.without_limit},
                                      {"left_over", result.left_over}};
    }
    if (result.of_recorded) resources.back()["recorded"] = RecordedUseJson(result.recorded);
  }
  const bool recorded = !results.empty() && results.front().of_recorded;
  Json out = {{"partial", partial},
              {"machine_tasks", o.machine_tasks},
              {"placements", o.placements},
              {"seed", o.seed},
              {"warmup_seconds", o.warmup_s},
              {"every_seconds", o.every_s},
              {"horizon_seconds", o.horizon_s()},
              {"resources", std::move(resources)}};
  if (!recorded) return out;
  for (const char* const made : {"machine_tasks", "placements", "seed"}) out.erase(made);
  out["skipped_rows"] = SkippedJson(report);
  out["kept_rows"] = KeptJson(report);
  return out;
}

absl::StatusOr<OvercommitResult> ReplayMade(LoadedTrace& trace, Resource resource,
                                            const OvercommitOptions& options, const OvercommitHooks& hooks) {
  const absl::StatusOr<PlacedTasks> placed = ReadPlacedTasks(trace, resource);
  if (!placed.ok()) return placed.status();
  return ReplayOvercommit(*placed, options, hooks);
}

absl::StatusOr<std::vector<OvercommitResult>> ReplayAll(LoadedTrace& trace, const OvercommitOptions& options,
                                                        const std::vector<Resource>& resources,
                                                        WithMachines recorded, OutputFile* decisions,
                                                        bool quiet) {
  ProgressLine progress(quiet);
  std::vector<OvercommitResult> out;
  for (const Resource resource : resources) {
    OvercommitHooks hooks;
    if (decisions != nullptr)
      hooks.on_decision = [decisions](const OvercommitDecision& d) { Append(d, *decisions); };
    hooks.on_progress = [&](double share) { progress.Update(StrCat("replaying ", Name(resource)), share); };
    hooks.should_stop = Interrupted;
    absl::StatusOr<OvercommitResult> result =
        recorded == WithMachines::kYes
            ? ReplayRecordedOvercommit(trace, trace.machines, resource, options, hooks)
            : ReplayMade(trace, resource, options, hooks);
    if (!result.ok()) return result.status();
    out.push_back(*std::move(result));
    if (out.back().partial) break;
  }
  return out;
}

absl::Status WritePage(const OvercommitArgs& args, const std::vector<OvercommitResult>& results,
                       const OvercommitOptions& options, bool partial, OutputFile* file) {
  if (file == nullptr) return absl::OkStatus();
  OvercommitPage page{
      fmt::format("Peak predictions for machines {} {}",
                  args.machines == kRecordedMachines ? "as recorded in" : "made of the tasks in",
                  Join(args.trace.paths, ", ")),
      StrCat(TimesText(options), partial ? kPartial : "")};
  for (const OvercommitResult& result : results) page.read.push_back(ReadText(result, options));
  file->Append(PageWith(DocumentJson(OvercommitDocument(page, results))));
  return file->Close();
}

absl::Status CloseFile(OutputFile* file) { return file != nullptr ? file->Close() : absl::OkStatus(); }

}  // namespace

std::string RecordedUseText(Resource resource, size_t tasks, size_t machines, const RecordedUse& use) {
  std::string out = fmt::format("{}: {} tasks on {} machines as recorded: {} task-windows, {} moves\n",
                                Name(resource), FormatCount(tasks), FormatCount(machines),
                                FormatCount(use.task_windows), FormatCount(use.moves));
  for (const auto& [count, why] : {std::pair{use.without_machine, "whose machine is not known"},
                                   std::pair{use.without_limit, "without an owner's limit"}}) {
    if (count > 0) StrAppend(&out, "  left out: ", FormatCount(count), " task-windows ", why, "\n");
  }
  if (use.capacity > 0) {
    StrAppend(&out, "  of the capacity of machines with tasks: limits ", Percent(use.limit / use.capacity, 1),
              ", usage ", Percent(use.usage / use.capacity, 1), "\n");
  }
  return out + FindingsText(use.findings);
}

Json RecordedUseJson(const RecordedUse& use) {
  return {{"task_windows", use.task_windows},
          {"without_machine", use.without_machine},
          {"without_limit", use.without_limit},
          {"moves", use.moves},
          {"machine_windows", use.machine_windows},
          {"machine_windows_without_capacity", use.without_capacity},
          {"limit_of_capacity", use.capacity > 0 ? Json(use.limit / use.capacity) : Json(nullptr)},
          {"usage_of_capacity", use.capacity > 0 ? Json(use.usage / use.capacity) : Json(nullptr)},
          {"findings", FindingsJson(use.findings)}};
}

int RunOvercommit(const OvercommitArgs& args) {
  const absl::StatusOr<OvercommitOptions> options = ToOptions(args);
  if (!options.ok()) return Fail(options.status());
  const absl::StatusOr<std::vector<Resource>> resources = ToResources(args.resources);
  if (!resources.ok()) return Fail(resources.status());
  if (args.soft) return RunSoftMemory(args, *options);
  if (!args.tiers.empty() || !args.kills.empty() || !args.settings_file.empty())
    return Fail(absl::InvalidArgumentError("--tiers, --kills and --settings: expected together with --soft"));
  const NamedPath outputs[] = {{"--json", args.json}, {"--decisions", args.decisions}, {"--html", args.html}};
  if (absl::Status s = CheckOutputs(outputs, args.trace.paths); !s.ok()) return Fail(s);
  if (absl::Status s = CheckPageOf(outputs[2]); !s.ok()) return Fail(s);
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput(outputs[0]);
  if (!file.ok()) return Fail(file.status());
  absl::StatusOr<std::unique_ptr<OutputFile>> decisions = OpenOutput(outputs[1]);
  if (!decisions.ok()) return Fail(decisions.status());
  const absl::StatusOr<std::unique_ptr<OutputFile>> html = OpenOutput(outputs[2]);
  if (!html.ok()) return Fail(html.status());
  if (*decisions != nullptr) (*decisions)->Append(kDecisionsHeader);
  CatchInterrupts();
  const WithMachines recorded = args.machines == kRecordedMachines ? WithMachines::kYes : WithMachines::kNo;
  const absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet, recorded);
  if (!trace.ok()) return Fail(trace.status());
  absl::StatusOr<std::vector<OvercommitResult>> results =
      ReplayAll(**trace, *options, *resources, recorded, decisions->get(), args.quiet);
  if (!results.ok()) return Fail(results.status());
  const bool partial = (*trace)->interrupted || (!results->empty() && results->back().partial);
  if (partial && !results->empty()) results->back().partial = true;
  const std::string json = JsonText(ResultJson(*results, *options, (*trace)->report()));
  if (*file != nullptr) (*file)->Append(json);
  if (absl::Status s = CloseFile(file->get()); !s.ok()) return Fail(s);
  if (absl::Status s = CloseFile(decisions->get()); !s.ok()) return Fail(s);
  if (absl::Status s = WritePage(args, *results, *options, partial, html->get()); !s.ok()) return Fail(s);
  if (args.output != OutputForm::kTable) {
    Print(FormattedText(args.output, json));
  } else {
    Print(DescribeInput(**trace));
    Print(TimesText(*options));
    if (partial) Print(kPartial);
    for (const OvercommitResult& result : *results) Print(StrCat("\n", Text(result, *options)));
    Print(StrCat("\n", kLegend, recorded == WithMachines::kYes ? kCapacityLegend : std::string_view()));
    if (!args.html.empty()) Print(StrCat("report: ", args.html, "\n"));
    if (!args.json.empty()) Print(StrCat("results: ", args.json, "\n"));
    if (!args.decisions.empty()) Print(StrCat("decisions: ", args.decisions, "\n"));
  }
  return partial ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
