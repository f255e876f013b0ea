// Implements `taut analyze`.
#include "tools/cli/analyze_command.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/analysis_json.h"
#include "tools/cli/answer.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/cli.h"
#include "tools/cli/json_text.h"
#include "tools/cli/outputs.h"
#include "tools/cli/terminal.h"
#include "tools/cli/trace_events_text.h"
#include "tools/report/analysis_page.h"
#include "tools/report/page.h"
#include "tools/sim/published.h"
#include "tools/sim/trace_analysis.h"

namespace taut::tools {

namespace {

std::string Number(double value) {
  if (value >= 999.5 && value < 1e15) return FormatCount(static_cast<uint64_t>(value + 0.5));
  return fmt::format("{:.3g}", value);
}

double InUnits(size_t resource, double amount) { return resource == 0 ? amount : amount / kGiB; }

// A row of a table of job sizes: the name of a figure and the function that computes the figure.
struct Measure {
  std::string_view name;
  double (*of)(const SizeDistribution&);
};
constexpr Measure kMeasures[] = {
    {"total", [](const SizeDistribution& d) { return d.total; }},
    {"median", [](const SizeDistribution& d) { return d.median; }},
    {"mean", [](const SizeDistribution& d) { return d.mean; }},
    {"variance", [](const SizeDistribution& d) { return d.variance; }},
    {"90th percentile", [](const SizeDistribution& d) { return d.p90; }},
    {"99th percentile", [](const SizeDistribution& d) { return d.p99; }},
    {"99.9th percentile", [](const SizeDistribution& d) { return d.p999; }},
    {"largest", [](const SizeDistribution& d) { return d.max; }},
};
// Figures in the order of PublishedSizes; nullopt if no line could be fitted.
using Maybe = std::optional<double>;
constexpr Maybe (*kCompared[])(const SizeDistribution&) = {
    [](const SizeDistribution& d) -> Maybe { return d.top_1_percent; },
    [](const SizeDistribution& d) -> Maybe { return d.top_0_1_percent; },
    [](const SizeDistribution& d) -> Maybe { return d.squared_coefficient; },
    [](const SizeDistribution& d) -> Maybe {
      return d.pareto.points > 0 ? Maybe(d.pareto.alpha) : std::nullopt;
    },
    [](const SizeDistribution& d) -> Maybe {
      return d.pareto.points > 0 ? Maybe(d.pareto.r_squared) : std::nullopt;
    },
    [](const SizeDistribution& d) -> Maybe { return MeanWait(0.5, d.squared_coefficient); },
};

std::string SizesText(const TraceAnalysis& a) {
  TextTable table({"usage of a job", "CPU,\ncore-hours", "memory,\nGiB-hours"});
  for (const Measure& m : kMeasures)
    table.Add({std::string(m.name), Number(m.of(a.sizes[0])), Number(m.of(a.sizes[1]))});
  TextTable compared({"", "CPU", "Google\n2011", "Google\n2019", "memory", "Google\n2011", "Google\n2019"});
  for (size_t i = 0; i < std::size(kCompared); ++i) {
    const PublishedSize& p = PublishedSizes()[i];
    const auto text = [&](const SizeDistribution& d) {
      const Maybe value = kCompared[i](d);
      return value.has_value() ? Number(*value) : std::string("-");
    };
    compared.Add({std::string(p.measure), text(a.sizes[0]), Number(p.cpu_2011), Number(p.cpu_2019),
                  text(a.sizes[1]), Number(p.memory_2011), Number(p.memory_2019)});
  }
  return StrCat(
      table.Render(), "\n", compared.Render(),
      fmt::format(
          "wait: mean, in mean service times (Pollaczek-Khinchine). The largest 1 % are {} of {} jobs; with them\n"
          "in a queue of their own, the others wait {} (CPU) and {} (memory) of their own.\n"
          "Correlation of a job's CPU and memory: {:.2f} (Google 2019: 0.97).\n",
          a.sizes[0].jobs - a.sizes[0].others.count(), a.sizes[0].jobs,
          Number(MeanWait(0.5, a.sizes[0].others.squared_coefficient())),
          Number(MeanWait(0.5, a.sizes[1].others.squared_coefficient())), a.correlation));
}

// Appends the usage, limits and slack of each resource, for one tier or mode, to a row.
template <typename ByResource>
void AddMeans(const ByResource& of, size_t at, std::vector<std::string>& row) {
  for (size_t r = 0; r < 2; ++r) {
    const TierSummary& t = of[r][at];
    row.push_back(Number(InUnits(r, t.usage)));
    row.push_back(t.limit > 0 ? Number(InUnits(r, t.limit)) : "-");
    row.push_back(t.limit > 0 ? fmt::format("{:.1f} %", 100 * t.slack()) : "-");
  }
}

std::string PeakSlackText(const TraceAnalysis& a) {
  const auto text = [&](Resource r) {
    const std::optional<PeakSlack> slack = PeakSlackOf(a.hours, r);
    return slack.has_value() ? fmt::format("{:.1f} and {:.1f} %", 100 * slack->peak, 100 * slack->trough)
                             : std::string("unknown");
  };
  return StrCat("Slack at the peak and in the trough (a tenth of the hours each): CPU ", text(Resource::kCpu),
                ",\nmemory ", text(Resource::kMemory),
                " (published of a large pool: over 30 and up to 70 %).\n");
}

std::string TiersText(const TraceAnalysis& a) {
  TextTable table(
      {"tier", "jobs", "CPU used,\ncores", "limits", "slack", "memory\nused, GiB", "limits", "slack"});
  for (size_t tier = 0; tier < kNumTraceTiers; ++tier) {
    if (a.tiers[0][tier].jobs == 0) continue;
    std::vector<std::string> row = {
        a.has_priorities ? std::string(Name(static_cast<TraceTier>(tier))) : "all",
        FormatCount(a.tiers[0][tier].jobs)};
    AddMeans(a.tiers, tier, row);
    table.Add(std::move(row));
  }
  return StrCat(table.Render(), "Means over ", a.hours.size(), " hours with usage.\n", PeakSlackText(a));
}

std::string ModesText(const TraceAnalysis& a) {
  if (!a.has_modes) return {};
  TextTable table({"vertical scaling", "jobs", "CPU used,\ncores", "limits", "slack", "memory\nused, GiB",
                   "limits", "slack"});
  for (size_t mode = 0; mode < brain::kScalingModes; ++mode) {
    if (a.modes[0][mode].jobs == 0) continue;
    std::vector<std::string> row = {std::string(Name(static_cast<brain::ScalingMode>(mode))),
                                    FormatCount(a.modes[0][mode].jobs)};
    AddMeans(a.modes, mode, row);
    table.Add(std::move(row));
  }
  return table.Render() + "\n";
}

std::string ArrivalsText(const TraceAnalysis& a) {
  if (a.arrivals.hours == 0) return "New jobs: the trace has less than two days.\n";
  return fmt::format(
      "New jobs an hour, from the second day on: mean {}, median {} (submissions of Google\n"
      "2019: mean 3,360, median 3,309; of 2011: 964 and 885).\n",
      Number(a.arrivals.mean), Number(a.arrivals.median));
}

// Figures of the paper that days of usage cannot provide.
constexpr const char* kMissing =
    "Not in the usage of a trace: scheduling delays, resubmissions, alloc sets, machine shapes and\n"
    "autoscaling modes. The tables of events have them: give them too.\n";

// The input of one run of the command: days of usage, events, or both.
struct Inputs {
  std::unique_ptr<LoadedTrace> trace;
  std::unique_ptr<TraceAnalysis> usage;  // null if the trace has no usage
  std::unique_ptr<LoadedCell> cell;      // null if the trace has no events
};

// Returns the analysis of the trace. `cell` contains the events; null if the trace has no events.
absl::StatusOr<TraceAnalysis> Analyse(LoadedTrace& trace, const LoadedCell* cell, bool quiet) {
  ProgressLine progress(quiet);
  AnalysisHooks hooks;
  hooks.on_progress = [&](uint64_t done, uint64_t total) {
    progress.Update(fmt::format("day {} of {}", done, total),
                    static_cast<double>(done) / static_cast<double>(total));
  };
  hooks.should_stop = Interrupted;
  if (cell != nullptr) {
    hooks.mode_of = [cell](const std::string& job) {
      const auto mode = cell->modes.find(job);
      return mode != cell->modes.end() ? mode->second : brain::ScalingMode::kUnknown;
    };
  }
  return AnalyseTrace(trace, hooks);
}

absl::StatusOr<Inputs> LoadInputs(const AnalyzeArgs& args) {
  const absl::StatusOr<TraceOptions> options = ToTraceOptions(args.trace);
  if (!options.ok()) return options.status();
  const absl::StatusOr<TraceContents> contents =
      IsGivenUsage(options->paths) ? TraceContents{.usage = true} : LookInto(*options);
  if (!contents.ok()) return contents.status();
  Inputs in;
  const bool usage = contents->usage || !(contents->events || contents->unknown);
  if (!usage || contents->events) {
    absl::StatusOr<LoadedCell> cell = LoadCellFiles(*options, args.quiet);
    if (!cell.ok() && contents->events) return cell.status();
    if (!cell.ok() || !cell->has_events) {
      // The files contain neither usage nor recorded events. Return the error of the trace reader, whose message
      // lists the supported formats.
      const absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet);
      return trace.ok() ? absl::FailedPreconditionError("the trace has no usage to analyse") : trace.status();
    }
    in.cell = std::make_unique<LoadedCell>(*std::move(cell));
  }
  if (!usage) return in;
  absl::StatusOr<std::unique_ptr<LoadedTrace>> trace = LoadTrace(args.trace, args.quiet);
  if (!trace.ok()) return trace.status();
  in.trace = *std::move(trace);
  absl::StatusOr<TraceAnalysis> analysis = Analyse(*in.trace, in.cell.get(), args.quiet);
  if (!analysis.ok()) return analysis.status();
  in.usage = std::make_unique<TraceAnalysis>(*std::move(analysis));
  return in;
}

absl::Status WriteFiles(const AnalyzeArgs& args, const Inputs& in, OutputFile* html, OutputFile* json) {
  if (html != nullptr) {
    std::optional<EventsReport> events;
    if (in.cell != nullptr) events = TraceEventsReport(*in.cell);
    html->Append(
        PageWith(DocumentJson(AnalysisDocument(fmt::format("Analysis of {}", Join(args.trace.paths, ", ")),
                                               in.usage.get(), events.has_value() ? &*events : nullptr))));
    if (absl::Status s = html->Close(); !s.ok()) return s;
  }
  if (json == nullptr) return absl::OkStatus();
  json->Append(JsonText(AnalysisJson(in.usage.get(), in.cell.get(), ByHour::kInclude)));
  return json->Close();
}

std::string WholeText(const Inputs& in) {
  std::string out;
  if (in.usage != nullptr)
    StrAppend(&out, DescribeInput(*in.trace), Counted(in.usage->jobs, "job"),
              in.usage->jobs == 1 ? " has usage.\n\n" : " have usage.\n\n", SizesText(*in.usage), "\n",
              TiersText(*in.usage), "\n", ModesText(*in.usage), ArrivalsText(*in.usage));
  if (in.cell == nullptr) return out + kMissing;
  return StrCat(out, out.empty() ? "" : "\n", "events: ", ReadText(in.cell->report),
                TraceEventsText(*in.cell));
}

}  // namespace

