#include "tools/trace/cell_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/csv_amount.h"
#include "tools/trace/csv_number.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/csv_table.h"
#include "tools/trace/pod_events.h"

namespace taut::tools {
namespace {

constexpr double kMaxTasks = 10'000'000;
constexpr int64_t kNoTime = -1;
constexpr double kMaxSeconds = static_cast<double>(brain::kMaxCellTime) / 1000;

enum class Table : uint8_t { kUnknown, kMachines, kJobs, kEvents, kPods2023 };
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
  kScheduled,
  kPhase,
  kSubmit,
  kRun,
  kKind,
  kTime,
  kEvent,
};
constexpr size_t kRoles = static_cast<size_t>(Role::kEvent) + 1;

// Role of a column and, for numbers, the conversion to the units of CellModel.
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
    {Table::kJobs, "submit_s", Role::kSubmit, 1000},
    {Table::kJobs, "run_s", Role::kRun, 1000},
    {Table::kJobs, "kind", Role::kKind},
    {Table::kEvents, "time_s", Role::kTime, 1000},
    {Table::kEvents, "event", Role::kEvent},
    {Table::kEvents, "name", Role::kName},
    {Table::kEvents, "cpu_cores", Role::kCpu, 1000},
    {Table::kEvents, "memory_gib", Role::kMemory, kGiB},
    {Table::kEvents, "gpus", Role::kGpu, 1000},
    {Table::kPods2023, "name", Role::kName},
    {Table::kPods2023, "cpu_milli", Role::kCpu, 1},
    {Table::kPods2023, "memory_mib", Role::kMemory, kMiB},
    {Table::kPods2023, "num_gpu", Role::kGpu, 1},
    {Table::kPods2023, "gpu_milli", Role::kGpuShare, 1},
    {Table::kPods2023, "gpu_spec", Role::kGpuModels},
    {Table::kPods2023, "qos", Role::kTier},
    {Table::kPods2023, "creation_time", Role::kStart},
    {Table::kPods2023, "deletion_time", Role::kEnd},
    {Table::kPods2023, "pod_phase", Role::kPhase},
    {Table::kPods2023, "scheduled_time", Role::kScheduled},
};

std::optional<brain::CellTier> TierOf(Table table, std::string_view text) {
  if (table == Table::kPods2023) {
    if (text == "LS" || text == "Guaranteed") return brain::CellTier::kProduction;
    if (text == "Burstable") return brain::CellTier::kMid;
    if (text == "BE") return brain::CellTier::kBatch;
    return std::nullopt;
  }
  if (text.empty()) return brain::CellTier::kBatch;
  for (size_t t = 0; t < brain::kCellTiers; ++t) {
    if (text == Name(static_cast<brain::CellTier>(t))) return static_cast<brain::CellTier>(t);
  }
  return std::nullopt;
}

// Merges events from files with submissions, which may be unordered. Events of a file keep their order even if it
// is wrong, so that CheckCellWorkload() can report the error.
void MergeEvents(const std::vector<brain::CellEvent>& of_files, std::vector<brain::CellEvent>& submissions) {
  std::ranges::stable_sort(submissions, {}, &brain::CellEvent::time_ms);
  std::vector<brain::CellEvent> all;
  auto next = submissions.begin();
  for (const brain::CellEvent& e : of_files) {
    for (; next != submissions.end() && next->time_ms <= e.time_ms; ++next) all.push_back(*next);
    all.push_back(e);
  }
  all.insert(all.end(), next, submissions.end());
  submissions = std::move(all);
}

// Reason for which a row is skipped; empty for a valid row. The report counts skipped rows by this reason.
using Cause = std::string_view;

