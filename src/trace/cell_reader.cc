#include "trace/cell_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/byte_units.h"
#include "base/strings.h"
#include "model/units.h"
#include "trace/byte_source.h"
#include "trace/csv_number.h"
#include "trace/csv_reader.h"
#include "trace/csv_table.h"

namespace taut {
namespace {

constexpr double kMaxTasks = 10'000'000;

enum class Table : uint8_t { kUnknown, kMachines, kJobs, kPods2023 };
enum class Role : uint8_t {
  kName,
  kUser,
  kTier,
  kTasks,
  kCpu,
  kMemory,
  kGpu,
  kReservedCpu,
  kReservedMemory,
  kConstraints,
  kSpread,
  kMaxPerMachine,
  kGang,
  kGpuShare,
  kGpuModels,
  kStart,
  kEnd,
  kIgnored,
};
constexpr size_t kRoles = static_cast<size_t>(Role::kIgnored);

// A column's role and, for a number, what one is in the units of CellModel.
struct Column {
  Table table;
  std::string_view name;
  Role role;
  double unit = 1;
};
constexpr Column kColumns[] = {
    {Table::kMachines, "name", Role::kName},
    {Table::kMachines, "sn", Role::kName},
    {Table::kMachines, "cpu_cores", Role::kCpu, 1000},
    {Table::kMachines, "cpu_milli", Role::kCpu, 1},
    {Table::kMachines, "memory_gib", Role::kMemory, kGiB},
    {Table::kMachines, "memory_mib", Role::kMemory, kMiB},
    {Table::kMachines, "gpus", Role::kGpu, 1000},
    {Table::kMachines, "gpu", Role::kGpu, 1000},
    {Table::kJobs, "name", Role::kName},
    {Table::kJobs, "user", Role::kUser},
    {Table::kJobs, "tier", Role::kTier},
    {Table::kJobs, "tasks", Role::kTasks},
    {Table::kJobs, "cpu_limit", Role::kCpu, 1000},
    {Table::kJobs, "memory_limit", Role::kMemory, 1},
    {Table::kJobs, "gpu_limit", Role::kGpu, 1000},
    {Table::kJobs, "cpu_reservation", Role::kReservedCpu, 1000},
    {Table::kJobs, "memory_reservation", Role::kReservedMemory, 1},
    {Table::kJobs, "constraints", Role::kConstraints},
    {Table::kJobs, "spread", Role::kSpread},
    {Table::kJobs, "max_per_machine", Role::kMaxPerMachine},
    {Table::kJobs, "gang", Role::kGang},
    {Table::kPods2023, "name", Role::kName},
    {Table::kPods2023, "cpu_milli", Role::kCpu, 1},
    {Table::kPods2023, "memory_mib", Role::kMemory, kMiB},
    {Table::kPods2023, "num_gpu", Role::kGpu, 1},
    {Table::kPods2023, "gpu_milli", Role::kGpuShare, 1},
    {Table::kPods2023, "gpu_spec", Role::kGpuModels},
    {Table::kPods2023, "qos", Role::kTier},
    {Table::kPods2023, "creation_time", Role::kStart},
    {Table::kPods2023, "deletion_time", Role::kEnd},
    {Table::kPods2023, "pod_phase", Role::kIgnored},
    {Table::kPods2023, "scheduled_time", Role::kIgnored},
};

std::optional<CellTier> TierOf(Table table, std::string_view text) {
  if (table == Table::kPods2023) {
    if (text == "LS" || text == "Guaranteed") return CellTier::kProduction;
    if (text == "Burstable") return CellTier::kMid;
    if (text == "BE") return CellTier::kBatch;
    return std::nullopt;
  }
  if (text.empty()) return CellTier::kBatch;
  for (size_t t = 0; t < kCellTiers; ++t) {
    if (text == Name(static_cast<CellTier>(t))) return static_cast<CellTier>(t);
  }
  return std::nullopt;
}

// What a row lacks, as a cause to count it by; empty: nothing.
using Cause = std::string_view;

class CellReader {
 public:
  CellReader(bool strict, ReadReport& report) : report_(report), file_(strict, report) {
    model_.resources = CpuMemoryGpu();
  }

  absl::Status ReadFile(const InputFile& file) {
    auto source = file.open();
    if (!source.ok()) return source.status();
    file_.BeginFile(file.name);
    table_ = Table::kUnknown;
    return file_.ReadRows(*std::move(source), [this](const CsvRow& row) {
      return table_ == Table::kUnknown ? TakeHeader(row) : TakeRow(row);
    });
  }

  absl::StatusOr<CellInput> Finish() {
    if (!has_gpus_) model_.resources = CpuAndMemory();
    CellInput out{std::move(model_), {}};
    auto findings = CheckCell(out.model);
    if (!findings.ok()) return findings.status();
    out.findings = *std::move(findings);
    for (const auto& [what, none] :
         {std::pair{"machine", out.model.machines.empty()}, std::pair{"job", out.model.jobs.empty()}}) {
      if (none)
        return absl::InvalidArgumentError(StrCat("no usable ", what,
                                                 ": expected a file of machines (name, cpu_cores, "
                                                 "memory_gib) and one of jobs (name, cpu_limit, "
                                                 "memory_limit), or those of Alibaba's GPU trace of 2023"));
    }
    return out;
  }

