#include "tools/sim/placed_tasks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr float kNone = -1;

// Collects the days of a trace as one series per task.
class SeriesReader {
 public:
  SeriesReader(const std::vector<JobInfo>& jobs, Resource resource, int32_t first_day, size_t windows)
      : jobs_(jobs), windows_(windows) {
    out_.resource = resource;
    out_.first = {first_day * kWindowsPerDay};
    any_.resize(windows);
  }

  void Take(const JobDay& day) {
    for (const JobWindow& w : day.windows) {
      const float limit = w.limit(out_.resource);
      const auto at = static_cast<size_t>(w.window.index - out_.first.index);
      for (uint32_t i = w.first_task; i < w.first_task + w.num_tasks; ++i) {
        const TaskWindow& t = day.tasks[i];
        const float usage = t.judged(out_.resource);
        if (usage < 0) continue;
        TaskSeries& series = Of(day.job, t.task);
        series.usage[at] = usage;
        if (limit > 0) series.limit[at] = limit;
        any_[at] = true;
      }
    }
  }

  absl::StatusOr<PlacedTasks> Finish(double present) {
    const auto measured = static_cast<double>(std::ranges::count(any_, true));
    // Cut the series to the span from the first to the last window with usage.
    while (windows_ > 0 && !any_[windows_ - 1]) --windows_;
    size_t begin = 0;
    while (begin < windows_ && !any_[begin]) ++begin;
    for (auto& [id, series] : series_) {
      const auto own = std::ranges::count_if(series.usage, [](float u) { return u >= 0; });
      if (static_cast<double>(own) < present * measured) {
        ++out_.not_throughout;
      } else if (!FillLimits(series.limit)) {
        ++out_.without_limit;
      } else {
        Cut(series.usage, begin);
        Cut(series.limit, begin);
        series.name = jobs_[id.first].name;
        series.job = JobId{id.first};
        if (id.second > 0) StrAppend(&series.name, "/", id.second);
        out_.tasks.push_back(std::move(series));
      }
    }
    if (out_.tasks.empty() && out_.without_limit > 0) {
      return absl::InvalidArgumentError(
          fmt::format("the trace has no {} limits of owners: {} tasks are measured throughout, none has a "
                      "limit; expected a trace with limits",
                      Name(out_.resource), out_.without_limit));
    }
    out_.first.index += static_cast<int32_t>(begin);
    out_.windows = windows_ - begin;
    return std::move(out_);
  }

 private:
  TaskSeries& Of(JobId job, uint32_t task) {
    TaskSeries& series = series_[{job.value, task}];
    if (series.usage.empty()) {
      series.usage.assign(windows_, kNone);
      series.limit.assign(windows_, kNone);
    }
    return series;
  }
  void Cut(std::vector<float>& values, size_t begin) const {
    values.resize(windows_);
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  // Fills each gap with the previous limit, and the start with the first known limit. Returns false if no limit is
  // known.
  static bool FillLimits(std::vector<float>& limits) {
    const auto first = std::ranges::find_if(limits, [](float l) { return l >= 0; });
    if (first == limits.end()) return false;
    float last = *first;
    for (float& l : limits) last = l = l >= 0 ? l : last;
    return true;
  }

  const std::vector<JobInfo>& jobs_;
  size_t windows_;
  std::vector<bool> any_;  // true if any task has usage, by window
  std::map<std::pair<uint32_t, uint32_t>, TaskSeries> series_;
  PlacedTasks out_;
};

}  // namespace

absl::StatusOr<size_t> SpanOfDays(const std::vector<int32_t>& days) {
  if (days.empty()) return absl::InvalidArgumentError("the trace has no usage");
  const int64_t span = int64_t{days.back()} - days.front() + 1;
  if (span <= kMostSpanDays) return static_cast<size_t>(span);
  return absl::InvalidArgumentError(
      fmt::format("the trace has usage on {} days, but from the first to the last are {}: expected at most "
                  "{}; is the time of a row "
                  "wrong?",
                  days.size(), span, kMostSpanDays));
}

absl::StatusOr<PlacedTasks> ReadPlacedTasks(DaySource& source, Resource resource, double present) {
  const std::vector<int32_t>& days = source.days();
  const absl::StatusOr<size_t> span = SpanOfDays(days);
  if (!span.ok()) return span.status();
  const size_t windows = *span * kWindowsPerDay;
  SeriesReader reader(source.jobs(), resource, days.front(), windows);
  for (const int32_t day : days) {
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& job : *jobs) reader.Take(job);
  }
  return reader.Finish(present);
}

std::vector<std::vector<uint32_t>> PlaceAtRandom(size_t tasks, uint32_t machine_tasks, uint32_t placements,
                                                 uint64_t seed) {
  std::vector<std::vector<uint32_t>> machines;
  Rng rng(seed);
  for (uint32_t p = 0; p < placements; ++p) {
    std::vector<uint32_t> order(tasks);
    for (uint32_t i = 0; i < tasks; ++i) order[i] = i;
    for (size_t i = tasks; i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    for (size_t at = 0; at + machine_tasks <= tasks; at += machine_tasks) {
      std::vector<uint32_t> machine(order.begin() + static_cast<std::ptrdiff_t>(at),
                                    order.begin() + static_cast<std::ptrdiff_t>(at + machine_tasks));
      std::ranges::sort(machine);
      machines.push_back(std::move(machine));
    }
  }
  return machines;
}

}  // namespace taut::tools
