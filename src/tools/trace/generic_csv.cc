// Reads the plain CSV format, to which any monitoring system can export: time,job,task,cpu_cores,memory_bytes and
// limits. Optional columns are OOM kills, the duration of the row, and the distribution of its CPU usage. Fields
// are separated by commas, semicolons or tabs.
#include <algorithm>
#include <array>
#include <string>

#include "common/base/no_limit.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/trace/csv_amount.h"
#include "tools/trace/csv_header.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/csv_time.h"
#include "tools/trace/plain_rows.h"

namespace taut::tools {
namespace {

enum UsageColumn : size_t {
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
  kCpuSeconds,
  kNumColumns
};
constexpr std::array<std::string_view, kNumColumns> kColumnNames = {
    "time",         "job",       "task",     "cpu_cores", "memory_bytes", "cpu_limit",
    "memory_limit", "oom_kills", "duration", "cpu_max",   "cpu_seconds"};

constexpr uint32_t kDenseTasks = 256;
constexpr double kMostCores = 1e9;
constexpr std::string_view kBadSpread = "cpu_seconds is not a list of CORES:SECONDS, cores ascending";

class GenericCsvReader final : public FormatReader {
 public:
  explicit GenericCsvReader(const ReadContext& context)
      : context_(context),
        gate_(context),
        index_(',', /*quotes=*/true),
        lengths_(context.sink, kPlainAloneSeconds) {}

  absl::Status BeginFile(std::string_view name, int /*table*/) override {
    gate_.BeginFile(name);
    num_columns_ = 0;
    clock_ = {};
    unit_said_ = separator_known_ = false;
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    if (!separator_known_) TakeSeparator(block.lines);
    return index_.ForEachRow(block.lines, block.first_line, [this](const CsvRow& row) { return Take(row); });
  }
  absl::Status Finish() override {
    lengths_.Finish();
    if (lengths_.spread() > 0) {
      context_.report.warnings.push_back(
          fmt::format("{} rows last longer than a window of {} s; each counts in every window that it covers",
                      lengths_.spread(), kWindowSeconds));
    }
    if (without_limit_ > 0) {
      context_.report.warnings.push_back(
          fmt::format("{} limits are 0, negative or above 1 EiB: read as no limit", without_limit_));
    }
    // A few sparse rows come from programs that run at fixed hours, so they need no warning.
    if (lengths_.sparse() > context_.report.rows_used / 20) {
      context_.report.warnings.push_back(fmt::format(
          "{} rows follow the row before at the same distance of more than 1 h: each counts in one "
          "window of {} s, so totals over time are too small; expected rows of 1 h or less",
          lengths_.sparse(), kWindowSeconds));
    }
    return absl::OkStatus();
  }

 private:
  struct Job {
    std::vector<uint32_t> series;  // number of the series by task, for tasks below kDenseTasks
  };

  void TakeSeparator(std::string_view lines);
  absl::Status TakeHeader(const CsvRow& row);
  absl::Status Take(const CsvRow& row);
  // Returns the field without surrounding blanks and CSV quotes. Valid until the next call.
  std::string_view Text(const CsvRow& row, UsageColumn column);
  bool TakeTask(const CsvRow& row, uint32_t& task);
  bool TakeKills(const CsvRow& row, std::optional<uint32_t>& kills) const;
  // Sets out.end from the duration column, which must exist. Returns false if the duration is invalid.
  bool TakeDuration(const CsvRow& row, UsageRow& out) const;
  // Computes the row's percentiles from a list of levels, each with its seconds. Returns false if the list is
  // invalid. The percentiles are valid until the next call.
  bool TakeSpread(std::string_view text, UsageRow& out);
  uint32_t SeriesOf(uint32_t job, uint32_t task);
  bool Figure(const CsvRow& row, UsageColumn column, std::optional<float>& out) {
    if (at_[column] < 0 || TakeFloat(row, at_[column], 1, out)) [[likely]]
      return true;
    return Quantity(row, column, out);
  }
  bool Limit(RepeatedDecimal& known, const CsvRow& row, UsageColumn column, std::optional<float>& out) {
    if (at_[column] < 0) return true;
    if (!TakeFloat(known, row, at_[column], 1, out)) [[unlikely]]
      return SaysNoLimit(Text(row, column)) ? NoLimit(out) : Quantity(row, column, out);
    if (out.has_value() && !(*out > 0 && *out < kNoLimitBytes)) [[unlikely]]
      return NoLimit(out);
    return true;
  }
  bool NoLimit(std::optional<float>& out) {
    ++without_limit_;
    out.reset();
    return true;
  }
  // Parses an amount with a suffix, such as "500m" or "300Mi".
  bool Quantity(const CsvRow& row, UsageColumn column, std::optional<float>& out);
  // Adds a warning that states the unit of the file's times, once per file.
  void SayUnit();