 private:
  struct Attribute {
    int column;
    uint32_t key;
  };

  absl::Status TakeHeader(const CsvRow& row) {
    std::vector<std::string_view> names;
    for (int i = 0; i < row.size(); ++i) names.push_back(Unquoted(row[i]));
    if (names[0].starts_with("\xEF\xBB\xBF")) names[0] = Unquoted(names[0].substr(3));
    const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
    if (has("name") && has("num_gpu") && has("gpu_milli") && has("cpu_milli") && has("memory_mib")) {
      table_ = Table::kPods2023;
    } else if (has("name") && has("cpu_limit") && has("memory_limit")) {
      table_ = Table::kJobs;
    } else if ((has("sn") && has("cpu_milli") && has("memory_mib")) ||
               (has("name") && has("cpu_cores") && has("memory_gib"))) {
      table_ = Table::kMachines;
    } else {
      return absl::InvalidArgumentError(StrCat(
          file_.file(),
          ": the first line must name the columns of machines (name, cpu_cores, memory_gib) or of jobs "
          "(name, cpu_limit, memory_limit), or be that of a table of Alibaba's GPU trace of 2023"));
    }
    size_ = row.size();
    column_.fill(-1);
    attributes_.clear();
    for (int i = 0; i < row.size(); ++i) AssignColumn(i, names[static_cast<size_t>(i)]);
    return absl::OkStatus();
  }
  void AssignColumn(int i, std::string_view name) {
    for (const Column& c : kColumns) {
      if (c.table != table_ || c.name != name) continue;
      if (c.role == Role::kIgnored) return;
      column_[static_cast<size_t>(c.role)] = i;
      unit_[static_cast<size_t>(c.role)] = c.unit;
      has_gpus_ = has_gpus_ || c.role == Role::kGpu;
      return;
    }
    if (table_ == Table::kMachines) {
      attributes_.push_back({i, model_.names.Number(name)});
    } else {
      file_.WarnUnused(name);
    }
  }

  absl::Status TakeRow(const CsvRow& row) {
    ++report_.rows;
    Cause cause;
    if (row.size() != size_) {
      cause = kBadColumns;
    } else if (Text(row, Role::kName).empty()) {
      cause = "no name";
    } else {
      cause = table_ == Table::kMachines ? TakeMachine(row) : TakeJob(row);
    }
    if (!cause.empty()) return file_.Bad(cause, row);
    ++report_.rows_used;
    return absl::OkStatus();
  }
  std::string_view Text(const CsvRow& row, Role role) const {
    const int i = column_[static_cast<size_t>(role)];
    return i < 0 ? std::string_view() : Unquoted(row[i]);
  }
  // In the units of CellModel, rounded; empty: `otherwise`. False if it is bad or too large.
  bool Amount(const CsvRow& row, Role role, int64_t otherwise, int64_t& out) const {
    const std::string_view text = Text(row, role);
    out = otherwise;
    if (text.empty()) return true;
    double value = 0;
    const bool bytes = table_ == Table::kJobs && (role == Role::kMemory || role == Role::kReservedMemory);
    if (bytes) {
      const absl::StatusOr<double> parsed = ParseBytes(text);
      if (!parsed.ok()) return false;
      value = *parsed;
    } else if (ParseDecimalSlow(text.data(), text.data() + text.size(), value) != NumberKind::kNumber) {
      return false;
    }
    value = std::round(value * unit_[static_cast<size_t>(role)]);
    if (!(value >= 0 && value <= static_cast<double>(kMaxCellAmount))) return false;
    out = static_cast<int64_t>(value);
    return true;
  }

  Cause TakeMachine(const CsvRow& row) {
    CellMachine machine{std::string(Text(row, Role::kName)), {}, {}};
    if (!Amount(row, Role::kCpu, 0, machine.capacity[kCellCpu]) ||
        !Amount(row, Role::kMemory, 0, machine.capacity[kCellMemory]) ||
        !Amount(row, Role::kGpu, 0, machine.capacity[kCellGpu]))
      return kBadNumber;
    for (const Attribute& a : attributes_) {
      const std::string_view value = Unquoted(row[a.column]);
      if (!value.empty()) machine.attributes.push_back({a.key, model_.names.Number(value)});
    }
    model_.machines.push_back(std::move(machine));
    return {};
  }

