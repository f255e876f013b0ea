#include "trace/csv_reader.h"

#include <algorithm>

#include "fmt/format.h"

namespace taut {

int64_t RowGate::Micros(const std::optional<int64_t>& seconds, int64_t otherwise) {
  if (!seconds) return otherwise;
  constexpr int64_t kLimit = INT64_MAX / kMicrosPerSecond;
  return std::clamp(*seconds, -kLimit, kLimit) * kMicrosPerSecond;
}

void RowGate::Skip(std::string_view cause, const CsvRow& row) {
  ReadReport& report = context_.report;
  if (last_cause_ == cause.data() && *last_count_ >= 3) {
    ++*last_count_;
    return;
  }
  report.Skip(cause, file_, row.line(), row.text());
  last_cause_ = cause.data();
  last_count_ = &report.skipped[std::string(cause)].count;
}

absl::Status RowGate::Bad(std::string_view cause, const CsvRow& row) {
  Skip(cause, row);
  if (!context_.options.strict) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}:{}: {}: {}", file_, row.line(), cause, row.text().substr(0, 200)));
}

uint32_t NameTable::Look(std::string_view name) {
  const auto found = numbers_.find(name);
  uint32_t number = static_cast<uint32_t>(entries_.size());
  if (found != numbers_.end()) {
    number = found->second;
  } else {
    entries_.push_back({std::string(name)});
    numbers_.emplace(name, number);
  }
  if (last_ < entries_.size()) entries_[last_].next = number;
  return last_ = number;
}

void RowLengths::Release(Series& series) {
  UsageRow& row = held_[series.held];
  row.end = Timestamp{row.start.us + series.length_us};
  sink_.OnUsage(row);
  free_.push_back(series.held);
  series.held = UINT32_MAX;
}

void RowLengths::Take(uint32_t number, UsageRow& row) {
  if (number >= series_.size()) series_.resize(std::max<size_t>(number + 1, series_.size() * 3 / 2));
  Series& series = series_[number];
  const int64_t gap = row.start.us - series.last_us;
  if (series.seen && gap > 0 && gap <= kWindowSeconds * kMicrosPerSecond) series.length_us = gap;
  series.last_us = row.start.us;
  if (series.length_us == 0) [[unlikely]] {
    if (!series.seen) {
      series.seen = true;
      if (free_.empty()) {
        series.held = static_cast<uint32_t>(held_.size());
        held_.push_back(row);
      } else {
        series.held = free_.back();
        free_.pop_back();
        held_[series.held] = row;
      }
      return;
    }
    series.length_us = alone_us_;
  }
  if (series.held != UINT32_MAX) [[unlikely]]
    Release(series);
  row.end = Timestamp{row.start.us + series.length_us};
  sink_.OnUsage(row);
}

void RowLengths::Finish() {
  for (Series& series : series_) {
    if (series.held == UINT32_MAX) continue;
    if (series.length_us == 0) series.length_us = alone_us_;
    Release(series);
  }
}

}  // namespace taut
