#include "tools/trace/load_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/csv_number.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/csv_table.h"
#include "tools/trace/csv_time.h"
#include "tools/trace/load_reader_json.h"
#include "tools/trace/row_order.h"

namespace taut::tools {
namespace {

// Maximum time between the first and the last row of a job.
constexpr int64_t kMostSpanUs = int64_t{38} * 365 * kDaySeconds * kMicrosPerSecond;
// A job with more than kFewSteps steps is omitted if fewer than one in kMostEmpty steps have a row. Its series
// would be mostly empty memory.
constexpr int64_t kFewSteps = 20'160, kMostEmpty = 100;
constexpr size_t kMostJson = size_t{1} << 30;  // maximum size of a JSON file, which is read as a whole
constexpr std::string_view kSameTime = "same time as the row before",
                           kTimeBefore = "time before that of the row before";
constexpr int64_t kFirstMilliseconds = 100'000'000'000;  // numbers from here on are milliseconds

constexpr size_t kMostTexts = 64;  // maximum number of stored texts per job
constexpr int64_t kJump = 10;      // a gap this many times as long as the previous gap indicates a wrong time

struct Point {
  int64_t us;
  float load;
  uint32_t line;
};
struct JobRows {
  std::string name;
  std::vector<Point> points;   // points in the order of the rows
  std::vector<float> signals;  // signals of all points, in the order of LoadReadOptions::signals
  // Each file with the index of its first point.
  std::vector<std::pair<size_t, std::string>> files;
  // Index and text of points whose time may be wrong.
  std::vector<std::pair<size_t, std::string>> texts;
};

// Returns the file's name without folder and extensions: "web" for "dir/web.csv.gz".
std::string Stem(const std::string& file) {
  std::filesystem::path path(file.substr(file.rfind(':') + 1));
  for (path = path.filename(); !path.extension().empty() && path != path.stem();) path = path.stem();
  return path.string();
}

// Returns the name in a CSV cell without quotes. Within quotes, "" stands for one quote.
std::string JobName(std::string_view cell) {
  std::string name(Unquoted(cell));
  if (!StripSpace(cell).starts_with('"')) return name;
  for (size_t at = name.find("\"\""); at != std::string::npos; at = name.find("\"\"", at + 1))
    name.erase(at, 1);
  return name;
}

bool IsJson(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  return StripSpace(head).starts_with('{');
}

class LoadReader {
 public:
  LoadReader(const LoadReadOptions& options, ReadReport& report)
      : strict_(options.strict),
        job_label_(options.job_label),
        signals_(options.signals),
        report_(report),
        table_(options.strict, report) {}

  absl::Status ReadFile(const InputFile& file) {
    auto source = file.open();
    if (!source.ok()) return source.status();
    table_.BeginFile(file.name);
    columns_ = Columns{};
    if (IsJson(file.head)) return ReadJson(**source);
    return table_.ReadRows(*std::move(source), [this](const CsvRow& row) { return TakeRow(row); });
  }
  // Returns the series. With strict, returns an error about the first row that was skipped because of its time.
  absl::StatusOr<std::vector<LoadSeries>> Finish() {
    std::vector<LoadSeries> out;
    for (JobRows& job : jobs_) {
      if (absl::Status s = KeepRowsInOrder(job); !s.ok()) return s;
      if (std::optional<LoadSeries> series = ToSeries(job); series.has_value())
        out.push_back(*std::move(series));
    }
    return out;
  }

 private:
  struct Columns {
    bool known = false;
    int size = 0, time = 0, load = 1, job = -1;
    int64_t time_unit = 1;
    std::vector<int> signals;
  };

  // ---- JSON ----

