// A trace whose days a test or benchmark of the replay adds in code.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/sim/replay.h"

namespace taut::tools {

class MadeDays final : public DaySource {
 public:
  JobId AddJob(JobInfo info) {
    jobs_.push_back(std::move(info));
    return JobId{static_cast<uint32_t>(jobs_.size() - 1)};
  }
  // Adds a task to a window. kAbsent marks a value that was not measured. REQUIRES: the tasks of one window
  // ascend. Windows may be added in any order.
  void Put(JobId job, int32_t window, const TaskWindow& task) { WindowOf(job, window).tasks.push_back(task); }
  void PutMemory(JobId job, int32_t window, uint32_t task, double mean, double peak) {
    TaskWindow t;
    t.task = task;
    t.memory_mean_bytes = static_cast<float>(mean);
    t.memory_peak_bytes = static_cast<float>(peak);
    Put(job, window, t);
  }
  // Adds OOM kills of a task to a window, before or after the task itself is added.
  void PutKills(JobId job, int32_t window, uint32_t task, uint32_t kills, double killed_at) {
    WindowOf(job, window).kills.push_back({WindowId{window}, task, kills, static_cast<float>(killed_at)});
  }
  // Sets the owner's limits in a window, before or after its tasks are added.
  void SetOwner(JobId job, int32_t window, double cpu_cores, double memory_bytes) {
    WindowOf(job, window).cpu_limit = static_cast<float>(cpu_cores);
    WindowOf(job, window).memory_limit = static_cast<float>(memory_bytes);
  }
  // Sets the sum of the tasks' memory limits, for tasks with different limits.
  void SetOwnerSum(JobId job, int32_t window, double memory_bytes) {
    WindowOf(job, window).memory_limit_sum = static_cast<float>(memory_bytes);
  }
  // Builds the days. REQUIRES: all windows were added.
  void Finish() {
    days_.clear();
    made_.clear();
    for (const auto& [day, jobs] : by_day_) {
      days_.push_back(day);
      std::vector<JobDay>& made = made_[day];
      for (const auto& [job, windows] : jobs) {
        JobDay& d = made.emplace_back();
        d.job = JobId{job};
        d.day = day;
        for (const auto& [index, window] : windows) AppendWindow(index, window, d);
      }
    }
  }

  const std::vector<JobInfo>& jobs() const override { return jobs_; }
  const std::vector<int32_t>& days() const override { return days_; }
  int32_t last_day(JobId job) const override {
    int32_t last = INT32_MIN;
    for (const auto& [day, jobs] : by_day_) last = jobs.contains(job.value) ? day : last;
    return last;
  }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override {
    return made_.contains(day) ? made_.at(day) : std::vector<JobDay>();
  }

 private:
  struct MadeWindow {
    std::vector<TaskWindow> tasks;
    std::vector<TaskKills> kills;
    float cpu_limit = kAbsent, memory_limit = kAbsent, memory_limit_sum = kAbsent;
  };
  MadeWindow& WindowOf(JobId job, int32_t window) {
    return by_day_[WindowId{window}.day()][job.value][window];
  }
  // Appends a window. The CPU buckets assume that each task used its mean during the whole window.
  static void AppendWindow(int32_t index, const MadeWindow& made, JobDay& d) {
    JobWindow w;
    w.window = WindowId{index};
    w.first_task = static_cast<uint32_t>(d.tasks.size());
    w.num_tasks = static_cast<uint32_t>(made.tasks.size());
    w.first_bucket = static_cast<uint32_t>(d.cpu_buckets.size());
    w.cpu_limit_cores = made.cpu_limit;
    w.memory_limit_bytes = made.memory_limit;
    w.memory_limit_sum_bytes = made.memory_limit_sum;
    std::map<Bucket, float> buckets;
    for (const TaskWindow& t : made.tasks) {
      if (t.cpu_mean_cores >= 0) buckets[Grid::Cpu().BucketOf(t.cpu_mean_cores)] += kWindowSeconds;
    }
    for (const auto& [b, seconds] : buckets) d.cpu_buckets.push_back({b, seconds});
    w.num_buckets = static_cast<uint32_t>(buckets.size());
    d.tasks.insert(d.tasks.end(), made.tasks.begin(), made.tasks.end());
    d.windows.push_back(w);
    d.kills.insert(d.kills.end(), made.kills.begin(), made.kills.end());
    d.kills_told += static_cast<uint32_t>(made.kills.size());
  }

  std::vector<JobInfo> jobs_;
  std::vector<int32_t> days_;
  std::map<int32_t, std::map<uint32_t, std::map<int32_t, MadeWindow>>> by_day_;
  // Copy of by_day_ as JobDays, because a test replays the days several times.
  std::map<int32_t, std::vector<JobDay>> made_;
};

}  // namespace taut::tools
