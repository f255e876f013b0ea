#include "tools/cli/cell_usage.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "brain/cell/cell_events.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/terminal.h"
#include "tools/trace/recorded_reader.h"

namespace taut::tools {
namespace {

// Minimum time from the end of usage to the cell's time that the command reports, in seconds.
constexpr int64_t kGap = 3600;

absl::StatusOr<CellDemandsOptions> ToDemandOptions(const CompactArgs& args) {
  CellDemandsOptions o;
  if (!args.engine.recommenders.empty()) {
    EngineArgs engine = args.engine;
    engine.threads = args.threads;
    absl::StatusOr<ReplayOptions> replay = ToReplayOptions(engine);
    if (!replay.ok()) return replay.status();
    o.replay = *std::move(replay);
  }
  for (const std::string& spec : args.predictors) {
    if (const auto adds = AddsUpTasks(spec, o.overcommit); !adds.ok())
      return absl::InvalidArgumentError(StrCat("--predictors: ", Message(adds.status())));
    if (std::ranges::find(o.predictors, spec) == o.predictors.end()) o.predictors.push_back(spec);
  }
  return o;
}

// Returns an error if the event tables have no usage.
absl::Status CheckTablesOfUsage(const TraceOptions& options) {
  const absl::StatusOr<TraceContents> contents = LookInto(options);
  if (!contents.ok()) return contents.status();
  if (contents->usage) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "no usage among the event tables: expected the trace's tables of usage beside them (instance_usage, "
      "task_usage, container_usage), or --usage");
}

// Returns the cell with the demand's limits or reservations instead of the owners'. Demands for a machine's total
// load leave the cell unchanged.
brain::CellModel With(const brain::CellModel& cell, const CellDemand& demand) {
  if (demand.loads != nullptr) return cell;
  const brain::CellExperiment experiment =
      demand.is_limits ? brain::LimitsExperiment(demand.name, "", demand.amounts)
                       : brain::ReservationsExperiment(demand.name, "", demand.amounts);
  absl::StatusOr<brain::CellVariant> variant = experiment.make(cell, {});
  return variant.ok() ? std::move(variant->parts[0]) : cell;
}

// Returns text such as "1 job of 8 tasks without usage until then keeps what the owner asks for: a"; "" if all
// jobs have usage.
std::string KeptText(const CellDemand& demand) {
  if (demand.kept.empty()) return "";
  std::string out;
  if (demand.kept_jobs > 0)
    StrAppend(&out, FormatCount(demand.kept_jobs), demand.kept_jobs == 1 ? " job" : " jobs", " of ",
              FormatCount(demand.kept_tasks), demand.kept_tasks == 1 ? " task" : " tasks",
              " without usage until then");
  if (demand.partly_jobs > 0)
    StrAppend(&out, demand.kept_jobs > 0 ? ", and " : "", FormatCount(demand.partly_jobs),
              demand.partly_jobs == 1 ? " job" : " jobs", " without usage of CPU or memory");
  StrAppend(&out, demand.kept_jobs + demand.partly_jobs == 1 ? " keeps" : " keep",
            " what the owner asks for: ");
  for (size_t i = 0; i < demand.kept.size(); ++i)
    StrAppend(&out, i > 0 ? ", " : "", Printable(demand.kept[i]));
  if (demand.kept_jobs + demand.partly_jobs > demand.kept.size()) out += ", ...";
  return out;
}

// Returns one line per set of jobs that keep the owner's amounts, with the demands to which the line applies.
std::string KeptLines(const CellDemands& demands) {
  std::vector<std::pair<std::string, std::vector<std::string_view>>> groups;
  for (const CellDemand& demand : demands.all) {
    std::string text = KeptText(demand);
    if (text.empty()) continue;
    auto group = std::ranges::find(groups, text, [](const auto& g) -> const std::string& { return g.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {std::move(text), {}});
    group->second.push_back(demand.name);
  }
  std::string out;
  for (const auto& [text, names] : groups) {
    const std::string who =
        names.size() == demands.all.size() ? "in each of them" : StrCat("in ", Join(names, ", "));
    out += Wrapped(StrCat(who, " ", text), "  ");
  }
  return out;
}

}  // namespace

bool AsksForDemands(const CompactArgs& args) {
  return !args.engine.recommenders.empty() || !args.predictors.empty();
}

absl::Status CheckDemandArgs(const CompactArgs& args) {
  if (absl::StatusOr<CellDemandsOptions> o = ToDemandOptions(args); !o.ok()) return o.status();
  if (args.engine.recommenders.empty() && (!args.engine.settings_file.empty() || !args.engine.set.empty()))
    return absl::InvalidArgumentError("--settings and --set: expected together with --recommender");
  if (!args.files.paths.empty()) return absl::OkStatus();
  if (!args.usage.empty() || AsksForDemands(args)) {
    return absl::InvalidArgumentError(
        "--usage, --recommender and --predictors: a generated cell has no usage; expected files of a cell, "
        "for "
        "instance those that `taut trace generate DIR --format google2019` writes");
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SecondsOfAt(const CompactArgs& args) {
  const absl::StatusOr<int64_t> at = ParseDurationSeconds(args.at);
  if (!at.ok()) return absl::InvalidArgumentError(StrCat("--at: ", Message(at.status())));
  if (*at > brain::kMaxCellTime / 1000)
    return absl::InvalidArgumentError(
        StrCat("invalid --at ", args.at, ": expected at most ", brain::kMaxCellTime / 1000, "s"));
  return *at;
}

absl::StatusOr<CellUsage> LoadCellUsage(const CompactArgs& args, bool recorded, std::optional<int64_t> at_s) {
  TraceArgs files = args.files;
  if (!args.usage.empty()) {
    files.paths = args.usage;
  } else if (!recorded) {
    return absl::InvalidArgumentError(
        "--recommender and --predictors: files of machines and jobs have no usage; expected --usage with a "
        "trace "
        "of the same jobs");
  } else {
    const absl::StatusOr<TraceOptions> options = ToTraceOptions(files);
    if (!options.ok()) return options.status();
    if (absl::Status s = CheckTablesOfUsage(*options); !s.ok()) return s;
  }
  // A recorded cell places alloc sets as a whole, so usage is also read per alloc set.
  files.count_allocs = recorded;
  absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(files, args.quiet);
  if (!trace.ok()) return trace.status();
  if ((*trace)->interrupted) return absl::CancelledError("interrupted: there is no result");
  CellUsage out;
  const absl::StatusOr<UsageSpan> span = SpanOf(**trace);
  if (!span.ok()) return span.status();
  out.span = *span;
  out.until = out.span.end;
  if (recorded && at_s.has_value()) {
    out.until = WindowId::Of(Timestamp::FromSeconds(*at_s));
  } else if (!args.at.empty()) {
    const absl::StatusOr<int64_t> at = SecondsOfAt(args);
    if (!at.ok()) return at.status();
    out.until = WindowId::Of(Timestamp::FromSeconds(out.span.begin.start_s() + *at));
  }
  if (out.until <= out.span.begin)
    return absl::InvalidArgumentError(
        StrCat("no usage before ", FormatTime(out.until.start_s()), ", the time of the cell; it begins at ",
               FormatTime(out.span.begin.start_s()), ": expected a later --at"));
  out.trace = *std::move(trace);
  return out;
}

absl::StatusOr<CellDemands> DemandsOf(const CompactArgs& args, const CellUsage& usage,
                                      const brain::CellModel& cell) {
  absl::StatusOr<CellDemandsOptions> options = ToDemandOptions(args);
  if (!options.ok()) return options.status();
  options->until = usage.until;
  ProgressLine progress(args.quiet);
  CellDemandsHooks hooks;
  hooks.on_progress = [&](std::string_view what, double share) {
    progress.Update(StrCat("replaying ", what), share);
  };
  hooks.should_stop = Interrupted;
  return ReplayCellDemands(*usage.trace, cell, *options, hooks);
}

std::string UsageText(const CellUsage& usage) {
  const WindowId end = std::min(usage.until, usage.span.end);
  std::string out = StrCat("usage: ", ReadText(usage.trace->report()));
  // Days after the cell's time are not folded, so their duplicate rows are not counted.
  if (const uint64_t duplicates = usage.trace->store().report().duplicates; duplicates > 0)
    StrAppend(&out, "  merged ", FormatCount(duplicates), " duplicate rows (the larger value counts)\n");
  StrAppend(&out, FormatCount(usage.trace->jobs().size()), " jobs from ",
            FormatTime(usage.span.begin.start_s()), " to ", FormatTime(usage.span.end.start_s()),
            "; what counts: ", FormatDuration(end.start_s() - usage.span.begin.start_s()), " before ",
            FormatTime(usage.until.start_s()), "\n");
  const int64_t gap = usage.until.start_s() - usage.span.end.start_s();
  if (gap >= kGap) StrAppend(&out, "  the usage ends ", FormatDuration(gap), " earlier\n");
  return out;
}

std::string DemandsText(const brain::CellModel& cell, const CellDemands& demands) {
  TextTable table({"what tasks ask for", "cpu\nlimits", "memory\nlimits", "cpu\nreserved", "memory\nreserved",
                   "cpu\nover", "memory\nover"});
  const auto row = [&](std::string_view name, const brain::CellModel& model, const CellDemand* demand) {
    std::vector<std::string> cells = {std::string(name)};
    const CellLoad cpu = LoadOf(model, brain::kCellCpu);
    const CellLoad memory =
        model.resources.size() > brain::kCellMemory ? LoadOf(model, brain::kCellMemory) : CellLoad();
    for (const double share : {cpu.limit, memory.limit}) cells.push_back(Percent(share));
    // The peak of all tasks of a machine is not a sum of reservations, so the table has a dash instead.
    const bool together = demand != nullptr && demand->loads != nullptr;
    for (const double share : {cpu.reservation, memory.reservation})
      cells.push_back(together ? "-" : Percent(share));
    for (size_t r = 0; r < 2; ++r) {
      const bool known = demand != nullptr && demand->over_days[r].has_value();
      cells.push_back(known ? Percent(*demand->over_days[r], 2) : "-");
    }
    table.Add(std::move(cells));
  };
  row("base", cell, nullptr);
  for (const CellDemand& demand : demands.all) row(demand.name, With(cell, demand), &demand);
  std::string lacks;
  for (const CellDemand& demand : demands.all) {
    if (!demand.lacks.empty()) lacks += Wrapped(StrCat(demand.name, ": ", demand.lacks), "  ");
  }
  return StrCat(
      table.Render(), KeptLines(demands), lacks,
      "limits, reserved: shares of the capacity; over: share of job-days with a window over the limit,\n"
      "from 7 days after the beginning of the usage on. Fewer machines at more of them are no gain.\n");
}

Json UsageJson(const CellUsage& usage) {
  return {{"begin_seconds", usage.span.begin.start_s()},
          {"end_seconds", usage.span.end.start_s()},
          {"until_seconds", usage.until.start_s()},
          {"jobs", usage.trace->jobs().size()},
          {"skipped_rows", SkippedJson(usage.trace->report())},
          {"kept_rows", KeptJson(usage.trace->report())}};
}

Json DemandJson(const brain::CellModel& cell, const CellDemand& demand) {
  const brain::CellModel with = With(cell, demand);
  Json resources = Json::array(), names = Json::array();
  for (size_t r = 0; r < with.resources.size(); ++r) {
    const CellLoad load = LoadOf(with, r);
    resources.push_back({{"resource", with.resources[r].name},
                         {"limit", load.limit},
                         {"production_limit", load.production_limit},
                         {"reservation", demand.loads != nullptr ? Json(nullptr) : Json(load.reservation)}});
  }
  for (const std::string& name : demand.kept) names.push_back(Printable(name));
  Json over;
  for (const Resource r : kResources) {
    const std::optional<double>& share = demand.over_days[static_cast<size_t>(r)];
    over[std::string(Name(r))] = share.has_value() ? Json(*share) : Json(nullptr);
  }
  return {{"of", demand.of},
          {"kind", demand.loads != nullptr ? "machines"
                   : demand.is_limits      ? "limits"
                                           : "reservations"},
          {"lacks", demand.lacks},
          {"resources", std::move(resources)},
          {"over_days", std::move(over)},
          {"jobs_kept", demand.kept_jobs},
          {"tasks_kept", demand.kept_tasks},
          {"jobs_partly_kept", demand.partly_jobs},
          {"first_kept", std::move(names)}};
}

}  // namespace taut::tools