  absl::Status ReadJson(ByteSource& source) {
    if (!signals_.empty()) {
      return absl::InvalidArgumentError(
          StrCat(table_.file(), ": JSON has no columns: signals are read from CSV, a column each"));
    }
    std::string body;
    constexpr size_t kPiece = size_t{1} << 20;
    for (size_t read = kPiece; read == kPiece && body.size() <= kMostJson;) {
      const size_t size = body.size();
      body.resize(size + kPiece);
      read = source.Read(body.data() + size, kPiece);
      body.resize(size + read);
    }
    ++report_.files;
    report_.bytes += body.size();
    if (body.size() > kMostJson)
      return absl::InvalidArgumentError(
          StrCat(table_.file(), ": JSON of more than 1 GiB: ask for a shorter range"));
    if (body.starts_with("\xEF\xBB\xBF")) body.erase(0, 3);
    absl::flat_hash_set<std::string> seen;
    size_t number = 0;
    absl::Status taken;
    const absl::Status parsed = ParseRangeAnswer(
        body, [&](const RangeSeries& series) { return taken = TakeSeries(series, ++number, seen); });
    if (!taken.ok()) return taken;
    if (absl::IsDataLoss(parsed) && !strict_) {
      report_.warnings.push_back(StrCat(table_.file(), ": ", Message(parsed), "; series before it are read"));
    } else if (!parsed.ok()) {
      return absl::InvalidArgumentError(StrCat(table_.file(), ": ", Message(parsed)));
    }
    return table_.Damaged(source.damage());
  }
  // Adds one series. `seen` contains the jobs of this file. Another file may continue a job, because servers limit
  // the number of points per response.
  absl::Status TakeSeries(const RangeSeries& series, size_t number, absl::flat_hash_set<std::string>& seen) {
    std::string name = NameOf(series);
    const std::string whole = name;
    bool has_label = true;
    if (!job_label_.empty()) {
      const auto label =
          std::ranges::find_if(series.labels, [&](const auto& l) { return l.first == job_label_; });
      has_label = label != series.labels.end() && !label->second.empty();
      if (has_label) name = label->second;
    }
    if (name.empty()) name = Stem(table_.file());
    std::string cause = has_label ? "" : StrCat("no label \"", job_label_, "\" for the job's name");
    if (series.values.empty())
      report_.warnings.push_back(
          fmt::format("{}: series {} {}: no values", table_.file(), number, whole.substr(0, 200)));
    if (cause.empty() && !series.values.empty() && !seen.insert(name).second)
      cause = StrCat("another series of job \"", name.substr(0, 100), "\": sum them in the query");
    uint64_t place = 0;
    for (const RangeValue& v : series.values) {
      ++report_.rows;
      const absl::Status s = TakeValue(
          name, cause, v, [&] { return fmt::format("series {}, value {}: {}", number, place + 1, v.text); });
      if (!s.ok()) return s;
      ++place;
    }
    return absl::OkStatus();
  }
  template <typename TextOf>
  absl::Status TakeValue(std::string_view name, std::string_view cause, const RangeValue& v,
                         const TextOf& text) {
    if (cause.empty() && !v.is_pair) cause = "not a pair of a time and a number";
    constexpr double kLatest = static_cast<double>(kLatestUs) / kMicrosPerSecond;
    if (cause.empty() && !(std::abs(v.time_s) <= kLatest)) cause = "bad time";
    if (!cause.empty()) return table_.Bad(cause, v.line, text());
    return AddPoint(name, std::llround(v.time_s * kMicrosPerSecond), v.value, v.line, text);
  }

  // ---- CSV ----

