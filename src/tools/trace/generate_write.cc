// Writes a synthetic cell to files: plain CSV, or the tables of a Google v3 cell.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>

#include "fmt/format.h"
#include "tools/trace/generate.h"
#include "tools/trace/google2019_event.h"
#include "tools/trace/output_file.h"

namespace taut::tools {
namespace {

constexpr int64_t kFirstCollection = 330'587'160'000;
constexpr int64_t kFirstMachine = 23'624'491'000;
constexpr int kMachines = 400;
constexpr std::string_view kNever = "9223372036854775807";

int64_t CollectionOf(const GeneratedJob& job) { return kFirstCollection + 2 * int64_t{job.id.value}; }
int64_t AllocOf(const GeneratedJob& job) { return job.in_alloc ? CollectionOf(job) + 1 : 0; }
int64_t MachineOf(const GeneratedJob& job, uint32_t task) {
  return kFirstMachine + (int64_t{job.id.value} * 37 + task) % kMachines;
}
int SchedulingClass(Sensitivity s) { return s == Sensitivity::kUnknown ? 0 : static_cast<int>(s) - 1; }

// Rounds to ten binary digits, but not finer than 2^-20 of the largest machine.
double Round(double normalised) {
  if (!(normalised > 0)) return 0;
  int exponent = 0;
  std::frexp(normalised, &exponent);
  const double step = std::ldexp(1.0, std::max(exponent - 10, -20));
  return std::round(normalised / step) * step;
}

template <typename... T>
void Print(std::string& out, fmt::format_string<T...> format, T&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<T>(args)...);
}

// Returns the limit in force at time `t`.
const GeneratedJob::LimitChange& LimitAt(const GeneratedJob& job, int64_t t) {
  size_t i = 0;
  while (i + 1 < job.limits.size() && job.limits[i + 1].from_s <= t) ++i;
  return job.limits[i];
}

// Writes a table in shards with a fixed number of lines.
class ShardWriter {
 public:
  ShardWriter(std::string directory, std::string table, int64_t lines_per_shard)
      : directory_(std::move(directory)), table_(std::move(table)), lines_per_shard_(lines_per_shard) {}

  absl::Status Append(std::string_view line) {
    if (file_ == nullptr || lines_ == lines_per_shard_) {
      if (absl::Status s = Close(); !s.ok()) return s;
      auto file = OutputFile::Open(fmt::format("{}/{}-{:012}.json.gz", directory_, table_, shard_++));
      if (!file.ok()) return file.status();
      file_ = *std::move(file);
      lines_ = 0;
    }
    file_->Append(line);
    ++lines_;
    return absl::OkStatus();
  }
  absl::Status Close() {
    if (file_ == nullptr) return absl::OkStatus();
    absl::Status s = file_->Close();
    file_.reset();
    return s;
  }

 private:
  std::string directory_, table_;
  int64_t lines_per_shard_;
  int64_t lines_ = 0;
  int shard_ = 0;
  std::unique_ptr<OutputFile> file_;
};

class GoogleCellWriter {
 public:
  GoogleCellWriter(const GenerateOptions& options, const TraceOptions& units, const std::string& directory,
                   int rows_per_shard)
      : options_(options),
        units_(units),
        usage_(directory, "instance_usage", rows_per_shard),
        instances_(directory, "instance_events", INT64_MAX),
        collections_(directory, "collection_events", INT64_MAX),
        machines_(directory, "machine_events", INT64_MAX) {}

  absl::Status Add(const GeneratedJob& job);
  absl::Status Finish();

 private:
  std::string TimeOf(int64_t s) const;
  absl::Status AddCollection(const GeneratedJob& job, bool as_alloc);
  absl::Status AddInstance(const GeneratedJob& job, uint32_t task, bool as_alloc);
  absl::Status AddMachines();

