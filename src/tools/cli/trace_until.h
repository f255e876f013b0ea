// A trace as it was known at an earlier time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "tools/cli/input.h"

namespace taut::tools {

// A trace without the windows from `end` on.
class TraceUntil final : public DaySource {
 public:
  TraceUntil(LoadedTrace& trace, WindowId end) : trace_(trace), end_(end) {
    for (int32_t day : trace.days()) {
      if (day * kWindowsPerDay < end.index) days_.push_back(day);
    }
  }
  const std::vector<JobInfo>& jobs() const override { return trace_.jobs(); }
  const std::vector<int32_t>& days() const override { return days_; }
  // Never returns a hidden day, because the state of a job is reported on its last day.
  int32_t last_day(JobId job) const override {
    return days_.empty() ? 0 : std::min(trace_.last_day(job), days_.back());
  }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override {
    absl::StatusOr<std::vector<JobDay>> jobs = trace_.LoadDay(day);
    if (!jobs.ok() || end_.index >= (day + 1) * kWindowsPerDay) return jobs;
    for (JobDay& j : *jobs) {
      std::erase_if(j.windows, [&](const JobWindow& w) { return w.window >= end_; });
      std::erase_if(j.kills, [&](const TaskKills& k) { return k.window >= end_; });
    }
    return jobs;
  }

 private:
  LoadedTrace& trace_;
  WindowId end_;  // first hidden window
  std::vector<int32_t> days_;
};

}  // namespace taut::tools