  const ReadContext context_;
  RowCounter gate_;
  CsvIndex index_;
  RowLengths lengths_;
  char separator_ = ',';
  CsvClock clock_;
  bool separator_known_ = false, unit_said_ = false;  // true once done for the current file
  uint64_t without_limit_ = 0;
  int num_columns_ = 0;  // columns of the current file; 0 before its header
  std::array<int, kNumColumns> at_{};
  RepeatedDecimal cpu_limit_, memory_limit_;
  NameTable names_;
  NameTable task_names_;
  std::vector<Job> jobs_;
  absl::flat_hash_map<uint64_t, uint32_t> other_series_;  // number of any other series, by job << 32 | task
  uint32_t num_series_ = 0;
  std::string unquoted_;
  std::vector<float> levels_, fractions_;  // levels and fractions of the current row
};

void GenericCsvReader::TakeSeparator(std::string_view lines) {
  const std::string_view header = FirstContentLine(lines);
  if (header.empty()) return;
  separator_known_ = true;
  const char separator = SeparatorOf(header);
  if (separator == separator_) return;
  separator_ = separator;
  index_ = CsvIndex(separator, /*quotes=*/true);
}

bool GenericCsvReader::Quantity(const CsvRow& row, UsageColumn column, std::optional<float>& out) {
  const std::string_view text = Text(row, column);
  const bool memory = column == kMemory || column == kMemoryLimit;
  const std::optional<double> amount = ParseCsvAmount(text, memory, separator_ != ',');
  if (!amount.has_value() && !text.empty()) return false;
  return SetFloat(text.empty() ? NumberKind::kEmpty : NumberKind::kNumber, amount.value_or(0), 1, out);
}

void GenericCsvReader::SayUnit() {
  unit_said_ = true;
  if (clock_.unit().empty()) return;
  context_.report.warnings.push_back(
      fmt::format("{}: times are read as {} since 1970", gate_.file(), clock_.unit()));
}

absl::Status GenericCsvReader::TakeHeader(const CsvRow& row) {
  at_.fill(-1);
  for (int i = 0; i < row.size(); ++i) {
    const std::string name = ColumnName(row[i]);
    bool known = false;
    for (size_t c = 0; c < kNumColumns; ++c) {
      if (name != kColumnNames[c]) continue;
      if (at_[c] >= 0) {
        return absl::InvalidArgumentError(fmt::format("{}: two columns are called {}", gate_.file(), name));
      }
      at_[c] = i;
      known = true;
    }
    if (!known) {
      context_.report.warnings.push_back(
          fmt::format("{}: column \"{}\" is not used", gate_.file(), StripSpace(row[i]).substr(0, 80)));
    }
  }
  if (at_[kTime] < 0 || at_[kJob] < 0 || (at_[kCpu] < 0 && at_[kMemory] < 0)) {
    return absl::InvalidArgumentError(
        fmt::format("{}: the first line must name the columns: time, job, cpu_cores or memory_bytes or both, "
                    "and optionally task, cpu_limit, memory_limit, oom_kills, duration, cpu_max, cpu_seconds",
                    gate_.file()));
  }
  if (at_[kCpuSeconds] >= 0 && at_[kDuration] < 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a column cpu_seconds without a column duration", gate_.file()));
  }
  num_columns_ = row.size();
  return absl::OkStatus();
}

std::string_view GenericCsvReader::Text(const CsvRow& row, UsageColumn column) {
  std::string_view text = row[at_[column]];
  if (!text.empty() && text.front() > ' ' && text.back() > ' ' && text.front() != '"') [[likely]]
    return text;
  text = Trimmed(text);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  text = text.substr(1, text.size() - 2);
  unquoted_.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    unquoted_ += text[i];
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
  }
  return unquoted_;
}

bool GenericCsvReader::TakeTask(const CsvRow& row, uint32_t& task) {
  task = 0;
  if (at_[kTask] < 0) return true;
  int64_t number = 0;
  switch (ParseInteger(row.begin(at_[kTask]), row.end(at_[kTask]), number)) {
    case NumberKind::kEmpty:
      return true;
    case NumberKind::kNumber:
      task = static_cast<uint32_t>(number);
      return number >= 0 && number < int64_t{kFirstNamedTask};
    case NumberKind::kBad:
      break;
  }
  const uint32_t named = task_names_.Number(Text(row, kTask));
  task = kFirstNamedTask + named;
  return named < kFirstNamedTask;
}

bool GenericCsvReader::TakeKills(const CsvRow& row, std::optional<uint32_t>& kills) const {
  if (at_[kOomKills] < 0) return true;
  int64_t number = 0;
  switch (ParseInteger(row.begin(at_[kOomKills]), row.end(at_[kOomKills]), number)) {
    case NumberKind::kEmpty:
      return true;
    case NumberKind::kNumber:
      kills = static_cast<uint32_t>(number);
      return number >= 0 && number <= kMostKills;
    case NumberKind::kBad:
      break;
  }
  return false;
}

bool GenericCsvReader::TakeDuration(const CsvRow& row, UsageRow& out) const {
  std::optional<float> seconds;
  if (!TakeFloat(row, at_[kDuration], 1, seconds) || !seconds.has_value()) return false;
  const auto us = static_cast<int64_t>(double{*seconds} * kMicrosPerSecond + 0.5);
  out.end = Timestamp{out.start.us + us};
  return us > 0 && us <= kWindowSeconds * kMicrosPerSecond;
}

bool GenericCsvReader::TakeSpread(std::string_view text, UsageRow& out) {
  levels_.clear();
  fractions_.clear();
  double sum = 0;
  // Add each level twice, at the start and the end of its seconds, so that no time is interpolated between two
  // levels.
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t colon = pair.find(':');
    if (colon == std::string_view::npos) return false;
    const std::optional<double> level = ParseDouble(pair.substr(0, colon)),
                                seconds = ParseDouble(pair.substr(colon + 1));
    if (!level.has_value() || !(*level >= 0 && *level < kMostCores)) return false;
    if (!seconds.has_value() || !(*seconds > 0 && *seconds <= kWindowSeconds)) return false;
    const auto cores = static_cast<float>(*level);
    if (!levels_.empty() && cores <= levels_.back()) return false;
    levels_.insert(levels_.end(), 2, cores);
    fractions_.push_back(static_cast<float>(sum));
    fractions_.push_back(static_cast<float>(sum += *seconds));
  }
  if (levels_.empty()) return true;
  for (float& f : fractions_) f = static_cast<float>(f / sum);
  out.cpu_percentiles_cores = levels_;
  out.cpu_fractions = fractions_;
  return true;
}