  const GenerateOptions options_;
  const TraceOptions units_;
  ShardWriter usage_, instances_, collections_, machines_;
  std::string line_;
};

// Returns a time in the trace's format: 0 before the period, MAXINT after the period.
std::string GoogleCellWriter::TimeOf(int64_t s) const {
  if (s <= options_.start_s) return "0";
  if (s >= options_.start_s + options_.days * kDaySeconds) return std::string(kNever);
  return fmt::format("{}", s * kMicrosPerSecond);
}

absl::Status GoogleCellWriter::AddCollection(const GeneratedJob& job, bool as_alloc) {
  const std::pair<GoogleEvent::Type, int64_t> events[] = {{GoogleEvent::kSubmit, job.rows.front().start_s},
                                                          {GoogleEvent::kSchedule, job.rows.front().start_s},
                                                          {GoogleEvent::kFinish, job.rows.back().end_s}};
  for (const auto& [type, s] : events) {
    line_.clear();
    Print(line_, R"({{"time":"{}","type":"{}","collection_id":"{}","scheduling_class":"{}",)", TimeOf(s),
          static_cast<int>(type), as_alloc ? AllocOf(job) : CollectionOf(job),
          SchedulingClass(job.info.sensitivity));
    Print(line_, R"("collection_type":"{}","priority":"{}","alloc_collection_id":"{}","user":"dXNlcg==",)",
          as_alloc ? 1 : 0, job.info.priority.value_or(0), as_alloc ? 0 : AllocOf(job));
    Print(line_,
          R"("collection_name":"{}","collection_logical_name":"{}","vertical_scaling":"1","scheduler":"0"}})"
          "\n",
          job.info.name, job.info.logical_name);
    if (absl::Status status = collections_.Append(line_); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status GoogleCellWriter::AddInstance(const GeneratedJob& job, uint32_t task, bool as_alloc) {
  const auto event = [&](GoogleEvent::Type type, int64_t s, const GeneratedJob::LimitChange& limit) {
    line_.clear();
    Print(line_, R"({{"time":"{}","type":"{}","collection_id":"{}","scheduling_class":"{}",)", TimeOf(s),
          static_cast<int>(type), as_alloc ? AllocOf(job) : CollectionOf(job),
          SchedulingClass(job.info.sensitivity));
    Print(line_,
          R"("collection_type":"{}","priority":"{}","alloc_collection_id":"{}","instance_index":"{}",)",
          as_alloc ? 1 : 0, job.info.priority.value_or(0), as_alloc ? 0 : AllocOf(job), task);
    Print(line_,
          R"("machine_id":"{}","resource_request":{{"cpus":{},"memory":{}}}}})"
          "\n",
          type == GoogleEvent::kSubmit ? 0 : MachineOf(job, task),
          Round(limit.cpu_cores / units_.unit_cpu_cores),
          Round(limit.memory_bytes / units_.unit_memory_bytes));
    return instances_.Append(line_);
  };
  absl::Status s = event(GoogleEvent::kSubmit, job.rows.front().start_s, job.limits.front());
  if (s.ok()) s = event(GoogleEvent::kSchedule, job.rows.front().start_s, job.limits.front());
  for (size_t i = 1; i < job.limits.size() && s.ok(); ++i) {
    s = event(GoogleEvent::kUpdateRunning, job.limits[i].from_s, job.limits[i]);
  }
  if (s.ok()) s = event(GoogleEvent::kFinish, job.rows.back().end_s, job.limits.back());
  return s;
}

absl::Status GoogleCellWriter::Add(const GeneratedJob& job) {
  for (const bool as_alloc : {true, false}) {
    if (as_alloc && !job.in_alloc) continue;
    if (absl::Status s = AddCollection(job, as_alloc); !s.ok()) return s;
    for (uint32_t task = 0; task < job.tasks; ++task) {
      if (absl::Status s = AddInstance(job, task, as_alloc); !s.ok()) return s;
    }
    for (const GeneratedJob::Row& row : job.rows) {
      line_.clear();
      AppendGoogle2019Usage(job, row, units_, as_alloc, line_);
      if (absl::Status s = usage_.Append(line_); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

absl::Status GoogleCellWriter::AddMachines() {
  for (int m = 0; m < kMachines; ++m) {
    line_.clear();
    Print(line_, R"({{"time":"0","machine_id":"{}","type":"1","switch_id":"c3dpdGNo{}")", kFirstMachine + m,
          m / 40);
    // Omit the capacity of some machines, as in real cells.
    if (m % 20 != 0)
      Print(line_, R"(,"capacity":{{"cpus":{},"memory":{}}})", m % 3 == 0 ? 1.0 : 0.591796875, 0.5);
    Print(line_, R"(,"platform_id":"cGxhdGZvcm0=","missing_data_reason":"0"}})"
                 "\n");
    if (absl::Status s = machines_.Append(line_); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status GoogleCellWriter::Finish() {
  absl::Status s = AddMachines();
  for (ShardWriter* table : {&usage_, &instances_, &collections_, &machines_}) {
    absl::Status closed = table->Close();
    if (s.ok()) s = closed;
  }
  return s;
}

}  // namespace

void AppendGoogle2019Usage(const GeneratedJob& job, const GeneratedJob::Row& row, const TraceOptions& units,
                           bool as_alloc, std::string& out) {
  const auto cpu = [&units](double cores) { return Round(cores / units.unit_cpu_cores); };
  const auto memory = [&units](double bytes) { return Round(bytes / units.unit_memory_bytes); };
  Print(
      out,
      R"({{"start_time":"{}","end_time":"{}","collection_id":"{}","instance_index":"{}","machine_id":"{}",)",
      row.start_s * kMicrosPerSecond, row.end_s * kMicrosPerSecond,
      as_alloc ? AllocOf(job) : CollectionOf(job), row.task, MachineOf(job, row.task));
  Print(out, R"("alloc_collection_id":"{}","alloc_instance_index":"{}","collection_type":"{}",)",
        as_alloc ? 0 : AllocOf(job), !as_alloc && job.in_alloc ? int64_t{row.task} : -1, as_alloc ? 1 : 0);
  Print(out, R"("average_usage":{{"cpus":{},"memory":{}}},"maximum_usage":{{"cpus":{},"memory":{}}},)",
        cpu(row.cpu_mean), memory(row.memory_mean), cpu(row.cpu_peak), memory(row.memory_peak));
  // Omit the kernel's limit in two of three rows, as in the real trace.
  const bool knows_limit = (row.start_s / kWindowSeconds + row.task) % 3 == 0;
  Print(out, R"("random_sample_usage":{{"cpus":{}}},"assigned_memory":{},"page_cache_memory":{},)",
        cpu(row.cpu_mean * 0.9375), knows_limit ? memory(LimitAt(job, row.start_s).memory_bytes) : 0.0,
        memory(row.memory_mean * 0.125));
  Print(out, R"("cycles_per_instruction":{},"memory_accesses_per_instruction":{},"sample_rate":{},)",
        0.8992443084716797, 0.00151212012860924, 0.996666669845581);
  float percentiles[20];
  GeneratedPercentiles(row.cpu_mean, job.burst, percentiles);
  out += "\"cpu_usage_distribution\":[";
  for (int i = 0; i < 10; ++i) Print(out, "{},", cpu(percentiles[i]));
  Print(out, "{}],\"tail_cpu_usage_distribution\":[", cpu(percentiles[19]));
  for (int i = 10; i < 18; ++i) Print(out, "{},", cpu(percentiles[i]));
  Print(out, "{}]}}\n", cpu(percentiles[18]));
}

absl::Status WriteGeneratedCsv(const GenerateOptions& options, const std::string& path) {
  auto file = OutputFile::Open(path);
  if (!file.ok()) return file.status();
  (*file)->Append("time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit\n");
  std::string line;
  absl::Status s = GenerateJobs(options, [&](const GeneratedJob& job) {
    for (const GeneratedJob::Row& row : job.rows) {
      const GeneratedJob::LimitChange& limit = LimitAt(job, row.start_s);
      line.clear();
      Print(line, "{},{},{},{:.6g},{:.0f},{:.6g},{:.0f}\n", row.start_s, job.info.name, row.task,
            row.cpu_mean, row.memory_peak, limit.cpu_cores, limit.memory_bytes);
      (*file)->Append(line);
    }
    return absl::OkStatus();
  });
  absl::Status closed = (*file)->Close();
  return s.ok() ? closed : s;
}

absl::Status WriteGeneratedGoogle2019(const GenerateOptions& options, const TraceOptions& units,
                                      const std::string& directory, int rows_per_shard) {
  if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, fmt::format("cannot make {}", directory));
  }
  GoogleCellWriter writer(options, units, directory, rows_per_shard);
  absl::Status s = GenerateJobs(options, [&writer](const GeneratedJob& job) { return writer.Add(job); });
  absl::Status finished = writer.Finish();
  return s.ok() ? finished : s;
}

}  // namespace taut::tools