  absl::Status TakeHeader(const CsvRow& row, bool& is_header) {
    columns_.known = true;
    columns_.size = row.size();
    double number = 0;
    is_header = row.size() < 2 || ParseDecimal(row.begin(1), row.end(1), number) == NumberKind::kBad;
    // A file with two columns and no header contains a time and a load.
    if (!is_header && row.size() == 2 && signals_.empty()) return absl::OkStatus();
    columns_.time = columns_.load = -1;
    columns_.signals.assign(signals_.size(), -1);
    for (int i = 0; i < row.size(); ++i) {
      std::string_view name = Unquoted(row[i]);
      if (i == 0 && name.starts_with("\xEF\xBB\xBF")) name.remove_prefix(3);
      if (name == "time" || name == "ts" || name == "timestamp" || name == "minute") {
        columns_.time = i;
        columns_.time_unit = name == "minute" ? 60 : 1;
      } else if (name == "load" || name == "value" || name == "requests") {
        columns_.load = i;
      } else if (name == "job") {
        columns_.job = i;
      } else if (const auto at = std::ranges::find(signals_, name); at != signals_.end()) {
        columns_.signals[static_cast<size_t>(at - signals_.begin())] = i;
      } else {
        table_.WarnUnused(name);
      }
    }
    is_header = true;
    if (const auto lacks = std::ranges::find(columns_.signals, -1); lacks != columns_.signals.end()) {
      return absl::InvalidArgumentError(
          StrCat(table_.file(), ": the first line names no column \"",
                 signals_[static_cast<size_t>(lacks - columns_.signals.begin())], "\" for this signal"));
    }
    if (columns_.time >= 0 && columns_.load >= 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        StrCat(table_.file(),
               ": the first line must name the columns time (or ts, timestamp, minute) and load (or "
               "value, requests), and job if the file has several"));
  }
  absl::Status TakeRow(const CsvRow& row) {
    if (!columns_.known) {
      bool is_header = false;
      if (absl::Status s = TakeHeader(row, is_header); !s.ok() || is_header) return s;
    }
    ++report_.rows;
    if (row.size() != columns_.size) return table_.Bad(kBadColumns, row);
    int64_t us = 0;
    if (!ParseTime(row, us)) return table_.Bad("bad time", row);
    double load = 0;
    switch (ParseDecimal(row.begin(columns_.load), row.end(columns_.load), load)) {
      case NumberKind::kNumber:
        break;
      case NumberKind::kEmpty:
        return table_.Bad("no load in the row", row);
      case NumberKind::kBad:
        return table_.Bad("load is negative or no number", row);
    }
    if (const std::string_view wrong = ParseSignals(row); !wrong.empty()) return table_.Bad(wrong, row);
    const std::string name = columns_.job >= 0 ? JobName(row[columns_.job]) : Stem(table_.file());
    if (columns_.job >= 0 && name.empty()) return table_.Bad("no job name", row);
    return AddPoint(name, us, load, row.line(), [&] { return std::string(row.text()); });
  }
  // Parses the signals of a row into row_signals_. Returns the error; "" if there is none.
  std::string_view ParseSignals(const CsvRow& row) {
    row_signals_.clear();
    for (const int column : columns_.signals) {
      double value = LoadSeries::kAbsentLoad;
      const NumberKind kind = ParseDecimal(row.begin(column), row.end(column), value);
      if (kind == NumberKind::kBad || (kind == NumberKind::kNumber && !(value >= 0 && value <= 1e30)))
        return "a signal is negative or no number";
      row_signals_.push_back(kind == NumberKind::kNumber ? static_cast<float>(value)
                                                         : LoadSeries::kAbsentLoad);
    }
    return "";
  }
  template <typename TextOf>
  absl::Status AddPoint(std::string_view name, int64_t us, double load, uint64_t line, const TextOf& text) {
    if (!(load >= 0 && load <= 1e30)) return table_.Bad("load is negative or no number", line, text());
    JobRows& job = jobs_[NumberOf(name)];
    const size_t n = job.points.size();
    if (strict_ && n > 0 && us <= job.points.back().us)
      return table_.Bad(us == job.points.back().us ? kSameTime : kTimeBefore, line, text());
    if (job.files.empty() || job.files.back().second != table_.file())
      job.files.emplace_back(n, table_.file());
    if (job.texts.size() < kMostTexts && n > 0) {
      const int64_t gap = us - job.points.back().us;
      const int64_t before = n > 1 ? job.points[n - 1].us - job.points[n - 2].us : INT64_MAX / kJump;
      if (gap <= 0 || gap / kJump > std::abs(before)) job.texts.emplace_back(n, text());
    }
    job.points.push_back(
        {us, static_cast<float>(load), static_cast<uint32_t>(std::min<uint64_t>(line, UINT32_MAX))});
    job.signals.insert(job.signals.end(), row_signals_.begin(), row_signals_.end());
    return absl::OkStatus();
  }

