// Reads the Google 2011 cell trace (clusterdata-2011-2): task_usage, task_events and job_events for jobs, and
// machine_events if the sink accepts machines.
#include <string>

#include "fmt/format.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/detect.h"
#include "tools/trace/machine_rows.h"

namespace taut::tools {
namespace {

constexpr uint32_t kUnnamed = UINT32_MAX;
constexpr int64_t kAfterTheEnd = INT64_MAX;  // time that means "after the end of the trace"

// Columns of each table, from 0.
namespace usage {
enum { kStart, kEnd, kJob, kTask, kMachine, kCpu, kMemory = 6, kAssigned = 7, kMaxMemory = 10, kMaxCpu = 13 };
}
namespace task_events {
enum { kTime, kJob = 2, kClass = 7, kPriority = 8, kCpu = 9, kMemory = 10, kCount = 13 };
}
namespace job_events {
enum { kJob = 2, kClass = 5, kLogicalName = 7, kCount = 8 };
}
namespace machine_events {
enum { kTime, kMachine, kType, kCpu = 4, kMemory, kCount };
}

struct Collection2011 {
  struct Limit {
    int64_t time_us;
    std::optional<float> cpu, memory;
  };
  uint32_t job = kUnnamed;  // kUnnamed before the first row with usage
  uint32_t logical_name = kUnnamed;
  Sensitivity sensitivity = Sensitivity::kUnknown;
  std::optional<int> priority;
  bool has_limits = false;
  std::optional<float> cpu, memory;  // last known request
  std::vector<Limit> limits;         // limits for the sink, passed once the collection is a job
};

class Google2011Reader final : public FormatReader {
 public:
  explicit Google2011Reader(const ReadContext& context)
      : context_(context), gate_(context), index_(','), machines_(context.sink, context.report) {}

  absl::Status BeginFile(std::string_view name, int table) override {
    gate_.BeginFile(name);
    machines_.BeginFile(name);
    table_ = static_cast<Google2011Table>(table);
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    switch (table_) {
      case Google2011Table::kJobEvents:
        return Rows(block, [this](const CsvRow& row) { return TakeJobEvent(row); });
      case Google2011Table::kTaskEvents:
        return Rows(block, [this](const CsvRow& row) { return TakeTaskEvent(row); });
      case Google2011Table::kMachineEvents:
        if (!machines_.wanted()) return absl::OkStatus();
        return Rows(block, [this](const CsvRow& row) { return TakeMachineEvent(row); });
      case Google2011Table::kTaskUsage:
        return Rows(block, [this](const CsvRow& row) { return TakeUsage(row); });
    }
    return absl::OkStatus();
  }
  absl::Status Finish() override {
    machines_.Finish();
    if (maxima_below_mean_ > 0) {
      context_.report.warnings.push_back(
          fmt::format("{} maxima below their mean were ignored", maxima_below_mean_));
    }
    return absl::OkStatus();
  }

 private:
  template <typename Take>
  absl::Status Rows(const LineBlock& block, Take take) {
    return index_.ForEachRow(block.lines, block.first_line, take);
  }
  static bool Integer(const CsvRow& row, int i, int64_t& out) {
    return ParseInteger(row.begin(i), row.end(i), out) == NumberKind::kNumber;
  }

  absl::Status TakeJobEvent(const CsvRow& row);
  absl::Status TakeTaskEvent(const CsvRow& row);
  absl::Status TakeMachineEvent(const CsvRow& row);
  absl::Status TakeUsage(const CsvRow& row);
  void TakeMachine(const CsvRow& row, const UsageRow& usage);
  bool TakeFigures(const CsvRow& row, UsageRow& out, std::optional<float>& assigned);
  void SetClass(const CsvRow& row, int column, Collection2011& c) const;
  Collection2011& Find(int64_t id);
  void MakeJob(int64_t id, Collection2011& c);

