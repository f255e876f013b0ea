#include "tools/cli/input.h"

#include <algorithm>
#include <tuple>

#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/console.h"
#include "tools/cli/terminal.h"
#include "tools/trace/placing_sink.h"

namespace taut::tools {
absl::StatusOr<JobId> LoadedTrace::FindJob(const std::string& name) const {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < jobs().size(); ++i) {
    if (jobs()[i].name == name) return JobId{i};
    names.push_back(jobs()[i].name);
  }
  if (names.empty()) return absl::NotFoundError("the trace has no jobs");
  const auto has_part = [&name](std::string_view of) { return of.find(name) != std::string_view::npos; };
  if (!name.empty() && std::ranges::count_if(names, has_part) == 1)
    return JobId{static_cast<uint32_t>(std::ranges::find_if(names, has_part) - names.begin())};
  std::vector<std::string> nearest = NearestNames(name, names, 3);
  for (std::string& n : nearest) n = StrCat("\"", Printable(n), "\"");
  return absl::NotFoundError(fmt::format("no job \"{}\" in the trace ({}); the nearest {} {}",
                                         Printable(name), Counted(names.size(), "job"),
                                         nearest.size() == 1 ? "name is" : "names are", Join(nearest, ", ")));
}

absl::StatusOr<int64_t> TimeOption(std::string_view option, const std::string& text) {
  absl::StatusOr<int64_t> time = ParseTime(text);
  if (!time.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(time.status())));
  return time;
}

absl::StatusOr<double> BytesOption(std::string_view option, const std::string& text) {
  absl::StatusOr<double> bytes = ParseBytes(text);
  if (!bytes.ok()) return absl::InvalidArgumentError(StrCat(option, ": ", Message(bytes.status())));
  return bytes;
}

absl::StatusOr<TraceOptions> ToTraceOptions(const TraceArgs& args) {
  TraceOptions o;
  o.paths = args.paths;
  const absl::StatusOr<TraceFormat> format = ParseTraceFormat(args.format);
  if (!format.ok()) return format.status();
  o.format = *format;
  for (const auto& [option, text, target] :
       {std::tuple{"--from", &args.from, &o.from_s}, std::tuple{"--to", &args.to, &o.to_s}}) {
    if (text->empty()) continue;
    const absl::StatusOr<int64_t> time = TimeOption(option, *text);
    if (!time.ok()) return time.status();
    *target = *time;
  }
  if (o.from_s.has_value() && o.to_s.has_value() && *o.from_s >= *o.to_s) {
    return absl::InvalidArgumentError("--from must be before --to");
  }
  if (args.group < 1) return absl::InvalidArgumentError("--group: expected 1 or more");
  o.group = args.group;
  o.strict = args.strict;
  o.google_count_allocs = args.count_allocs;
  o.unit_cpu_cores = args.unit_cpu_cores;
  const absl::StatusOr<double> unit_memory = BytesOption("--unit-memory", args.unit_memory);
  if (!unit_memory.ok()) return unit_memory.status();
  o.unit_memory_bytes = *unit_memory;
  return o;
}

namespace {

absl::Status ReadGivenUsage(const TraceOptions& options, TraceSink& sink, ReadReport& report) {
  if (options.format != TraceFormat::kAuto || options.from_s.has_value() || options.to_s.has_value() ||
      options.group != 1) {
    return absl::InvalidArgumentError(
        "--format, --from, --to and --group: expected with files, not with a table");
  }
  return CurrentConsole()->read_usage(options, sink, report);
}

}  // namespace

bool IsGivenUsage(const std::vector<std::string>& paths) {
  const Console* const console = CurrentConsole();
  return console != nullptr && console->read_usage != nullptr && paths.size() == 1 &&
         paths.front() == kGivenUsage;
}

absl::StatusOr<std::unique_ptr<LoadedTrace>> LoadTrace(const TraceArgs& args, bool quiet,
                                                       WithMachines with_machines) {
  const absl::StatusOr<TraceOptions> options = ToTraceOptions(args);
  if (!options.ok()) return options.status();
  const absl::StatusOr<double> budget = BytesOption("--spill-memory", args.spill_memory);
  if (!budget.ok()) return budget.status();
  auto trace = std::make_unique<LoadedTrace>(
      JobDayStore::Options{.memory_budget_bytes = static_cast<size_t>(Whole(*budget))});
  ProgressLine progress(quiet);
  PlacingSink placing(trace->store(), trace->machines);
  TraceSink& sink = with_machines == WithMachines::kYes ? static_cast<TraceSink&>(placing) : trace->store();
  const auto on_read = [&](uint64_t done, uint64_t total) {
    if (total > 0) progress.Update("reading", static_cast<double>(done) / static_cast<double>(total));
    return !Interrupted();
  };
  const absl::Status read = IsGivenUsage(args.paths) ? ReadGivenUsage(*options, sink, trace->report())
                                                     : ReadTrace(*options, sink, trace->report(), on_read);
  progress.Clear();
  if (absl::IsCancelled(read)) {
    trace->interrupted = true;
  } else if (!read.ok()) {
    return read;
  }
  if (absl::Status s = trace->store().Finish(); !s.ok()) return s;
  return trace;
}

std::string DescribeInput(const LoadedTrace& trace) {
  InputCounts counts{trace.report(), trace.store().report(), trace.jobs().size()};
  if (!trace.days().empty()) {
    counts.first_day = trace.days().front();
    counts.last_day = trace.days().back();
  }
  return DescribeInput(counts);
}

std::string DescribeInput(const InputCounts& counts) {
  const ReadReport& r = counts.read;
  const FoldReport& f = counts.fold;
  std::string out = fmt::format("read {} of {} ({}): {}, {}", Counted(r.rows, "row"),
                                Counted(r.files, "file"), FormatBytes(static_cast<double>(r.bytes)),
                                Counted(counts.jobs, "job"), Counted(f.job_windows, "job-window"));
  if (counts.last_day >= counts.first_day) {
    StrAppend(&out, ", ", FormatTime(int64_t{counts.first_day} * kDaySeconds), " to ",
              FormatTime((int64_t{counts.last_day} + 1) * kDaySeconds));
  }
  out += "\n";
  out += CausesText("skipped", r.skipped) + CausesText("kept", r.kept);
  if (f.duplicates > 0) {
    StrAppend(&out, "  merged ", Counted(f.duplicates, "duplicate row"), " (the larger value counts)\n");
  }
  for (const std::string& w : r.warnings) StrAppend(&out, "  warning: ", Printable(w), "\n");
  return out;
}

}  // namespace taut::tools