int RunAnalyze(const AnalyzeArgs& args) {
  const NamedPath outputs[] = {{"--html", args.html}, {"--json", args.json}};
  if (absl::Status s = CheckOutputs(outputs, args.trace.paths); !s.ok()) return Fail(s);
  if (absl::Status s = CheckPageOf(outputs[0]); !s.ok()) return Fail(s);
  const absl::StatusOr<std::unique_ptr<OutputFile>> html = OpenOutput(outputs[0]);
  if (!html.ok()) return Fail(html.status());
  const absl::StatusOr<std::unique_ptr<OutputFile>> json = OpenOutput(outputs[1]);
  if (!json.ok()) return Fail(json.status());
  CatchInterrupts();
  const absl::StatusOr<Inputs> in = LoadInputs(args);
  if (!in.ok()) return Fail(in.status());
  if (absl::Status s = WriteFiles(args, *in, html->get(), json->get()); !s.ok()) return Fail(s);
  if (args.output != OutputForm::kTable) {
    const Json out = AnalysisJson(in->usage.get(), in->cell.get(), ByHour::kLeaveOut);
    Print(Formatted(args.output, out));
  } else {
    Print(WholeText(*in));
    if (!args.html.empty()) Print(StrCat("report: ", args.html, "\n"));
    if (!args.json.empty()) Print(StrCat("results: ", args.json, "\n"));
  }
  return in->trace != nullptr && in->trace->interrupted ? kExitPartial : kExitOk;
}

}  // namespace taut::tools
