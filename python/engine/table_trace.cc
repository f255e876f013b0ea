#include "table_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "arrow_column.h"
#include "arrow_stream.h"
#include "common/base/no_limit.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/base/whole_number.h"
#include "fmt/format.h"
#include "named_columns.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/csv_time.h"
#include "tools/trace/plain_rows.h"

namespace taut::python {
namespace {

using Kind = ArrowColumn::Kind;

enum TableColumn : size_t {
  kTime,
  kJob,
  kTask,
  kCpu,
  kMemory,
  kCpuLimit,
  kMemoryLimit,
  kOomKills,
  kDuration,
  kCpuMax,
  kNumColumns
};
constexpr std::array<std::string_view, kNumColumns> kColumns = {
    "time",      "job",          "task",      "cpu_cores", "memory_bytes",
    "cpu_limit", "memory_limit", "oom_kills", "duration",  "cpu_max"};
constexpr std::string_view kExpected =
    "expected time, job, cpu_cores or memory_bytes or both, and optionally task, cpu_limit, memory_limit, "
    "oom_kills, duration, cpu_max";

class TableReader {
 public:
  TableReader(bool strict, tools::TraceSink& sink, tools::ReadReport& report)
      : strict_(strict), sink_(sink), report_(report), lengths_(sink, tools::kPlainAloneSeconds) {}

  absl::Status Begin(const ArrowSchema& schema);
  absl::Status Take(const ArrowArray& batch);
  void Finish();

 private:
  struct Bad {
    TableColumn column;
    std::string_view cause;
  };
  // Reads one row. Returns the reason why it is invalid.
  std::optional<Bad> Read(int64_t row, UsageRow& out, std::string_view& job);
  bool ReadTime(int64_t row, int64_t& us);
  bool ReadAmount(TableColumn column, int64_t row, std::optional<float>& out) const;
  bool ReadLimit(TableColumn column, int64_t row, std::optional<float>& out);
  bool ReadTask(int64_t row, uint32_t& task);
  void Pass(UsageRow& row, std::string_view job);
  std::string ValueText(TableColumn column, int64_t row) const;
  bool has(TableColumn c) const { return columns_.has(c); }

