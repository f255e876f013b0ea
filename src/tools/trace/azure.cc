// Reads the Azure public VM traces of 2017 and 2019 (V1, V2): CPU readings, and the table of VMs with their sizes.
#include <string>

#include "common/base/byte_units.h"
#include "fmt/format.h"
#include "tools/trace/csv_header.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/detect.h"

namespace taut::tools {
namespace {

constexpr uint32_t kNoIndex = UINT32_MAX;
constexpr int64_t kReadingSeconds = 300;
// V2 contains sizes as buckets, named after their upper bounds. For buckets without an upper bound, the authors of
// the trace use these values.
constexpr double kOverCores = 30, kOverGigabytes = 70;

struct Vm {
  uint32_t job = kNoIndex;  // kNoIndex before the VM's first reading
  uint32_t deployment = kNoIndex;
  float cores = 0;  // size in cores; 0: unknown
  float memory_bytes = 0;
  Sensitivity sensitivity = Sensitivity::kUnknown;
};

// Parses a size such as "8". Sets `out` to `over` for ">24", a size above all bounds.
bool TakeSize(const CsvRow& row, int i, double over, double factor, float& out) {
  double value = 0;
  if (row[i].starts_with('>')) {
    value = over;
  } else if (ParseDecimal(row.begin(i), row.end(i), value) == NumberKind::kBad || value > 1e6) {
    return false;
  }
  out = static_cast<float>(value * factor);
  return true;
}

class AzureReader final : public FormatReader {
 public:
  explicit AzureReader(const ReadContext& context) : context_(context), gate_(context), index_(',') {}

  absl::Status BeginFile(std::string_view name, int table) override {
    gate_.BeginFile(name);
    table_ = static_cast<AzureTable>(table);
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    return index_.ForEachRow(block.lines, block.first_line, [this](const CsvRow& row) {
      return table_ == AzureTable::kVms ? TakeVm(row) : TakeReading(row);
    });
  }
  absl::Status Finish() override {
    if (unknown_ > 0) {
      context_.report.warnings.push_back(fmt::format(
          "{} VMs are not in vmtable: their usage is read as a share of one core, their limit is unknown",
          unknown_));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status TakeVm(const CsvRow& row);
  absl::Status TakeReading(const CsvRow& row);
  Vm& Find(std::string_view name);
  void MakeJob(std::string_view name, Vm& vm);

  const ReadContext context_;
  RowCounter gate_;
  CsvIndex index_;
  AzureTable table_ = AzureTable::kReadings;
  NameTable names_;
  std::vector<Vm> vms_;
  NameTable deployments_;
  uint32_t num_jobs_ = 0;
  uint64_t unknown_ = 0;
};

Vm& AzureReader::Find(std::string_view name) {
  const uint32_t number = names_.Number(name);
  if (number == vms_.size()) vms_.emplace_back();
  return vms_[number];
}

absl::Status AzureReader::TakeVm(const CsvRow& row) {
  if (row.size() != 11) return gate_.Bad(kBadColumns, row);
  if (row.line() == 1 && row[0] == "vmid") return absl::OkStatus();
  Vm vm;
  if (!TakeSize(row, 9, kOverCores, 1, vm.cores) ||
      !TakeSize(row, 10, kOverGigabytes, kGiB, vm.memory_bytes)) {
    return gate_.Bad(kBadNumber, row);
  }
  if (!row[2].empty()) vm.deployment = deployments_.Number(row[2]);
  if (row[8] == "Interactive") vm.sensitivity = Sensitivity::kSensitive;
  if (row[8] == "Delay-insensitive") vm.sensitivity = Sensitivity::kBatch;
  Find(row[0]) = vm;
  return absl::OkStatus();
}

void AzureReader::MakeJob(std::string_view name, Vm& vm) {
  vm.job = num_jobs_++;
  unknown_ += vm.cores > 0 ? 0 : 1;
  JobInfo info;
  info.name = std::string(name);
  if (vm.deployment != kNoIndex) info.logical_name = deployments_.name(vm.deployment);
  info.sensitivity = vm.sensitivity;
  context_.sink.OnJob(JobId{vm.job}, info);
}

absl::Status AzureReader::TakeReading(const CsvRow& row) {
  if (row.line() == 1 && ColumnName(row[0]) == "timestamp") return absl::OkStatus();
  ++context_.report.rows;
  if (row.size() != 5) return gate_.Bad(kBadColumns, row);
  int64_t time = 0;
  if (ParseInteger(row.begin(0), row.end(0), time) != NumberKind::kNumber) return gate_.Bad(kBadNumber, row);
  if (time < 0 || time > kLatestUs / kMicrosPerSecond) return gate_.Bad("time out of range", row);
  if (row[1].empty()) return gate_.Bad("no VM", row);
  UsageRow out;
  if (!TakeFloat(row, 3, 0.01, out.cpu_max_cores) || !TakeFloat(row, 4, 0.01, out.cpu_mean_cores)) {
    return gate_.Bad(kBadNumber, row);
  }
  if (!out.cpu_mean_cores) return gate_.Bad("no usage in the row", row);
  if (!gate_.InRange(time * kMicrosPerSecond, row)) return absl::OkStatus();
  Vm& vm = Find(row[1]);
  if (vm.job == kNoIndex) MakeJob(row[1], vm);
  const float cores = vm.cores > 0 ? vm.cores : 1.0F;
  out.job = JobId{vm.job};
  out.start = Timestamp::FromSeconds(time);
  out.end = Timestamp::FromSeconds(time + kReadingSeconds);
  *out.cpu_mean_cores *= cores;
  if (out.cpu_max_cores) *out.cpu_max_cores *= cores;
  if (out.cpu_max_cores && *out.cpu_max_cores < *out.cpu_mean_cores) out.cpu_max_cores.reset();
  if (vm.cores > 0) out.cpu_limit_cores = vm.cores;
  if (vm.memory_bytes > 0) out.memory_limit_bytes = vm.memory_bytes;
  ++context_.report.rows_used;
  context_.sink.OnUsage(out);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<FormatReader> NewAzureReader(const ReadContext& context) {
  return std::make_unique<AzureReader>(context);
}

}  // namespace taut::tools
