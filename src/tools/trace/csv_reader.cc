#include "tools/trace/csv_reader.h"

#include <algorithm>

#include "fmt/format.h"

namespace taut::tools {

absl::Status BadRow(std::string_view cause, std::string_view file, uint64_t line, std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("{}:{}: {}: {}", file, line, cause, text.substr(0, 200)));
}

std::string_view Trimmed(std::string_view field) {
  while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
  while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
  return field;
}

int64_t RowCounter::Micros(const std::optional<int64_t>& seconds, int64_t otherwise) {
  if (!seconds) return otherwise;
  constexpr int64_t kLimit = INT64_MAX / kMicrosPerSecond;
  return std::clamp(*seconds, -kLimit, kLimit) * kMicrosPerSecond;
}

void RowCounter::Skip(std::string_view cause, const CsvRow& row) {
  ReadReport& report = context_.report;
  // The report stores the first three examples of each cause, so only later rows take this shortcut. The pointer
  // to the count stays valid, because the nodes of a std::map do not move.
  if (last_cause_ == cause.data() && *last_count_ >= 3) {
    ++*last_count_;
    return;
  }
  report.Skip(cause, file_, row.line(), row.text());
  last_cause_ = cause.data();
  last_count_ = &report.skipped[std::string(cause)].count;
}

absl::Status RowCounter::Bad(std::string_view cause, const CsvRow& row) {
  Skip(cause, row);
  return context_.options.strict ? BadRow(cause, file_, row.line(), row.text()) : absl::OkStatus();
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

void RowLengths::HandOut(UsageRow& row, int64_t length_us) {
  constexpr int64_t kWindowUs = kWindowSeconds * kMicrosPerSecond;
  row.end = Timestamp{row.start.us + std::min(length_us, kWindowUs)};
  sink_.OnUsage(row);
  if (length_us <= kWindowUs) [[likely]]
    return;
  ++spread_;
  const Timestamp start = row.start;
  const std::optional<uint32_t> kills = row.oom_kills;
  if (kills.has_value()) row.oom_kills = 0;  // kills count in the first window only
  for (int64_t at = kWindowUs; at < length_us; at += kWindowUs) {
    row.start = Timestamp{start.us + at};
    row.end = Timestamp{start.us + std::min(length_us, at + kWindowUs)};
    sink_.OnUsage(row);
  }
  row.start = start;
  row.oom_kills = kills;
}

void RowLengths::Release(Series& series) {
  HandOut(held_[series.held], series.length_us);
  free_.push_back(series.held);
  series.held = UINT32_MAX;
}

void RowLengths::Take(uint32_t number, UsageRow& row) {
  if (number >= series_.size()) series_.resize(std::max<size_t>(number + 1, series_.size() * 3 / 2));
  Series& series = series_[number];
  const int64_t gap = row.start.us - series.last_us;
  constexpr int64_t kMostSpread = 3600 * kMicrosPerSecond;
  const bool coarse = gap > kWindowSeconds * kMicrosPerSecond;
  const bool same = coarse && !series.fine && gap == series.gap_us;
  const bool regular = same && gap <= kMostSpread;
  sparse_ += same && !regular ? 1 : 0;
  if (series.seen && gap > 0 && (!coarse || regular)) series.length_us = gap;
  series.fine = series.fine || (series.seen && gap > 0 && !coarse);
  series.gap_us = coarse ? gap : 0;
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
  HandOut(row, series.length_us);
}

void RowLengths::Finish() {
  for (Series& series : series_) {
    if (series.held == UINT32_MAX) continue;
    if (series.length_us == 0) series.length_us = alone_us_;
    Release(series);
  }
}

}  // namespace taut::tools
