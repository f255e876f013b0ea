#include "tools/cli/cell_input.h"

#include <utility>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "tools/cli/terminal.h"
#include "tools/trace/cell_reader.h"

namespace taut::tools {

absl::StatusOr<LoadedCell> LoadCellFiles(const TraceOptions& options, bool quiet, bool jobs_needed) {
  const absl::StatusOr<TraceContents> contents = LookInto(options);
  if (!contents.ok()) return contents.status();
  LoadedCell cell;
  if (!contents->events) {
    absl::StatusOr<CellInput> input = ReadCell({options.paths, options.strict, jobs_needed}, cell.report);
    if (!input.ok()) return input.status();
    cell.shapes = ShapesOf(input->model);
    cell.model = std::move(input->model);
    cell.workload = std::move(input->workload);
    cell.findings = std::move(input->findings);
    cell.has_events = input->has_events;
    cell.events = std::move(input->events);
    return cell;
  }
  ProgressLine progress(quiet);
  absl::StatusOr<RecordedCell> read =
      ReadRecordedCell(options, cell.report, [&](uint64_t done, uint64_t total) {
        if (total > 0)
          progress.Update("reading events", static_cast<double>(done) / static_cast<double>(total));
        return !Interrupted();
      });
  progress.Clear();
  if (!read.ok()) return read.status();
  cell.recorded = cell.has_events = true;
  cell.model = std::move(read->cell.model);
  cell.workload = std::move(read->cell.workload);
  cell.findings = std::move(read->cell.findings);
  cell.events = std::move(read->figures);
  cell.shapes = std::move(read->shapes);
  cell.machines_without_capacity = read->machines_without_capacity;
  cell.modes = std::move(read->modes);
  return cell;
}

CellLoad LoadOf(const brain::CellModel& cell, size_t resource) {
  CellLoad out;
  const auto capacity = static_cast<double>(cell.Capacity()[resource]);
  if (capacity <= 0) return out;
  for (const brain::CellJob& job : cell.jobs) {
    const double limit = static_cast<double>(job.limit[resource]) * job.tasks / capacity;
    out.limit += limit;
    if (IsProduction(job.tier)) out.production_limit += limit;
    out.reservation += static_cast<double>(job.reservation[resource]) * job.tasks / capacity;
  }
  return out;
}

std::string ReadText(const ReadReport& r) {
  std::string out =
      StrCat("read ", FormatCount(r.rows), " rows of ", r.files, r.files == 1 ? " file" : " files", " (",
             FormatBytes(static_cast<double>(r.bytes)), ")\n");
  out += CausesText("skipped", r.skipped) + CausesText("kept", r.kept);
  for (const std::string& w : r.warnings) StrAppend(&out, "  warning: ", Printable(w), "\n");
  return out;
}

std::string CausesText(std::string_view what, const std::map<std::string, ReadReport::Cause>& causes) {
  std::string out;
  for (const auto& [cause, rows] : causes) {
    StrAppend(&out, "  ", what, " ", Counted(rows.count, "row"), ": ", cause, "\n");
    for (const std::string& example : rows.examples) StrAppend(&out, "    ", Printable(example), "\n");
  }
  return out;
}

std::string FindingsText(const std::vector<brain::CellFinding>& findings) {
  std::string out;
  for (const brain::CellFinding& f : findings)
    StrAppend(&out, "  ", FormatCount(f.count), " x ", f.cause, ", the first: ", Printable(f.first), "\n");
  return out;
}

std::string SentenceLines(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find(". ", at);
    const std::string_view line = text.substr(at, end == std::string_view::npos ? end : end + 1 - at);
    StrAppend(&out, out.empty() ? "  " : "    ", Printable(line), "\n");
    at = end == std::string_view::npos ? text.size() : end + 2;
  }
  return out;
}

namespace {

Json CausesJson(const std::map<std::string, ReadReport::Cause>& causes) {
  Json out = Json::array();
  for (const auto& [cause, rows] : causes)
    out.push_back({{"cause", cause}, {"count", rows.count}, {"examples", rows.examples}});
  return out;
}

}  // namespace

Json SkippedJson(const ReadReport& report) { return CausesJson(report.skipped); }
Json KeptJson(const ReadReport& report) { return CausesJson(report.kept); }

Json FindingsJson(const std::vector<brain::CellFinding>& findings) {
  Json out = Json::array();
  for (const brain::CellFinding& f : findings)
    out.push_back({{"cause", f.cause}, {"count", f.count}, {"first", Printable(f.first)}});
  return out;
}

}  // namespace taut::tools