uint32_t GenericCsvReader::SeriesOf(uint32_t job, uint32_t task) {
  uint32_t* number = nullptr;
  if (task < kDenseTasks) {
    std::vector<uint32_t>& series = jobs_[job].series;
    if (task >= series.size()) series.resize(task + 1, UINT32_MAX);
    number = &series[task];
  } else {
    number = &other_series_.try_emplace(uint64_t{job} << 32 | task, UINT32_MAX).first->second;
  }
  if (*number == UINT32_MAX) *number = num_series_++;
  return *number;
}

absl::Status GenericCsvReader::Take(const CsvRow& row) {
  if (*row.begin(0) == '#') return absl::OkStatus();
  if (num_columns_ == 0) [[unlikely]]
    return TakeHeader(row);
  ++context_.report.rows;
  if (row.size() != num_columns_) return gate_.Bad(kBadColumns, row);
  UsageRow out;
  int64_t us = 0;
  if (!clock_.Parse(row, at_[kTime], us)) return gate_.Bad(kBadTime, row);
  if (!unit_said_) [[unlikely]]
    SayUnit();
  if (!TakeTask(row, out.task)) return gate_.Bad(kBadTask, row);
  if (!Figure(row, kCpu, out.cpu_mean_cores) || !Figure(row, kMemory, out.memory_mean_bytes) ||
      !Limit(cpu_limit_, row, kCpuLimit, out.cpu_limit_cores) ||
      !Limit(memory_limit_, row, kMemoryLimit, out.memory_limit_bytes)) {
    return gate_.Bad(kBadNumber, row);
  }
  if (!TakeKills(row, out.oom_kills)) return gate_.Bad(kBadKills, row);
  if (!Figure(row, kCpuMax, out.cpu_max_cores)) return gate_.Bad(kBadNumber, row);
  out.start = Timestamp{us};
  if (at_[kDuration] >= 0 && !TakeDuration(row, out)) return gate_.Bad(kBadDuration, row);
  if (at_[kCpuSeconds] >= 0 && !TakeSpread(Text(row, kCpuSeconds), out)) return gate_.Bad(kBadSpread, row);
  const std::string_view name = Text(row, kJob);
  if (name.empty()) return gate_.Bad(kNoJobName, row);
  if (!out.cpu_mean_cores && !out.memory_mean_bytes) return gate_.Bad(kNoUsage, row);
  if (!gate_.InRange(us, row)) return absl::OkStatus();
  const uint32_t job = names_.Number(name);
  if (job == jobs_.size()) {
    jobs_.emplace_back();
    JobInfo info;
    info.name = std::string(name);
    context_.sink.OnJob(JobId{job}, info);
  }
  out.job = JobId{job};
  ++context_.report.rows_used;
  if (at_[kDuration] >= 0) {
    context_.sink.OnUsage(out);
    return absl::OkStatus();
  }
  lengths_.Take(SeriesOf(job, out.task), out);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<FormatReader> NewGenericCsvReader(const ReadContext& context) {
  return std::make_unique<GenericCsvReader>(context);
}

}  // namespace taut::tools