  // ---- rows with a wrong time ----

  // Returns the reason why a point is skipped. `before` and `after` are the nearest points that are kept; null if
  // there are none.
  static std::string_view WrongTime(const Point& point, const Point* before, const Point* after) {
    if (before != nullptr && point.us == before->us) return kSameTime;
    if (before != nullptr && point.us < before->us) return kTimeBefore;
    if (after != nullptr && point.us >= after->us) return "time after that of the rows after it";
    return "time far from those of the job's other rows";
  }
  absl::Status SetAside(const JobRows& job, size_t i, std::string_view cause) {
    const auto file =
        std::ranges::upper_bound(job.files, i, std::less<>(), &std::pair<size_t, std::string>::first);
    const auto kept =
        std::ranges::lower_bound(job.texts, i, std::less<>(), &std::pair<size_t, std::string>::first);
    const Point& point = job.points[i];
    const std::string text =
        kept != job.texts.end() && kept->first == i
            ? kept->second
            : fmt::format("{} UTC, load {}", FormatTime(Timestamp{point.us}.seconds()), point.load);
    report_.Skip(cause, std::prev(file)->second, point.line, text);
    return strict_ ? BadRow(cause, std::prev(file)->second, point.line, text) : absl::OkStatus();
  }
  // Keeps the longest ordered part of the rows. Comparing each row with the previous one would reject all rows
  // after one wrong time.
  absl::Status KeepRowsInOrder(JobRows& job) {
    std::vector<int64_t> times;
    times.reserve(job.points.size());
    for (const Point& p : job.points) times.push_back(p.us);
    const std::vector<uint32_t> rows = RowsInOrder(times);
    size_t kept = 0;
    for (size_t i = 0; i < job.points.size(); ++i) {
      const bool keeps = kept < rows.size() && rows[kept] == i;
      const Point* const after = kept < rows.size() ? &job.points[rows[kept]] : nullptr;
      const bool too_late = keeps && times[i] - times[rows.front()] > kMostSpanUs;
      if (keeps && !too_late) {
        ++kept;
        continue;
      }
      if (too_late) ++kept;
      const Point* const before = kept > 0 ? &job.points[rows[kept - 1]] : nullptr;
      const std::string_view cause =
          too_late ? "more than 38 years after the job's first row" : WrongTime(job.points[i], before, after);
      if (absl::Status s = SetAside(job, i, cause); !s.ok()) return s;
    }
    Compact(job, rows);
    report_.rows_used += job.points.size();
    return absl::OkStatus();
  }
  void Compact(JobRows& job, std::span<const uint32_t> rows) const {
    const size_t each = signals_.size();
    size_t n = 0;
    const int64_t first_us = rows.empty() ? 0 : job.points[rows.front()].us;
    for (const uint32_t i : rows) {
      if (job.points[i].us - first_us > kMostSpanUs) break;
      job.points[n] = job.points[i];
      std::copy_n(job.signals.begin() + static_cast<std::ptrdiff_t>(i * each), each,
                  job.signals.begin() + static_cast<std::ptrdiff_t>(n * each));
      ++n;
    }
    job.points.resize(n);
    job.signals.resize(n * each);
  }
  bool ParseTime(const CsvRow& row, int64_t& us) const {
    int64_t number = 0;
    if (ParseInteger(row.begin(columns_.time), row.end(columns_.time), number) == NumberKind::kNumber &&
        number >= kFirstMilliseconds) {
      if (number > kLatestUs / 1000) return false;
      us = number * 1000;
      return true;
    }
    if (!ParseCsvTime(row, columns_.time, us)) return false;
    const int64_t latest = kLatestUs / columns_.time_unit;
    if (us > latest || us < -latest) return false;
    us *= columns_.time_unit;
    return true;
  }
  size_t NumberOf(std::string_view name) {
    const auto [found, added] = numbers_.try_emplace(std::string(name), jobs_.size());
    if (added)
      jobs_.push_back({.name = std::string(name), .points = {}, .signals = {}, .files = {}, .texts = {}});
    return found->second;
  }
  std::optional<LoadSeries> ToSeries(const JobRows& job) {
    std::map<int64_t, size_t> gaps;  // number of gaps by length in seconds
    for (size_t i = 1; i < job.points.size(); ++i)
      ++gaps[std::max<int64_t>(1, (job.points[i].us - job.points[i - 1].us + 500'000) / kMicrosPerSecond)];
    if (gaps.empty()) {
      report_.warnings.push_back(StrCat("job \"", job.name, "\": not replayed, it has one row"));
      return std::nullopt;
    }
    LoadSeries out;
    out.job = job.name;
    out.step_s = std::max_element(gaps.begin(), gaps.end(), [](const auto& a, const auto& b) {
                   return a.second < b.second;
                 })->first;
    out.start_s = Timestamp{job.points.front().us}.seconds();
    const int64_t step_us = out.step_s * kMicrosPerSecond;
    // Round each time to the nearest step.
    const auto slot = [&](int64_t us) { return (us - job.points.front().us + step_us / 2) / step_us; };
    const int64_t steps = slot(job.points.back().us) + 1;
    if (steps > kFewSteps && steps > kMostEmpty * static_cast<int64_t>(job.points.size())) {
      report_.warnings.push_back(fmt::format("job \"{}\": not replayed, {} rows in {} steps of {} s",
                                             job.name, job.points.size(), steps, out.step_s));
      return std::nullopt;
    }
    out.load.assign(static_cast<size_t>(steps), LoadSeries::kAbsentLoad);
    for (size_t i = 0; i < job.points.size();) {
      const int64_t at = slot(job.points[i].us);
      double sum = 0;
      int n = 0;
      for (; i < job.points.size() && slot(job.points[i].us) == at; ++i, ++n) sum += job.points[i].load;
      out.load[static_cast<size_t>(at)] = static_cast<float>(sum / n);
    }
    AddSignals(job, slot, out);
    return out;
  }
  // Adds the signals. The signal in a step is the mean over its rows, like the load.
  template <typename SlotOf>
  void AddSignals(const JobRows& job, const SlotOf& slot, LoadSeries& out) const {
    for (size_t k = 0; k < signals_.size(); ++k) {
      SignalSeries& its = out.signals.emplace_back();
      its.name = signals_[k];
      its.values.assign(out.load.size(), LoadSeries::kAbsentLoad);
      for (size_t i = 0; i < job.points.size();) {
        const int64_t at = slot(job.points[i].us);
        double sum = 0;
        int n = 0;
        for (; i < job.points.size() && slot(job.points[i].us) == at; ++i) {
          const float value = job.signals[i * signals_.size() + k];
          if (value < 0) continue;
          sum += value;
          ++n;
        }
        if (n > 0) its.values[static_cast<size_t>(at)] = static_cast<float>(sum / n);
      }
    }
  }

  const bool strict_;
  const std::string job_label_;
  const std::vector<std::string> signals_;
  std::vector<float> row_signals_;  // scratch memory, reused for each row
  ReadReport& report_;
  CsvTable table_;
  Columns columns_;
  std::vector<JobRows> jobs_;
  absl::flat_hash_map<std::string, size_t> numbers_;
};

}  // namespace

absl::StatusOr<std::vector<LoadSeries>> ReadLoads(const LoadReadOptions& options, ReadReport& report) {
  if (options.paths.empty()) return absl::InvalidArgumentError("no load files were given");
  const auto inputs = ExpandPaths(options.paths, report.warnings);
  if (!inputs.ok()) return inputs.status();
  LoadReader reader(options, report);
  for (const InputFile& file : *inputs) {
    if (absl::Status s = reader.ReadFile(file); !s.ok()) return s;
  }
  absl::StatusOr<std::vector<LoadSeries>> out = reader.Finish();
  if (!out.ok() || !out->empty()) return out;
  return absl::InvalidArgumentError(
      StrCat(options.paths.front(), ": no usable load: a job needs two rows of time and load"));
}

}  // namespace taut::tools