  Cause TakeJob(const CsvRow& row) {
    CellJob job;
    job.name = Text(row, Role::kName);
    job.user = Text(row, Role::kUser);
    const std::optional<CellTier> tier = TierOf(table_, Text(row, Role::kTier));
    if (!tier.has_value()) return "unknown tier";
    job.tier = *tier;
    int64_t tasks = 1, share = 0, most = 0;
    if (!Amount(row, Role::kCpu, 0, job.limit[kCellCpu]) ||
        !Amount(row, Role::kMemory, 0, job.limit[kCellMemory]) ||
        !Amount(row, Role::kGpu, 0, job.limit[kCellGpu]) || !Amount(row, Role::kGpuShare, 0, share) ||
        !Amount(row, Role::kTasks, 1, tasks) || !Amount(row, Role::kMaxPerMachine, 0, most))
      return kBadNumber;
    if (tasks < 1 || static_cast<double>(tasks) > kMaxTasks || most > UINT32_MAX) return kBadNumber;
    if (table_ == Table::kPods2023) {
      if (job.limit[kCellGpu] > 1'000'000 || share > 1000) return kBadNumber;
      job.limit[kCellGpu] *= share;
    }
    job.tasks = static_cast<uint32_t>(tasks);
    job.max_per_machine = static_cast<uint32_t>(most);
    job.reservation = job.limit;
    if (!Amount(row, Role::kReservedCpu, job.limit[kCellCpu], job.reservation[kCellCpu]) ||
        !Amount(row, Role::kReservedMemory, job.limit[kCellMemory], job.reservation[kCellMemory]))
      return kBadNumber;
    if (job.limit == CellAmounts{}) return "a job that asks for nothing";
    if (job.reservation[kCellCpu] > job.limit[kCellCpu] ||
        job.reservation[kCellMemory] > job.limit[kCellMemory])
      return "a reservation above the limit";
    if (Cause cause = TakeLifetime(row); !cause.empty()) return cause;
    if (Cause cause = TakeRules(row, job); !cause.empty()) return cause;
    model_.jobs.push_back(std::move(job));
    return {};
  }
  Cause TakeLifetime(const CsvRow& row) const {
    if (column_[static_cast<size_t>(Role::kEnd)] < 0) return {};
    const std::string_view start = Text(row, Role::kStart), end = Text(row, Role::kEnd);
    if (start.empty() && !end.empty()) return "an end without a start";
    const std::optional<double> from = ParseDouble(start), to = ParseDouble(end);
    if ((!start.empty() && !from.has_value()) || (!end.empty() && !to.has_value())) return "bad time";
    if (from.has_value() && to.has_value() && *to < *from) return "an end before the start";
    return {};
  }
  Cause TakeRules(const CsvRow& row, CellJob& job) {
    const std::string_view gang = Text(row, Role::kGang);
    if (!gang.empty() && gang != "0" && gang != "1") return "gang is not 0 or 1";
    job.gang = gang == "1";
    if (const std::string_view models = Text(row, Role::kGpuModels); !models.empty())
      job.constraints.push_back(Constraint("model", models));
    const std::string_view constraints = Text(row, Role::kConstraints);
    for (const std::string_view one : Split(constraints, ';')) {
      if (constraints.empty()) break;
      const size_t equals = one.find('=');
      if (equals == std::string_view::npos || equals == 0 || equals + 1 == one.size())
        return "constraints are not KEY=VALUE|VALUE;KEY=VALUE";
      job.constraints.push_back(Constraint(one.substr(0, equals), one.substr(equals + 1)));
    }
    const std::string_view spread = Text(row, Role::kSpread);
    if (spread.empty()) return {};
    const size_t colon = spread.rfind(':');
    const std::optional<double> most =
        colon == std::string_view::npos ? std::nullopt : ParseDouble(spread.substr(colon + 1));
    if (!most.has_value() || colon == 0 || !(*most >= 1 && *most <= kMaxTasks))
      return "spread is not KEY:TASKS";
    job.spread_key = model_.names.Number(spread.substr(0, colon));
    job.max_per_domain = static_cast<uint32_t>(*most);
    return {};
  }
  CellConstraint Constraint(std::string_view key, std::string_view values) {
    CellConstraint out{model_.names.Number(key), {}};
    for (const std::string_view v : Split(values, '|')) out.values.push_back(model_.names.Number(v));
    return out;
  }

  ReadReport& report_;
  CsvTable file_;
  Table table_ = Table::kUnknown;
  int size_ = 0;
  std::array<int, kRoles> column_ = {};
  std::array<double, kRoles> unit_ = {};
  std::vector<Attribute> attributes_;
  bool has_gpus_ = false;
  CellModel model_;
};

}  // namespace

absl::StatusOr<CellInput> ReadCell(const CellReadOptions& options, ReadReport& report) {
  if (options.paths.empty()) return absl::InvalidArgumentError("no files of a cell were given");
  const auto inputs = ExpandPaths(options.paths, report.warnings);
  if (!inputs.ok()) return inputs.status();
  CellReader reader(options.strict, report);
  for (const InputFile& file : *inputs) {
    if (absl::Status s = reader.ReadFile(file); !s.ok()) return s;
  }
  return reader.Finish();
}

}  // namespace taut