  const bool strict_;
  tools::TraceSink& sink_;
  tools::ReadReport& report_;
  tools::RowLengths lengths_;
  NamedColumns<kNumColumns> columns_;
  int64_t per_second_ = 0;  // units per second of numbers in the column time; 0: unknown
  uint64_t rows_before_ = 0, without_limit_ = 0;
  tools::NameTable jobs_, tasks_;
  uint32_t known_jobs_ = 0;
  absl::flat_hash_map<uint64_t, uint32_t> series_;  // number of a series, by job << 32 | task
  std::string job_text_;
};

absl::Status TableReader::Begin(const ArrowSchema& schema) {
  const auto fits = [](size_t c, const ArrowColumn& column, const ArrowSchema& field) {
    const Kind kind = column.kind();
    const bool is_name = c == kJob || c == kTask;
    const bool is_good =
        is_name ? kind == Kind::kText || kind == Kind::kInteger
                : kind != Kind::kText && kind != Kind::kBytes && (kind != Kind::kTime || c == kTime);
    if (is_good) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat("column \"", kColumns[c], "\" has the Arrow type \"",
                                             field.format, "\"; expected ",
                                             is_name      ? "texts or integers"
                                             : c == kTime ? "timestamps or numbers"
                                                          : "numbers"));
  };
  const auto unused = [&](std::string_view name) {
    report_.warnings.push_back(StrCat("column \"", name, "\" is not used"));
  };
  if (absl::Status s = columns_.Begin(schema, kColumns, fits, unused); !s.ok()) return s;
  if (has(kTime) && has(kJob) && (has(kCpu) || has(kMemory))) return absl::OkStatus();
  const std::string_view missing = !has(kTime) ? "time" : !has(kJob) ? "job" : "cpu_cores or memory_bytes";
  return absl::InvalidArgumentError(StrCat("the table has no column ", missing, ": ", kExpected));
}

bool TableReader::ReadTime(int64_t row, int64_t& us) {
  const ArrowColumn& column = columns_[kTime];
  if (column.IsNull(row)) return false;
  const bool whole = column.kind() == Kind::kTime || column.kind() == Kind::kInteger;
  const double value = whole ? static_cast<double>(column.Integer(row)) : column.Real(row);
  if (per_second_ == 0)
    per_second_ = column.kind() == Kind::kTime ? column.per_second() : tools::TimeUnitsPerSecond(value);
  const double seconds = value / static_cast<double>(per_second_);
  if (!(std::abs(seconds) <= static_cast<double>(tools::kLatestUs / kMicrosPerSecond))) return false;
  if (!whole) {
    us = std::llround(seconds * kMicrosPerSecond);
  } else if (per_second_ <= kMicrosPerSecond) {
    us = column.Integer(row) * (kMicrosPerSecond / per_second_);
  } else {
    us = FloorDiv(column.Integer(row), per_second_ / kMicrosPerSecond);
  }
  return true;
}

bool TableReader::ReadAmount(TableColumn column, int64_t row, std::optional<float>& out) const {
  if (!has(column) || columns_[column].IsNull(row)) return true;
  const double value = columns_[column].Real(row);
  return value >= 0 && tools::SetFloat(tools::NumberKind::kNumber, value, 1, out);
}

bool TableReader::ReadLimit(TableColumn column, int64_t row, std::optional<float>& out) {
  if (!has(column) || columns_[column].IsNull(row)) return true;
  const double value = columns_[column].Real(row);
  if (value > 0 && value < kNoLimitBytes) return tools::SetFloat(tools::NumberKind::kNumber, value, 1, out);
  ++without_limit_;
  return true;
}

bool TableReader::ReadTask(int64_t row, uint32_t& task) {
  if (!has(kTask) || columns_[kTask].IsNull(row)) return true;
  const ArrowColumn& column = columns_[kTask];
  const bool is_text = column.kind() == Kind::kText;
  if (const auto number = is_text ? WholeNumber(column.Text(row)) : std::optional(column.Integer(row))) {
    task = static_cast<uint32_t>(*number);
    return *number >= 0 && *number < int64_t{tools::kFirstNamedTask};
  }
  const uint32_t named = tasks_.Number(column.Text(row));
  task = tools::kFirstNamedTask + named;
  return named < tools::kFirstNamedTask;
}

std::optional<TableReader::Bad> TableReader::Read(int64_t row, UsageRow& out, std::string_view& job) {
  int64_t us = 0;
  if (!ReadTime(row, us)) return Bad{kTime, tools::kBadTime};
  out.start = Timestamp{us};
  if (!ReadTask(row, out.task)) return Bad{kTask, tools::kBadTask};
  for (const auto& [column, to] : {std::pair{kCpu, &out.cpu_mean_cores},
                                   {kMemory, &out.memory_mean_bytes},
                                   {kCpuMax, &out.cpu_max_cores}}) {
    if (!ReadAmount(column, row, *to)) return Bad{column, tools::kBadNumber};
  }
  if (!ReadLimit(kCpuLimit, row, out.cpu_limit_cores)) return Bad{kCpuLimit, tools::kBadNumber};
  if (!ReadLimit(kMemoryLimit, row, out.memory_limit_bytes)) return Bad{kMemoryLimit, tools::kBadNumber};
  if (has(kOomKills) && !columns_[kOomKills].IsNull(row)) {
    const double kills = columns_[kOomKills].Real(row);
    if (!(kills >= 0 && kills <= tools::kMostKills && kills == std::floor(kills)))
      return Bad{kOomKills, tools::kBadKills};
    out.oom_kills = static_cast<uint32_t>(kills);
  }
  if (has(kDuration)) {
    const double seconds = columns_[kDuration].IsNull(row) ? 0 : columns_[kDuration].Real(row);
    const auto length_us =
        static_cast<int64_t>(static_cast<double>(static_cast<float>(seconds)) * kMicrosPerSecond + 0.5);
    if (!(length_us > 0 && length_us <= kWindowSeconds * kMicrosPerSecond))
      return Bad{kDuration, tools::kBadDuration};
    out.end = Timestamp{us + length_us};
  }
  const ArrowColumn& jobs = columns_[kJob];
  if (!jobs.IsNull(row)) {
    if (jobs.kind() == Kind::kInteger) job_text_ = std::to_string(jobs.Integer(row));
    job = jobs.kind() == Kind::kInteger ? std::string_view(job_text_) : jobs.Text(row);
  }
  if (job.empty()) return Bad{kJob, tools::kNoJobName};
  if (!out.cpu_mean_cores.has_value() && !out.memory_mean_bytes.has_value())
    return Bad{has(kMemory) ? kMemory : kCpu, tools::kNoUsage};
  return std::nullopt;
}

std::string TableReader::ValueText(TableColumn c, int64_t row) const {
  if (!has(c) || columns_[c].IsNull(row)) return "null";
  const ArrowColumn& column = columns_[c];
  if (column.kind() == Kind::kText) return Printable(column.Text(row));
  if (column.kind() == Kind::kReal || column.kind() == Kind::kDecimal)
    return fmt::format("{}", column.Real(row));
  return fmt::format("{}", column.Integer(row));
}

void TableReader::Pass(UsageRow& row, std::string_view job) {
  const uint32_t number = jobs_.Number(job);
  row.job = JobId{number};
  if (number == known_jobs_) {
    ++known_jobs_;
    JobInfo info;
    info.name = std::string(job);
    sink_.OnJob(row.job, info);
  }
  ++report_.rows_used;
  if (has(kDuration)) return sink_.OnUsage(row);
  const auto next = static_cast<uint32_t>(series_.size());
  lengths_.Take(series_.try_emplace(uint64_t{number} << 32 | row.task, next).first->second, row);
}

absl::Status TableReader::Take(const ArrowArray& batch) {
  if (absl::Status s = columns_.Bind(batch); !s.ok()) return s;
  for (int64_t row = 0; row < batch.length; ++row) {
    ++report_.rows;
    UsageRow out;
    std::string_view job;
    const std::optional<Bad> bad = Read(row, out, job);
    if (!bad.has_value()) {
      Pass(out, job);
      continue;
    }
    const uint64_t number = rows_before_ + static_cast<uint64_t>(row);
    const std::string text = StrCat(kColumns[bad->column], " ", ValueText(bad->column, row));
    if (strict_) return absl::InvalidArgumentError(StrCat("row ", number, ": ", bad->cause, ": ", text));
    report_.Skip(bad->cause, "row", number, text);
  }
  rows_before_ += static_cast<uint64_t>(batch.length);
  return absl::OkStatus();
}

void TableReader::Finish() {
  lengths_.Finish();
  if (without_limit_ > 0)
    report_.warnings.push_back(
        fmt::format("{} limits are 0, negative or above 1 EiB: read as no limit", without_limit_));
}

}  // namespace

absl::Status ReadTable(ArrowArrayStream& stream, bool strict, tools::TraceSink& sink,
                       tools::ReadReport& report, const RowProgress& progress) {
  TableReader reader(strict, sink, report);
  const absl::Status read = ReadStream(
      stream, [&](const ArrowSchema& schema) { return reader.Begin(schema); },
      [&](const ArrowArray& batch) {
        if (absl::Status s = reader.Take(batch); !s.ok()) return s;
        const bool go_on = !progress || progress(report.rows);
        return go_on ? absl::OkStatus() : absl::CancelledError("reading was interrupted");
      });
  if (!read.ok()) return read;
  reader.Finish();
  return absl::OkStatus();
}

}  // namespace taut::python
