// A simulated cell for tests, which produces its windows in order.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "brain/fleet/live_fleet.h"
#include "common/base/random.h"

namespace taut::brain {

inline constexpr int kDays = 12;

// A simulated cell, as windows and as days. Usage has a daily shape, noise, and occasional spikes. Every job is
// measured in every window.
class Cell {
 public:
  // `probed`: true if agents probe every second job, except in a few windows.
  explicit Cell(int jobs, bool probed = false) : probed_(probed) {
    Rng rng(7);
    for (int32_t w = 0; w < kDays * kWindowsPerDay; ++w) {
      ClosedWindow& closed = windows_.emplace_back();
      closed.window = WindowId{w};
      for (int j = 0; j < jobs; ++j) AddJob(static_cast<uint32_t>(j), rng, closed);
    }
  }
  const std::vector<ClosedWindow>& windows() const { return windows_; }

 private:
  void AddJob(uint32_t id, Rng& rng, ClosedWindow& closed) const {
    const double hour = (closed.window.index % kWindowsPerDay) / 12.0;
    JobWindow w;
    w.window = closed.window;
    w.first_task = static_cast<uint32_t>(closed.tasks.size());
    w.num_tasks = 1 + id % 3;
    w.first_bucket = static_cast<uint32_t>(closed.cpu_buckets.size());
    w.cpu_limit_cores = 4;
    w.memory_limit_bytes = static_cast<float>((1 + id) * 512 * kMiB);
    std::map<Bucket, float> buckets;
    for (uint32_t t = 0; t < w.num_tasks; ++t) {
      const double cpu = (0.3 + 0.1 * id) * (1 + 0.5 * std::sin(hour / 24 * 6.283)) * rng.Uniform(0.8, 1.2);
      const double memory = (1 + id) * 128 * kMiB * rng.Uniform(0.8, 1.2) * (rng.Below(400) == 0 ? 2 : 1);
      closed.tasks.push_back({t, static_cast<float>(cpu), static_cast<float>(cpu * 1.1),
                              static_cast<float>(memory * 0.9), static_cast<float>(memory)});
      if (probed_ && id % 2 == 0 && closed.window.index % 50 != 7)
        closed.tasks.back().memory_needed_bytes = static_cast<float>(memory * 0.3);
      buckets[Grid::Cpu().BucketOf(cpu)] += 300;
    }
    for (const auto& [bucket, weight] : buckets) closed.cpu_buckets.push_back({bucket, weight});
    w.num_buckets = static_cast<uint32_t>(buckets.size());
    closed.jobs.push_back({JobId{id}, w});
  }
  bool probed_;
  std::vector<ClosedWindow> windows_;
};

// Returns all jobs that need history.
inline std::vector<JobId> WantedOf(const LiveFleet& fleet) {
  uint32_t cursor = 0;
  return fleet.history.Wanted(SIZE_MAX, cursor);
}

// Returns a window with one job of two tasks. Each task uses 1 core and 1 GiB; the arguments are the owner's
// limits.
inline ClosedWindow TwoTasks(int32_t index, float cpu_limit, float memory_limit) {
  ClosedWindow closed;
  closed.window = WindowId{index};
  JobWindow w;
  w.window = closed.window;
  w.num_tasks = 2;
  w.num_buckets = 1;
  w.cpu_limit_cores = cpu_limit;
  w.memory_limit_bytes = memory_limit;
  const auto gib = static_cast<float>(kGiB);
  closed.tasks = {{0, 1, 1, gib, gib}, {1, 1, 1, gib, gib}};
  closed.cpu_buckets.push_back({Grid::Cpu().BucketOf(1), 600});
  closed.jobs.push_back({JobId{0}, w});
  return closed;
}

inline LiveSettings Settings(PolicyPair recommenders, Mode mode) {
  LiveSettings s;
  s.vertical.analogs.min_rows = 20;
  s.vertical.analogs.min_days = 3;
  JobPolicy defaults;
  if (const std::optional<Policy> one = recommenders.one(); one.has_value()) {
    defaults.recommender = *one;
  } else {
    defaults.cpu_recommender = recommenders.cpu;
    defaults.memory_recommender = recommenders.memory;
  }
  defaults.mode = mode;
  s.rules = *PolicyRules::Compile({}, defaults);
  return s;
}

inline void AddJobs(LiveFleet& fleet, size_t jobs) {
  for (uint32_t j = 0; j < jobs; ++j) fleet.AddJob({JobId{j}, "job-" + std::to_string(j), {}, 0});
}

inline void Step(LiveFleet& fleet, const ClosedWindow& closed, PassOutput& out) {
  const size_t half = closed.jobs.size() / 2;
  fleet.pass.Observe(closed, 0, half, out);
  fleet.pass.Observe(closed, half, closed.jobs.size(), out);
  fleet.pass.EndWindow(closed, out);
  fleet.pass.Decide(closed, 0, closed.jobs.size(), out);
}

// Makes one setting and applies the setting at once.
inline absl::StatusOr<SettingChange> Set(LiveFleet& fleet, JobId id, std::string_view key,
                                         std::string_view value, int64_t now_s, PassOutput& out) {
  const KeyValue setting{key, value};
  absl::StatusOr<PreparedSettings> prepared = fleet.overrides.Prepare(id, {&setting, 1}, "anna", now_s);
  if (!prepared.ok()) return prepared.status();
  SettingChange change = prepared->changes.front();
  out.decisions.insert(out.decisions.end(), prepared->output.decisions.begin(),
                       prepared->output.decisions.end());
  fleet.overrides.Take(*std::move(prepared));
  return change;
}

inline std::string Chunk(const LiveFleet& fleet) {
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.checkpoint.SaveChunk(0, out);
  return bytes;
}

inline std::string Models(const LiveFleet& fleet) {
  std::string bytes;
  ByteWriter out(&bytes);
  fleet.checkpoint.SaveFleet(out);
  return bytes;
}

// Appends window `i` of `closed` to a day, in the form that a store or a trace returns.
inline void AppendWindow(const ClosedWindow& closed, size_t i, JobDay& day) {
  JobDay one;
  ToJobDay(closed, i, one);
  JobWindow w = one.windows[0];
  w.first_task += static_cast<uint32_t>(day.tasks.size());
  w.first_bucket += static_cast<uint32_t>(day.cpu_buckets.size());
  day.job = one.job;
  day.day = one.day;
  day.windows.push_back(w);
  day.tasks.insert(day.tasks.end(), one.tasks.begin(), one.tasks.end());
  day.cpu_buckets.insert(day.cpu_buckets.end(), one.cpu_buckets.begin(), one.cpu_buckets.end());
}

// Returns the days of all jobs, ascending by job.
inline std::vector<JobDay> DayOf(const Cell& cell, int32_t day, size_t jobs) {
  std::vector<JobDay> out(jobs);
  for (int32_t w = day * kWindowsPerDay; w < (day + 1) * kWindowsPerDay; ++w) {
    const ClosedWindow& closed = cell.windows()[static_cast<size_t>(w)];
    for (size_t i = 0; i < closed.jobs.size(); ++i) AppendWindow(closed, i, out[i]);
  }
  return out;
}

}  // namespace taut::brain
