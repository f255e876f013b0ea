// Reads a trace: finds the files, detects their format, and passes the files to the format's reader.
#include "tools/trace/trace_reader.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/detect.h"
#include "tools/trace/format_reader.h"
#include "tools/trace/google_lines.h"
#include "tools/trace/read_file.h"

namespace taut::tools {
namespace {

constexpr std::string_view kFormatList =
    "bitbrains, bitbrains-compact, google2019, google2011, alibaba2018, azure, csv";

// Combines every `size` consecutive jobs into one job, whose tasks are these jobs.
class GroupingSink final : public TraceSink {
 public:
  GroupingSink(TraceSink& sink, int size) : sink_(sink), size_(static_cast<uint32_t>(size)) {}

  void OnJob(JobId id, const JobInfo& info) override {
    if (id.value % size_ != 0) return;
    JobInfo group = info;
    group.name = fmt::format("{}+{}", info.name, size_ - 1);
    sink_.OnJob(GroupOf(id), group);
    num_tasks_.push_back(0);
  }
  void OnUsage(const UsageRow& row) override {
    UsageRow grouped = row;
    grouped.job = GroupOf(row.job);
    grouped.task = TaskOf(row.job, row.task);
    sink_.OnUsage(grouped);
  }
  void OnLimit(JobId id, Timestamp t, std::optional<float> cpu_cores,
               std::optional<float> memory_bytes) override {
    sink_.OnLimit(GroupOf(id), t, cpu_cores, memory_bytes);
  }
  brain::RecordedMachines* machines() override { return sink_.machines(); }
  void OnPlaced(JobId id, uint32_t task, Timestamp start, uint32_t machine) override {
    sink_.OnPlaced(GroupOf(id), TaskOf(id, task), start, machine);
  }

 private:
  uint32_t TaskOf(JobId id, uint32_t task) {
    const auto [at, added] = tasks_.try_emplace({id.value, task}, 0);
    if (added) at->second = num_tasks_[GroupOf(id).value]++;
    return at->second;
  }
  JobId GroupOf(JobId id) const { return JobId{id.value / size_}; }

  TraceSink& sink_;
  const uint32_t size_;
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> tasks_;  // task of the group, by job and task
  std::vector<uint32_t> num_tasks_;                                     // number of tasks by group
};

std::unique_ptr<FormatReader> NewReader(TraceFormat format, const ReadContext& context) {
  switch (format) {
    case TraceFormat::kAuto:
      break;
    case TraceFormat::kBitbrains:
      return NewBitbrainsReader(context);
    case TraceFormat::kBitbrainsCompact:
      return NewBitbrainsCompactReader(context);
    case TraceFormat::kGoogle2019:
      return NewGoogle2019Reader(context);
    case TraceFormat::kGoogle2011:
      return NewGoogle2011Reader(context);
    case TraceFormat::kAlibaba2018:
      return NewAlibaba2018Reader(context);
    case TraceFormat::kAzureVm:
      return NewAzureReader(context);
    case TraceFormat::kCsv:
      return NewGenericCsvReader(context);
  }
  return nullptr;
}

std::string FormatWanted(const TraceOptions& options) {
  if (options.format != TraceFormat::kAuto) return fmt::format("not in the format {}", Name(options.format));
  return fmt::format("in an unknown trace format (known: {}); name it with --format", kFormatList);
}

// Returns the files to read in order, all of one format. A file that no format matches is skipped with a warning,
// or is an error if the caller named the file. Tables of machines are also skipped with a warning if the sink
// needs no machines.
absl::StatusOr<std::vector<PlannedFile>> Plan(const TraceOptions& options, std::vector<InputFile> inputs,
                                              bool with_machines, TraceFormat& format, ReadReport& report) {
  std::vector<PlannedFile> plan;
  std::string first, left_out;
  format = options.format;
  for (InputFile& input : inputs) {
    ReadAsGoogleLines(input);
    const auto kind = DetectFile(input.name, input.head, options.format);
    if (!kind && input.head.empty()) {
      report.warnings.push_back(fmt::format("{}: empty", input.name));
      continue;
    }
    if (!kind && input.named) {
      return absl::InvalidArgumentError(fmt::format("{} is {}", input.name, FormatWanted(options)));
    }
    if (!kind || kind->table == kUnusedTable || !IsForUsage(*kind, with_machines)) {
      if (!kind) left_out = input.name;
      report.warnings.push_back(
          fmt::format("{}: not read, {}", input.name, kind ? "this table is not used" : "unknown format"));
      continue;
    }
    if (format == TraceFormat::kAuto) format = kind->format;
    if (first.empty()) first = input.name;
    if (kind->format != format) {
      return absl::InvalidArgumentError(
          fmt::format("{} is in the format {}, {} in {}: read them one at a time", first, Name(format),
                      input.name, Name(kind->format)));
    }
    plan.push_back({std::move(input), kind->table});
  }
  if (plan.empty() && !left_out.empty()) {
    return absl::InvalidArgumentError(fmt::format("{} is {}", left_out, FormatWanted(options)));
  }
  std::stable_sort(plan.begin(), plan.end(),
                   [](const PlannedFile& a, const PlannedFile& b) { return a.table < b.table; });
  return plan;
}

}  // namespace

absl::Status ReadTrace(const TraceOptions& options, TraceSink& sink, ReadReport& report,
                       const ReadProgress& progress) {
  if (options.paths.empty()) return absl::InvalidArgumentError("no trace files");
  if (options.group < 1) return absl::InvalidArgumentError("invalid group size: expected 1 or more");
  auto inputs = ExpandPaths(options.paths, report.warnings);
  if (!inputs.ok()) return inputs.status();
  TraceFormat format = TraceFormat::kAuto;
  const auto plan = Plan(options, *std::move(inputs), sink.machines() != nullptr, format, report);
  if (!plan.ok()) return plan.status();
  if (plan->empty()) {
    return absl::InvalidArgumentError(fmt::format("{}: no readable file in it", options.paths.front()));
  }
  GroupingSink grouping(sink, options.group);
  const ReadContext context{options, options.group > 1 ? static_cast<TraceSink&>(grouping) : sink, report};
  const std::unique_ptr<FormatReader> reader = NewReader(format, context);
  FileProgress told{progress};
  for (const PlannedFile& file : *plan) told.total += file.input.size;
  absl::Status status;
  for (size_t i = 0; i < plan->size() && status.ok(); ++i) {
    status = ReadFile((*plan)[i], options, *reader, report, told);
  }
  const absl::Status finished = reader->Finish();
  return status.ok() ? finished : status;
}

}  // namespace taut::tools