  const ReadContext context_;
  RowCounter gate_;
  CsvIndex index_;
  MachineRows machines_;
  Google2011Table table_ = Google2011Table::kTaskUsage;
  absl::flat_hash_map<int64_t, uint32_t> numbers_;
  std::vector<Collection2011> collections_;
  int64_t last_id_ = -1;
  uint32_t last_ = 0;
  NameTable logical_names_;
  uint32_t num_jobs_ = 0;
  uint64_t maxima_below_mean_ = 0;
};

Collection2011& Google2011Reader::Find(int64_t id) {
  // The rows of a job's tasks are consecutive, so the last collection is usually the wanted one.
  if (id != last_id_ || collections_.empty()) {
    const auto [at, added] = numbers_.try_emplace(id, static_cast<uint32_t>(collections_.size()));
    if (added) collections_.emplace_back();
    last_ = at->second;
    last_id_ = id;
  }
  return collections_[last_];
}

// Sets the scheduling class: 0 (least latency sensitive) to 3 (most).
void Google2011Reader::SetClass(const CsvRow& row, int column, Collection2011& c) const {
  int64_t scheduling_class = 0;
  if (Integer(row, column, scheduling_class) && scheduling_class >= 0 && scheduling_class <= 3) {
    c.sensitivity = static_cast<Sensitivity>(scheduling_class + 1);
  }
}

absl::Status Google2011Reader::TakeJobEvent(const CsvRow& row) {
  int64_t id = 0;
  if (row.size() != job_events::kCount) return gate_.Bad(kBadColumns, row);
  if (!Integer(row, job_events::kJob, id)) return gate_.Bad(kBadNumber, row);
  Collection2011& c = Find(id);
  SetClass(row, job_events::kClass, c);
  const std::string_view name = row[job_events::kLogicalName];
  if (!name.empty()) c.logical_name = logical_names_.Number(name);
  return absl::OkStatus();
}

absl::Status Google2011Reader::TakeTaskEvent(const CsvRow& row) {
  int64_t time = 0, id = 0, priority = 0;
  if (row.size() != task_events::kCount) return gate_.Bad(kBadColumns, row);
  std::optional<float> cpu, memory;
  const TraceOptions& o = context_.options;
  if (!Integer(row, task_events::kTime, time) || !Integer(row, task_events::kJob, id) ||
      !TakeFloat(row, task_events::kCpu, o.unit_cpu_cores, cpu) ||
      !TakeFloat(row, task_events::kMemory, o.unit_memory_bytes, memory)) {
    return gate_.Bad(kBadNumber, row);
  }
  Collection2011& c = Find(id);
  SetClass(row, task_events::kClass, c);
  if (Integer(row, task_events::kPriority, priority)) c.priority = static_cast<int>(priority & 0xFFFF);
  // Ignore a request of 0, because nothing could run under such a limit. Time 0 means "before the trace", and
  // kAfterTheEnd "after the trace".
  if (cpu == 0.0F) cpu.reset();
  if (memory == 0.0F) memory.reset();
  if (time < 0 || time == kAfterTheEnd || time > kLatestUs) return absl::OkStatus();
  if ((!cpu || cpu == c.cpu) && (!memory || memory == c.memory)) return absl::OkStatus();
  if (cpu) c.cpu = cpu;
  if (memory) c.memory = memory;
  c.has_limits = true;
  if (c.job == kUnnamed) {
    c.limits.push_back({time, cpu, memory});
  } else {
    context_.sink.OnLimit(JobId{c.job}, Timestamp{time}, cpu, memory);
  }
  return absl::OkStatus();
}

void Google2011Reader::MakeJob(int64_t id, Collection2011& c) {
  c.job = num_jobs_++;
  JobInfo info;
  info.name = fmt::format("{}", id);
  if (c.logical_name != kUnnamed) info.logical_name = logical_names_.name(c.logical_name);
  info.sensitivity = c.sensitivity;
  info.priority = c.priority;
  context_.sink.OnJob(JobId{c.job}, info);
  for (const Collection2011::Limit& limit : c.limits) {
    context_.sink.OnLimit(JobId{c.job}, Timestamp{limit.time_us}, limit.cpu, limit.memory);
  }
  c.limits = {};
}

bool Google2011Reader::TakeFigures(const CsvRow& row, UsageRow& out, std::optional<float>& assigned) {
  const double cpu = context_.options.unit_cpu_cores, memory = context_.options.unit_memory_bytes;
  if (!TakeFloat(row, usage::kCpu, cpu, out.cpu_mean_cores) ||
      !TakeFloat(row, usage::kMaxCpu, cpu, out.cpu_max_cores) ||
      !TakeFloat(row, usage::kMemory, memory, out.memory_mean_bytes) ||
      !TakeFloat(row, usage::kMaxMemory, memory, out.memory_peak_bytes) ||
      !TakeFloat(row, usage::kAssigned, memory, assigned)) {
    return false;
  }
  // For a row with usage, a maximum of 0 means "unknown". A maximum below the mean is invalid.
  const auto believe = [this](std::optional<float>& maximum, const std::optional<float>& mean) {
    if (!maximum || !mean || *maximum >= *mean) return;
    if (*maximum > 0) ++maxima_below_mean_;
    maximum.reset();
  };
  believe(out.cpu_max_cores, out.cpu_mean_cores);
  believe(out.memory_peak_bytes, out.memory_mean_bytes);
  return true;
}

absl::Status Google2011Reader::TakeUsage(const CsvRow& row) {
  ++context_.report.rows;
  // Version 1 of the trace lacks the last column, which is not used.
  if (row.size() != 20 && row.size() != 19) return gate_.Bad(kBadColumns, row);
  UsageRow out;
  int64_t id = 0, task = 0;
  std::optional<float> assigned;
  if (!Integer(row, usage::kStart, out.start.us) || !Integer(row, usage::kEnd, out.end.us) ||
      !Integer(row, usage::kJob, id) || !Integer(row, usage::kTask, task) ||
      !TakeFigures(row, out, assigned)) {
    return gate_.Bad(kBadNumber, row);
  }
  if (out.start.us == kAfterTheEnd) return gate_.Bad("starts after the end of the trace", row);
  if (out.end <= out.start) return gate_.Bad("ends before it starts", row);
  if (out.start.us < 0 || out.end.us > kLatestUs) return gate_.Bad("time out of range", row);
  if (task < 0 || task > INT32_MAX) return gate_.Bad("task number out of range", row);
  if (!out.cpu_mean_cores && !out.memory_mean_bytes && !out.memory_peak_bytes) {
    return gate_.Bad("no usage in the row", row);
  }
  if (!gate_.InRange(out.start.us, row)) return absl::OkStatus();
  Collection2011& c = Find(id);
  if (c.job == kUnnamed) MakeJob(id, c);
  out.job = JobId{c.job};
  out.task = static_cast<uint32_t>(task);
  // The owner's limit is the request. A collection without a request uses the container's assigned memory.
  if (!c.has_limits && assigned && *assigned > 0) out.memory_limit_bytes = assigned;
  ++context_.report.rows_used;
  if (machines_.wanted()) TakeMachine(row, out);
  context_.sink.OnUsage(out);
  return absl::OkStatus();
}

void Google2011Reader::TakeMachine(const CsvRow& row, const UsageRow& usage) {
  int64_t machine = 0;
  if (Integer(row, usage::kMachine, machine) && machine > 0) {
    machines_.TakePlace(usage.job, usage.task, usage.start, machines_.Number(machine), row.line(),
                        row.text());
  } else {
    machines_.TakeNoPlace(row.line(), row.text());
  }
}

absl::Status Google2011Reader::TakeMachineEvent(const CsvRow& row) {
  int64_t time = 0, machine = 0, type = 0;
  double cpu = 0, memory = 0;
  if (row.size() != machine_events::kCount) return gate_.Bad(kBadColumns, row);
  const auto amount = [&](int column, double& out) {
    return ParseDecimal(row.begin(column), row.end(column), out);
  };
  const NumberKind cpu_kind = amount(machine_events::kCpu, cpu);
  const NumberKind memory_kind = amount(machine_events::kMemory, memory);
  if (!Integer(row, machine_events::kTime, time) || !Integer(row, machine_events::kMachine, machine) ||
      !Integer(row, machine_events::kType, type) || cpu_kind == NumberKind::kBad ||
      memory_kind == NumberKind::kBad) {
    return gate_.Bad(kBadNumber, row);
  }
  if (time == kAfterTheEnd) {
    gate_.Skip("machine event after the end of the trace", row);
    return absl::OkStatus();
  }
  if (type < 0 || type > 2) return gate_.Bad("machine event of an unknown type", row);
  brain::MachineEvent event{.time = Timestamp{time}, .kind = static_cast<brain::MachineEventKind>(type)};
  if (cpu_kind == NumberKind::kNumber) event.cpu_cores = cpu * context_.options.unit_cpu_cores;
  if (memory_kind == NumberKind::kNumber) event.memory_bytes = memory * context_.options.unit_memory_bytes;
  machines_.TakeEvent(machines_.Number(machine), event, row.line(), row.text());
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<FormatReader> NewGoogle2011Reader(const ReadContext& context) {
  return std::make_unique<Google2011Reader>(context);
}

}  // namespace taut::tools
