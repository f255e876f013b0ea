#include "tools/trace/recorded_reader.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/detect.h"
#include "tools/trace/event_tables.h"
#include "tools/trace/google2019.h"
#include "tools/trace/google_lines.h"
#include "tools/trace/read_file.h"

namespace taut::tools {
namespace {

// Accepts the machines of a trace and ignores usage rows.
class MachinesOnly final : public TraceSink {
 public:
  explicit MachinesOnly(brain::RecordedMachines& machines) : machines_(machines) {}
  void OnJob(JobId, const JobInfo&) override {}
  void OnUsage(const UsageRow&) override {}
  void OnLimit(JobId, Timestamp, std::optional<float>, std::optional<float>) override {}
  brain::RecordedMachines* machines() override { return &machines_; }

 private:
  brain::RecordedMachines& machines_;
};

bool IsOfMachines(const FileKind& kind) {
  const auto is = [&](TraceFormat format, auto table) {
    return kind.format == format && kind.table == static_cast<int>(table);
  };
  return is(TraceFormat::kGoogle2019, GoogleTable::kMachineEvents) ||
         is(TraceFormat::kGoogle2011, Google2011Table::kMachineEvents) ||
         is(TraceFormat::kAlibaba2018, AlibabaTable::kMachineMeta);
}

struct EventPlan {
  TraceFormat format = TraceFormat::kAuto;
  std::vector<PlannedFile> files;
};

// Returns the paths that are not pipes. Pipes can be read only once, and are left to ReadTrace().
std::vector<std::string> WithoutPipes(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  std::error_code error;
  std::ranges::copy_if(paths, std::back_inserter(out),
                       [&](const std::string& p) { return !std::filesystem::is_fifo(p, error); });
  return out;
}

absl::StatusOr<EventPlan> PlanEvents(const TraceOptions& options, ReadReport& report) {
  auto inputs = ExpandPaths(WithoutPipes(options.paths), report.warnings);
  if (!inputs.ok()) return inputs.status();
  EventPlan plan;
  std::string first;
  for (InputFile& input : *inputs) {
    ReadAsGoogleLines(input);
    const auto kind = DetectFile(input.name, input.head, options.format);
    if (!kind || !IsForCells(*kind)) continue;
    if (plan.format == TraceFormat::kAuto) {
      plan.format = kind->format;
      first = input.name;
    }
    if (kind->format != plan.format)
      return absl::InvalidArgumentError(
          fmt::format("{} is in the format {}, {} in {}: read them one at a time", first, Name(plan.format),
                      input.name, Name(kind->format)));
    plan.files.push_back({std::move(input), kind->table});
  }
  if (plan.files.empty())
    return absl::InvalidArgumentError(
        "no table of events or machines: expected those of Google 2019 or 2011, or of Alibaba 2018");
  std::ranges::stable_sort(plan.files, {}, &PlannedFile::table);
  return plan;
}

struct EventReaders {
  std::unique_ptr<FormatReader> events, machines;
};
EventReaders MakeReaders(TraceFormat format, EventTables& tables, const ReadContext& context) {
  switch (format) {
    case TraceFormat::kGoogle2019:
      return {NewGoogle2019EventReader(tables), NewGoogle2019Reader(context)};
    case TraceFormat::kGoogle2011:
      return {NewGoogle2011EventReader(tables), NewGoogle2011Reader(context)};
    default:
      return {NewAlibaba2018EventReader(tables), NewAlibaba2018Reader(context)};
  }
}

void AddShape(std::map<std::pair<double, double>, uint64_t>& shapes, double cpu, double memory) {
  ++shapes[{cpu, memory}];
}
std::vector<RecordedCell::Shape> Sorted(const std::map<std::pair<double, double>, uint64_t>& shapes) {
  std::vector<RecordedCell::Shape> out;
  for (const auto& [size, machines] : shapes) out.push_back({size.first, size.second, machines});
  std::ranges::stable_sort(out, std::greater<>(), &RecordedCell::Shape::machines);
  return out;
}

void SetShapes(const brain::RecordedMachines& machines, RecordedCell& out) {
  std::map<std::pair<double, double>, uint64_t> shapes;
  for (uint32_t m = 0; m < machines.size(); ++m) {
    const auto all = machines.capacities(m);
    const auto known = std::ranges::find_if(
        all, [](const brain::MachineCapacity& c) { return c.cpu_cores > 0 && c.memory_bytes > 0; });
    if (known == all.end()) {
      ++out.machines_without_capacity;
    } else {
      AddShape(shapes, known->cpu_cores, known->memory_bytes);
    }
  }
  out.shapes = Sorted(shapes);
}

}  // namespace

absl::StatusOr<TraceContents> LookInto(const TraceOptions& options) {
  std::vector<std::string> warnings;  // discarded, because reading the files adds the same warnings
  const std::vector<std::string> paths = WithoutPipes(options.paths);
  auto inputs = ExpandPaths(paths, warnings);
  if (!inputs.ok()) return inputs.status();
  TraceContents out;
  out.usage = out.unknown = paths.size() < options.paths.size();
  for (InputFile& input : *inputs) {
    ReadAsGoogleLines(input);
    const auto kind = DetectFile(input.name, input.head, options.format);
    if (!kind) {
      out.unknown = true;
      continue;
    }
    const bool events = IsForCells(*kind);
    out.events |= events;
    // Some tables may be read for usage and for cells, such as Alibaba's container_meta and machine_meta. These
    // tables do not count as usage.
    out.usage |= !events && kind->table != kUnusedTable && IsForUsage(*kind, false);
  }
  return out;
}

absl::StatusOr<RecordedCell> ReadRecordedCell(const TraceOptions& options, ReadReport& report,
                                              const ReadProgress& progress) {
  absl::StatusOr<EventPlan> plan = PlanEvents(options, report);
  if (!plan.ok()) return plan.status();
  RecordedCell out;
  brain::RecordedMachines machines;
  MachinesOnly sink(machines);
  const PriorityBands bands =
      plan->format == TraceFormat::kGoogle2011 ? PriorityBands::k2011 : PriorityBands::k2019;
  EventTables tables(options, bands, report);
  const EventReaders readers = MakeReaders(plan->format, tables, {options, sink, report});
  FileProgress told{progress};
  for (const PlannedFile& file : plan->files) told.total += file.input.size;
  for (const PlannedFile& file : plan->files) {
    FormatReader& reader = IsOfMachines({plan->format, file.table}) ? *readers.machines : *readers.events;
    if (absl::Status s = ReadFile(file, options, reader, report, told); !s.ok()) return s;
  }
  if (absl::Status s = readers.machines->Finish(); !s.ok()) return s;
  absl::StatusOr<EventTables::Folded> folded = tables.Fold();
  if (!folded.ok()) return folded.status();
  out.figures = std::move(folded->figures);
  SetShapes(machines, out);
  for (const brain::RecordedJob& job : folded->jobs) {
    if (job.scaling != brain::ScalingMode::kUnknown) out.modes[job.name] = job.scaling;
  }
  absl::StatusOr<brain::TimedModel> cell = brain::MakeRecordedCell(folded->jobs, folded->spans, machines);
  if (!cell.ok()) return cell.status();
  out.cell = *std::move(cell);
  return out;
}

std::vector<RecordedCell::Shape> ShapesOf(const brain::CellModel& model) {
  std::map<std::pair<double, double>, uint64_t> shapes;
  for (const brain::CellMachine& m : model.machines)
    AddShape(shapes, static_cast<double>(m.capacity[brain::kCellCpu]) / 1000,
             static_cast<double>(m.capacity[brain::kCellMemory]));
  return Sorted(shapes);
}

}  // namespace taut::tools
