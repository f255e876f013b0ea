#include "tools/trace/event_tables.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "tools/trace/csv_reader.h"

namespace taut::tools {

uint32_t EventTables::AddJob(std::string name) {
  jobs_.emplace_back().name = std::move(name);
  has_tier_.push_back(false);
  return static_cast<uint32_t>(jobs_.size() - 1);
}

uint32_t EventTables::Job(int64_t id) {
  const auto [at, added] = by_id_.try_emplace(id, 0);
  if (added) at->second = AddJob(fmt::format("{}", id));
  return at->second;
}

uint32_t EventTables::Job(std::string_view name) {
  const auto [at, added] = by_name_.try_emplace(std::string(name), 0);
  if (added) at->second = AddJob(std::string(name));
  return at->second;
}

void EventTables::SetPriority(uint32_t job, int64_t priority) {
  const TraceTier tier =
      taut::tools::TierOf(static_cast<int>(std::clamp<int64_t>(priority, -1, 1'000'000)), bands_);
  static_assert(static_cast<int>(TraceTier::kMonitoring) == static_cast<int>(Tier::kMonitoring) + 1);
  if (tier != TraceTier::kUnknown) SetTier(job, static_cast<Tier>(static_cast<int>(tier) - 1));
}

void EventTables::Take(brain::TraceEvent event, uint64_t line, std::string_view text) {
  const size_t file = files_.size() - 1;
  if (last_file_ == file && event.time_us < last_us_) Keep("event behind a later one", line, text);
  last_file_ = file;
  last_us_ = event.time_us;
  TakeUnordered(event, line);
}

void EventTables::TakeUnordered(brain::TraceEvent event, uint64_t line) {
  ++report_.rows_used;
  TakeMore(event, line);
}

void EventTables::TakeMore(brain::TraceEvent event, uint64_t line) {
  event.place = uint64_t{files_.size() - 1} << kLineBits | line;
  sorter_.Add(event);
}

absl::Status EventTables::Bad(std::string_view cause, uint64_t line, std::string_view text) {
  Skip(cause, line, text);
  return options_.strict ? BadRow(cause, files_.back(), line, text) : absl::OkStatus();
}

void EventTables::Skip(std::string_view cause, uint64_t line, std::string_view text) {
  report_.Skip(cause, files_.back(), line, text);
}

void EventTables::Keep(std::string_view cause, uint64_t line, std::string_view text) {
  report_.Keep(cause, files_.back(), line, text);
}

absl::StatusOr<EventTables::Folded> EventTables::Fold() {
  Folded out;
  out.jobs = std::move(jobs_);
  if (const auto without = std::ranges::count(has_tier_, false); without > 0)
    report_.warnings.push_back(fmt::format("{} jobs have no priority and are taken for batch", without));
  brain::EventFold fold(out.jobs, [&](std::string_view cause, const brain::TraceEvent& e) {
    const std::string what =
        e.task == brain::kWholeJob
            ? fmt::format("job {} at {} s", out.jobs[e.job].name, Timestamp{e.time_us}.seconds())
            : fmt::format("task {} of job {} at {} s", e.task, out.jobs[e.job].name,
                          Timestamp{e.time_us}.seconds());
    report_.Keep(cause, files_[e.place >> kLineBits], e.place & ((uint64_t{1} << kLineBits) - 1), what);
  });
  if (absl::Status s = sorter_.ForEach([&](const brain::TraceEvent& e) { fold.Take(e); }); !s.ok()) return s;
  out.figures = fold.Finish();
  out.spans = fold.TakeSpans();
  return out;
}

}  // namespace taut::tools
