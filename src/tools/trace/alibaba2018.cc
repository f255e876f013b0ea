// Reads the Alibaba 2018 cluster trace: containers as tasks of their application, or machines as jobs with one
// task.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "fmt/format.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/detect.h"
#include "tools/trace/machine_rows.h"

namespace taut::tools {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr int64_t kAloneSeconds = 60;
constexpr double kMachineCores = 96;    // CPU cores of every machine
constexpr double kMachineMemory = 100;  // memory of every machine, in percent of the largest machine
constexpr double kPercent = 0.01;
constexpr std::string_view kConflict = "another size at the time of an earlier row, which counts";

// Size of a container or machine from `time_s` on.
struct Capacity {
  int64_t time_s = 0;
  // Number of cores at 100 % of usage, and the owner's CPU limit in cores; 0: unknown.
  double cores = 0, cpu_limit = 0;
  double memory_bytes = 0;
};

struct Thing {
  uint32_t app = kNone;  // number of the application in apps_; kNone: not known yet
  uint32_t task = 0;
  std::vector<Capacity> capacities;  // sizes, ascending by time

  const Capacity* At(int64_t time_s) const {
    if (capacities.empty()) return nullptr;
    size_t i = capacities.size() - 1;
    while (i > 0 && capacities[i].time_s > time_s) --i;
    return &capacities[i];
  }
};

// Sets `out` to a percentage times `factor`. -1 and 101 are invalid values in the trace and set `out` to nullopt.
bool TakePercent(const CsvRow& row, int i, double factor, std::optional<float>& out) {
  double value = 0;
  switch (ParseDecimal(row.begin(i), row.end(i), value)) {
    case NumberKind::kNumber:
      if (value > 1e6) return false;
      if (value != 101) out = static_cast<float>(value * kPercent * factor);
      return true;
    case NumberKind::kEmpty:
      return true;
    case NumberKind::kBad:
      break;
  }
  return row[i] == "-1" || row[i] == "-1.0";
}

class Alibaba2018Reader final : public FormatReader {
 public:
  explicit Alibaba2018Reader(const ReadContext& context)
      : context_(context),
        gate_(context),
        index_(','),
        machines_(context.sink, context.report),
        lengths_(context.sink, kAloneSeconds) {}