class CellReader {
 public:
  CellReader(const CellReadOptions& options, ReadReport& report)
      : jobs_needed_(options.jobs_needed), report_(report), file_(options.strict, report) {
    model_.resources = brain::CpuMemoryGpu();
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
    if (!has_gpus_) model_.resources = brain::CpuAndMemory();
    CellInput out{std::move(model_), {}, {}, !pods_.empty(), pods_.Fold(pods_file_, report_)};
    auto findings = brain::CheckCell(out.model);
    if (!findings.ok()) return findings.status();
    out.findings = *std::move(findings);
    if (absl::Status s = AddWorkload(out.model, out.workload); !s.ok()) return s;
    for (const auto& [what, none] :
         {std::pair{"machine", out.model.machines.empty()}, std::pair{"job", out.model.jobs.empty()}}) {
      if (none && (jobs_needed_ || what == std::string_view("machine")))
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
  struct JobTimes {
    int64_t submit_ms = kNoTime;
    brain::CellJobRun run;
  };
  // A row of an events file. Its names are resolved when all jobs and machines are known.
  struct Event {
    brain::CellEvent event;
    brain::CellAmounts amounts = {};
    std::string name, text, file;
    uint64_t line = 0;
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
    } else if (has("time_s") && has("event") && has("name")) {
      table_ = Table::kEvents;
    } else if ((has("sn") && has("cpu_milli") && has("memory_mib")) ||
               (has("name") && has("cpu_cores") && has("memory_gib"))) {
      table_ = Table::kMachines;
    } else {
      return absl::InvalidArgumentError(StrCat(
          file_.file(),
          ": the first line must name the columns of machines (name, cpu_cores, memory_gib), of jobs (name, "
          "cpu_limit, memory_limit) or of events (time_s, event, name), or be that of a table of Alibaba's "
          "GPU trace of 2023"));
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
      cause = table_ == Table::kMachines ? TakeMachine(row)
              : table_ == Table::kEvents ? TakeEvent(row)
                                         : TakeJob(row);
    }
    if (!cause.empty()) return file_.Bad(cause, row);
    ++report_.rows_used;
    return absl::OkStatus();
  }
  std::string_view Text(const CsvRow& row, Role role) const {
    const int i = column_[static_cast<size_t>(role)];
    return i < 0 ? std::string_view() : Unquoted(row[i]);
  }
  // Parses an amount and rounds it to the units of CellModel. Sets `out` to `otherwise` if the field is empty.
  // Returns false if the amount is invalid or too large.
  bool Amount(const CsvRow& row, Role role, int64_t otherwise, int64_t& out) const {
    const std::string_view text = Text(row, role);
    out = otherwise;
    if (text.empty()) return true;
    double value = 0;
    const bool bytes = table_ == Table::kJobs && (role == Role::kMemory || role == Role::kReservedMemory);
    const bool cores = role == Role::kCpu || role == Role::kReservedCpu;
    if (bytes || (cores && table_ != Table::kPods2023)) {
      const std::optional<double> parsed = ParseCsvAmount(text, bytes, false);
      if (!parsed.has_value()) return false;
      value = *parsed;
    } else if (ParseDecimalSlow(text.data(), text.data() + text.size(), value) != NumberKind::kNumber) {
      return false;
    }
    value = std::round(value * unit_[static_cast<size_t>(role)]);
    if (!(value >= 0 && value <= static_cast<double>(brain::kMaxCellAmount))) return false;
    out = static_cast<int64_t>(value);
    return true;
  }

  Cause TakeMachine(const CsvRow& row) {
    brain::CellMachine machine{std::string(Text(row, Role::kName)), {}, {}};
    if (!Amount(row, Role::kCpu, 0, machine.capacity[brain::kCellCpu]) ||
        !Amount(row, Role::kMemory, 0, machine.capacity[brain::kCellMemory]) ||
        !Amount(row, Role::kGpu, 0, machine.capacity[brain::kCellGpu]))
      return kBadNumber;
    for (const Attribute& a : attributes_) {
      const std::string_view value = Unquoted(row[a.column]);
      if (!value.empty()) machine.attributes.push_back({a.key, model_.names.Number(value)});
    }
    model_.machines.push_back(std::move(machine));
    return {};
  }

  Cause TakeJob(const CsvRow& row) {
    brain::CellJob job;
    job.name = Text(row, Role::kName);
    job.user = Text(row, Role::kUser);
    const std::optional<brain::CellTier> tier = TierOf(table_, Text(row, Role::kTier));
    if (!tier.has_value()) return "unknown tier";
    job.tier = *tier;
    int64_t tasks = 1, share = 0, most = 0;
    if (!Amount(row, Role::kCpu, 0, job.limit[brain::kCellCpu]) ||
        !Amount(row, Role::kMemory, 0, job.limit[brain::kCellMemory]) ||
        !Amount(row, Role::kGpu, 0, job.limit[brain::kCellGpu]) || !Amount(row, Role::kGpuShare, 0, share) ||
        !Amount(row, Role::kTasks, 1, tasks) || !Amount(row, Role::kMaxPerMachine, 0, most))
      return kBadNumber;
    if (tasks < 1 || static_cast<double>(tasks) > kMaxTasks || most > UINT32_MAX) return kBadNumber;
    if (table_ == Table::kPods2023) {
      if (job.limit[brain::kCellGpu] > 1'000'000 || share > 1000) return kBadNumber;
      job.limit[brain::kCellGpu] *= share;
    }
    job.tasks = static_cast<uint32_t>(tasks);
    job.max_per_machine = static_cast<uint32_t>(most);
    job.reservation = job.limit;
    if (!Amount(row, Role::kReservedCpu, job.limit[brain::kCellCpu], job.reservation[brain::kCellCpu]) ||
        !Amount(row, Role::kReservedMemory, job.limit[brain::kCellMemory],
                job.reservation[brain::kCellMemory]))
      return kBadNumber;
    if (job.limit == brain::CellAmounts{}) return "a job that asks for nothing";
    if (job.reservation[brain::kCellCpu] > job.limit[brain::kCellCpu] ||
        job.reservation[brain::kCellMemory] > job.limit[brain::kCellMemory])
      return "a reservation above the limit";
    if (Cause cause = TakeLifetime(row); !cause.empty()) return cause;
    if (Cause cause = TakeRules(row, job); !cause.empty()) return cause;
    JobTimes times;
    if (Cause cause = TakeTimes(row, times); !cause.empty()) return cause;
    if (table_ == Table::kPods2023) TakePod(row, job);
    times_.try_emplace(job.name, times);  // keeps the first of several jobs with one name, like CheckCell()
    model_.jobs.push_back(std::move(job));
    return {};
  }
  Cause TakeTimes(const CsvRow& row, JobTimes& out) const {
    const std::string_view kind = Text(row, Role::kKind);
    if (!kind.empty() && kind != "work" && kind != "service") return "kind is not work or service";
    if (kind == "service") out.run.kind = brain::CellJobKind::kService;
    if (table_ == Table::kJobs) {
      int64_t run = 0;
      if (!Amount(row, Role::kSubmit, kNoTime, out.submit_ms) ||
          !Amount(row, Role::kRun, brain::kNoEnd, run) || run == 0 ||
          (run > brain::kMaxCellTime && run != brain::kNoEnd) || out.submit_ms > brain::kMaxCellTime)
        return "bad time";
      out.run.run_ms = run;
      return {};
    }
    // A pod runs from its scheduling, or from its creation if unknown, to its end. The times of the trace are
    // whole seconds.
    const auto time = [&](Role role) { return ParseDouble(Text(row, role)); };
    const std::optional<double> came = time(Role::kStart), end = time(Role::kEnd);
    const std::optional<double> began = time(Role::kScheduled).has_value() ? time(Role::kScheduled) : came;
    if (!came.has_value()) return {};
    if (!(*came >= 0 && *came <= kMaxSeconds && end.value_or(0) <= kMaxSeconds)) return "bad time";
    out.submit_ms = static_cast<int64_t>(*came * 1000);
    if (end.has_value() && *end > *began) out.run.run_ms = static_cast<int64_t>((*end - *began) * 1000);
    if (end.has_value() && *end <= *began) out.run.run_ms = 1000;
    return {};
  }
  // Adds the events of a pod. REQUIRES: TakeTimes() and TakeLifetime() returned no reason to skip the row.
  void TakePod(const CsvRow& row, const brain::CellJob& job) {
    const auto time = [&](Role role) { return ParseDouble(Text(row, role)); };
    PodEvents::Times times{time(Role::kStart), time(Role::kScheduled), time(Role::kEnd)};
    if (!(times.scheduled_s.value_or(0) >= 0 && times.scheduled_s.value_or(0) <= kMaxSeconds))
      times.scheduled_s.reset();
    pods_.Add(job, Text(row, Role::kPhase), times, row.line());
    pods_file_ = file_.file();
  }

  Cause TakeEvent(const CsvRow& row) {
    Event out;
    const std::string_view event = Text(row, Role::kEvent);
    bool known = false;
    for (int kind = 0; kind <= static_cast<int>(brain::CellEventKind::kCapacity) && !known; ++kind) {
      out.event.kind = static_cast<brain::CellEventKind>(kind);
      known = event == Name(out.event.kind);
    }
    if (!known) return "unknown event";
    if (Text(row, Role::kTime).empty() || !Amount(row, Role::kTime, 0, out.event.time_ms) ||
        out.event.time_ms > brain::kMaxCellTime)
      return "bad time";
    if (!Amount(row, Role::kCpu, kNoTime, out.amounts[brain::kCellCpu]) ||
        !Amount(row, Role::kMemory, kNoTime, out.amounts[brain::kCellMemory]) ||
        !Amount(row, Role::kGpu, 0, out.amounts[brain::kCellGpu]))
      return kBadNumber;
    const bool amounts =
        out.event.kind == brain::CellEventKind::kLimit || out.event.kind == brain::CellEventKind::kCapacity;
    if (amounts && (out.amounts[brain::kCellCpu] < 0 || out.amounts[brain::kCellMemory] < 0))
      return "an event without its amounts of CPU and memory";
    if (!amounts) out.amounts = {};
    out.name = Text(row, Role::kName);
    out.line = row.line();
    out.text = row.text();
    out.file = file_.file();
    events_.push_back(std::move(out));
    return {};
  }

  // Resolves the names in the events. Call after the last file.
  absl::Status AddWorkload(const brain::CellModel& model, brain::CellWorkload& out) {
    absl::flat_hash_map<std::string_view, uint32_t> jobs, machines;
    std::vector<uint8_t> submitted(model.jobs.size());
    for (uint32_t j = 0; j < model.jobs.size(); ++j) jobs[model.jobs[j].name] = j;
    for (uint32_t m = 0; m < model.machines.size(); ++m) machines[model.machines[m].name] = m;
    std::vector<brain::CellEvent> of_file;
    for (const Event& e : events_) {
      const auto& names = e.event.kind <= brain::CellEventKind::kLimit ? jobs : machines;
      const auto known = names.find(e.name);
      if (known == names.end()) {
        file_.BeginFile(e.file);
        --report_.rows_used;
        const Cause cause = &names == &jobs ? "an event of an unknown job" : "an event of an unknown machine";
        if (absl::Status s = file_.Bad(cause, e.line, e.text); !s.ok()) return s;
        continue;
      }
      brain::CellEvent event = e.event;
      event.id = known->second;
      if (event.kind == brain::CellEventKind::kSubmit) submitted[event.id] = 1;
      event.amounts = static_cast<uint32_t>(out.amounts.size());
      out.amounts.push_back(e.amounts);
      of_file.push_back(event);
    }
    for (uint32_t j = 0; j < model.jobs.size(); ++j) {
      const JobTimes& times = times_[model.jobs[j].name];
      out.runs.push_back(times.run);
      if (times.submit_ms != kNoTime) {
        out.events.push_back({times.submit_ms, brain::CellEventKind::kSubmit, j, 0});
      } else if (submitted[j] == 0) {
        out.events.push_back({0, brain::CellEventKind::kSubmit, j, 0});
      }
    }
    MergeEvents(of_file, out.events);
    return absl::OkStatus();
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
  Cause TakeRules(const CsvRow& row, brain::CellJob& job) {
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
  brain::CellConstraint Constraint(std::string_view key, std::string_view values) {
    brain::CellConstraint out{model_.names.Number(key), {}};
    for (const std::string_view v : Split(values, '|')) out.values.push_back(model_.names.Number(v));
    return out;
  }

  const bool jobs_needed_;
  ReadReport& report_;
  CsvTable file_;
  Table table_ = Table::kUnknown;
  int size_ = 0;
  std::array<int, kRoles> column_ = {};
  std::array<double, kRoles> unit_ = {};
  std::vector<Attribute> attributes_;
  bool has_gpus_ = false;
  brain::CellModel model_;
  absl::flat_hash_map<std::string, JobTimes> times_;  // submission and run times by name of the job
  std::vector<Event> events_;
  PodEvents pods_;
  std::string pods_file_;
};

}  // namespace

absl::StatusOr<CellInput> ReadCell(const CellReadOptions& options, ReadReport& report) {
  if (options.paths.empty()) return absl::InvalidArgumentError("no files of a cell were given");
  const auto inputs = ExpandPaths(options.paths, report.warnings);
  if (!inputs.ok()) return inputs.status();
  CellReader reader(options, report);
  for (const InputFile& file : *inputs) {
    if (absl::Status s = reader.ReadFile(file); !s.ok()) return s;
  }
  return reader.Finish();
}

}  // namespace taut::tools