  absl::Status BeginFile(std::string_view name, int table) override {
    gate_.BeginFile(name);
    machines_.BeginFile(name);
    table_ = static_cast<AlibabaTable>(table);
    has_containers_ |= table_ == AlibabaTable::kContainerUsage;
    // A machine's usage is the sum of its containers' usage, so reading both tables would count it twice.
    passing_over_ = has_containers_ && table_ == AlibabaTable::kMachineUsage;
    if (passing_over_) {
      context_.report.warnings.push_back(
          fmt::format("{}: not read; the usage of the containers is read instead", name));
    }
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    if (passing_over_) return absl::OkStatus();
    return index_.ForEachRow(block.lines, block.first_line, [this](const CsvRow& row) {
      switch (table_) {
        case AlibabaTable::kMachineMeta:
          return TakeMachine(row);
        case AlibabaTable::kContainerMeta:
          return TakeContainer(row);
        case AlibabaTable::kContainerUsage:
          return TakeUsage(row, 11, 2, 3, 4);
        case AlibabaTable::kMachineUsage:
          break;
        case AlibabaTable::kBatchTask:
          return absl::OkStatus();
      }
      return TakeUsage(row, 9, 1, 2, 3);
    });
  }
  absl::Status Finish() override {
    lengths_.Finish();
    machines_.Finish();
    if (unknown_ > 0) {
      context_.report.warnings.push_back(
          fmt::format("{} containers are not in container_meta: their usage is read as a share of one core, "
                      "their memory is unknown",
                      unknown_));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status TakeMachine(const CsvRow& row);
  void TakePlace(const CsvRow& row, const UsageRow& usage);
  absl::Status TakeContainer(const CsvRow& row);
  absl::Status TakeUsage(const CsvRow& row, int columns, int time, int cpu, int memory);
  uint32_t Number(std::string_view name);
  void Join(uint32_t number, std::string_view app);
  // Adds a capacity. Returns false, and keeps the known capacity, if another capacity is known for the same time.
  bool Add(uint32_t number, const Capacity& capacity);
  Capacity CapacityOf(uint32_t number, int64_t time_s);
  JobId JobOf(uint32_t app);

  const ReadContext context_;
  RowCounter gate_;
  CsvIndex index_;
  MachineRows machines_;
  RowLengths lengths_;
  AlibabaTable table_ = AlibabaTable::kMachineUsage;
  bool has_containers_ = false, passing_over_ = false;
  NameTable names_;  // names of containers and machines
  // Containers and machines, by number in names_, which is also the number of the series
  std::vector<Thing> things_;
  NameTable apps_;
  // Vectors by application. An entry of jobs_ is kNone until the application has a row with usage.
  std::vector<uint32_t> num_tasks_, jobs_;
  uint32_t num_jobs_ = 0;
  uint64_t unknown_ = 0;
};

uint32_t Alibaba2018Reader::Number(std::string_view name) {
  const uint32_t number = names_.Number(name);
  if (number == things_.size()) things_.emplace_back();
  return number;
}

// Makes the container or machine the next task of the application, unless it already belongs to an application.
void Alibaba2018Reader::Join(uint32_t number, std::string_view app) {
  if (things_[number].app != kNone) return;
  const uint32_t a = apps_.Number(app);
  if (a == jobs_.size()) {
    jobs_.push_back(kNone);
    num_tasks_.push_back(0);
  }
  things_[number].app = a;
  things_[number].task = num_tasks_[a]++;
}

bool Alibaba2018Reader::Add(uint32_t number, const Capacity& capacity) {
  std::vector<Capacity>& all = things_[number].capacities;
  const auto same = [&](const Capacity& c) {
    return c.cores == capacity.cores && c.cpu_limit == capacity.cpu_limit &&
           c.memory_bytes == capacity.memory_bytes;
  };
  // Fast path for the common case of a row that repeats the last capacity.
  if (!all.empty() && all.back().time_s <= capacity.time_s && same(all.back())) return true;
  const auto later = [](int64_t t, const Capacity& c) { return t < c.time_s; };
  const auto at = std::upper_bound(all.begin(), all.end(), capacity.time_s, later);
  if (at != all.begin() && (at - 1)->time_s == capacity.time_s) return same(*(at - 1));
  all.insert(at, capacity);
  return true;
}

absl::Status Alibaba2018Reader::TakeMachine(const CsvRow& row) {
  if (row.size() != 7) return gate_.Bad(kBadColumns, row);
  Capacity c;
  double memory = 0;
  if (ParseInteger(row.begin(1), row.end(1), c.time_s) != NumberKind::kNumber ||
      ParseDecimal(row.begin(4), row.end(4), c.cores) == NumberKind::kBad ||
      ParseDecimal(row.begin(5), row.end(5), memory) == NumberKind::kBad) {
    return gate_.Bad(kBadNumber, row);
  }
  if (std::abs(c.time_s) > kLatestUs / kMicrosPerSecond) return gate_.Bad("time out of range", row);
  c.cpu_limit = c.cores;
  c.memory_bytes = memory * kPercent * context_.options.unit_memory_bytes;
  if (!Add(Number(row[0]), c)) gate_.Skip(kConflict, row);
  if (machines_.wanted()) {
    // The trace records no removal of machines, so a machine exists from its first row on.
    const uint32_t machine = machines_.Number(row[0]);
    const brain::MachineEventKind kind = context_.sink.machines()->listed(machine)
                                             ? brain::MachineEventKind::kUpdate
                                             : brain::MachineEventKind::kAdd;
    machines_.TakeEvent(machine,
                        {.time = Timestamp::FromSeconds(c.time_s),
                         .kind = kind,
                         .cpu_cores = c.cores,
                         .memory_bytes = c.memory_bytes},
                        row.line(), row.text());
  }
  return absl::OkStatus();
}

absl::Status Alibaba2018Reader::TakeContainer(const CsvRow& row) {
  if (row.size() != 8) return gate_.Bad(kBadColumns, row);
  Capacity c;
  double memory = 0;
  if (ParseInteger(row.begin(2), row.end(2), c.time_s) != NumberKind::kNumber ||
      ParseDecimal(row.begin(5), row.end(5), c.cores) == NumberKind::kBad ||
      ParseDecimal(row.begin(6), row.end(6), c.cpu_limit) == NumberKind::kBad ||
      ParseDecimal(row.begin(7), row.end(7), memory) == NumberKind::kBad) {
    return gate_.Bad(kBadNumber, row);
  }
  c.cores *= kPercent;
  c.cpu_limit *= kPercent;
  c.memory_bytes = memory * kPercent * context_.options.unit_memory_bytes;
  const uint32_t number = Number(row[0]);
  Join(number, row[3].empty() ? row[0] : row[3]);
  if (!Add(number, c)) gate_.Skip(kConflict, row);
  return absl::OkStatus();
}

// Returns the amount that corresponds to 100 % at `time_s`. Without meta data, this is the size of every machine,
// or one core for a container.
Capacity Alibaba2018Reader::CapacityOf(uint32_t number, int64_t time_s) {
  const Thing& thing = things_[number];
  const Capacity* known = thing.At(time_s);
  const bool is_machine = table_ == AlibabaTable::kMachineUsage;
  if (known != nullptr && known->cores > 0) return *known;
  if (!is_machine) return Capacity{.cores = 1};
  return Capacity{.cores = kMachineCores,
                  .cpu_limit = kMachineCores,
                  .memory_bytes = kMachineMemory * kPercent * context_.options.unit_memory_bytes};
}

JobId Alibaba2018Reader::JobOf(uint32_t app) {
  if (jobs_[app] == kNone) {
    jobs_[app] = num_jobs_++;
    JobInfo info;
    info.name = apps_.name(app);
    context_.sink.OnJob(JobId{jobs_[app]}, info);
  }
  return JobId{jobs_[app]};
}

absl::Status Alibaba2018Reader::TakeUsage(const CsvRow& row, int columns, int time, int cpu, int memory) {
  ++context_.report.rows;
  if (row.size() != columns) return gate_.Bad(kBadColumns, row);
  double seconds = 0;
  if (ParseDecimal(row.begin(time), row.end(time), seconds) != NumberKind::kNumber) {
    return gate_.Bad(kBadNumber, row);
  }
  if (seconds > static_cast<double>(kLatestUs / kMicrosPerSecond)) return gate_.Bad("time out of range", row);
  if (seconds == 0) {
    gate_.Skip("time 0: before or after the trace", row);
    return absl::OkStatus();
  }
  if (row[0].empty()) return gate_.Bad("no container or machine", row);
  UsageRow out;
  out.start = Timestamp{std::llround(seconds * static_cast<double>(kMicrosPerSecond))};
  const uint32_t number = Number(row[0]);
  const Capacity capacity = CapacityOf(number, out.start.seconds());
  if (!TakePercent(row, cpu, capacity.cores, out.cpu_mean_cores) ||
      !TakePercent(row, memory, capacity.memory_bytes, out.memory_mean_bytes)) {
    return gate_.Bad(kBadNumber, row);
  }
  if (capacity.memory_bytes == 0) out.memory_mean_bytes.reset();
  if (!out.cpu_mean_cores && !out.memory_mean_bytes) {
    gate_.Skip("no valid usage in the row", row);
    return absl::OkStatus();
  }
  if (!gate_.InRange(out.start.us, row)) return absl::OkStatus();
  if (things_[number].app == kNone) {
    unknown_ += table_ == AlibabaTable::kContainerUsage ? 1 : 0;
    Join(number, row[0]);
  }
  out.job = JobOf(things_[number].app);
  out.task = things_[number].task;
  if (capacity.cpu_limit > 0) out.cpu_limit_cores = static_cast<float>(capacity.cpu_limit);
  if (capacity.memory_bytes > 0) out.memory_limit_bytes = static_cast<float>(capacity.memory_bytes);
  ++context_.report.rows_used;
  if (machines_.wanted()) TakePlace(row, out);
  lengths_.Take(number, out);
  return absl::OkStatus();
}

// Reports the machine of a row to the sink. The row of a container names its machine. The row of a machine refers
// to the machine itself.
void Alibaba2018Reader::TakePlace(const CsvRow& row, const UsageRow& usage) {
  const std::string_view machine = table_ == AlibabaTable::kMachineUsage ? row[0] : row[1];
  if (machine.empty()) {
    machines_.TakeNoPlace(row.line(), row.text());
  } else {
    machines_.TakePlace(usage.job, usage.task, usage.start, machines_.Number(machine), row.line(),
                        row.text());
  }
}

}  // namespace

std::unique_ptr<FormatReader> NewAlibaba2018Reader(const ReadContext& context) {
  return std::make_unique<Alibaba2018Reader>(context);
}

}  // namespace taut::tools
