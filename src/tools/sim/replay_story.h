// Replays a cell and steps a live fleet through the same cell. The input bytes determine usage, gaps, owners'
// limits, settings, recommenders and mode. Used by a fuzzer, and by a test of a few stories.
//
// Three computations of the limits must agree: replays with one thread and with three, bit by bit; the replay and
// the live fleet, window by window; and the recommender `peak` and the highest usage that this class observes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "brain/fleet/live_fixture.h"
#include "common/base/strings.h"
#include "tools/sim/replay.h"

namespace taut::tools {

class ReplayStory {
 public:
  explicit ReplayStory(std::span<const uint8_t> bytes) : bytes_(bytes) {
    using enum brain::Policy;
    constexpr std::array kPolicies = {kPeak,         kVpa,      kMovingWindow, kEnsemble, kAnalogs,
                                      kWorkFunction, kCombined, kKrr,          kCrane};
    jobs_ = 1 + Next() % 3;
    days_ = 2 + Next() % 3;
    const brain::Policy cpu = kPolicies[Next() % kPolicies.size()];
    const brain::Policy memory = Next() % 2 == 0 ? cpu : kPolicies[Next() % kPolicies.size()];
    policy_ = brain::PolicyPair(cpu, memory);
    const uint8_t mode = Next() % 4;
    settings_ = brain::Settings(policy_, mode <= 1   ? Mode::kObserve
                                         : mode == 2 ? Mode::kCanary
                                                     : Mode::kAuto);
    settings_.enforcement = brain::Enforcement::kNever;  // usage is not cut at the limits
    settings_.vertical.peak.days = 1 + Next() % 3;
    settings_.vertical.peak.margin = 0.05 * (Next() % 10);
    settings_.vertical.peak.min_history_s = 3600.0 * (Next() % 30);
    if (mode > 0) {
      brain::JobPolicy managed = settings_.rules.defaults();
      managed.min_change = 0.05 * (Next() % 6);
      managed.change_period_s = 3600 * (Next() % 5);
      managed.canary.hours = 1 + Next() % 8;
      settings_.rules = *brain::PolicyRules::Compile({}, managed);
      managed_ = managed;
    }
    MakeWindows();
  }

  // Runs all computations. Aborts the process if two of them differ.
  void Live() {
    const Changes one = Replayed(1);
    Require(one == Replayed(3), "a replay with one thread and with three", 0);
    brain::LiveFleet fleet(settings_);
    brain::AddJobs(fleet, jobs_);
    brain::PassOutput out;
    for (const ClosedWindow& closed : windows_) {
      for (const JobWindowData& j : closed.jobs) {
        for (const Resource r : kResources) Compare(fleet.job(j.job).of(r), one, closed, j, r);
      }
      brain::Step(fleet, closed, out);
      NotePeaks(closed);
    }
  }
  uint64_t compared() const { return compared_; }

 private:
  // The windows in which a new limit comes into force, by job and resource.
  using Changes = std::map<std::pair<uint32_t, Resource>, std::map<int32_t, std::optional<double>>>;

  class Days final : public DaySource {
   public:
    explicit Days(const ReplayStory& story) : story_(story) {
      for (size_t j = 0; j < story.jobs_; ++j) infos_.push_back({StrCat("job-", j), "", {}, {}});
      for (int32_t d = 0; d < story.days_; ++d) numbers_.push_back(d);
    }
    const std::vector<JobInfo>& jobs() const override { return infos_; }
    const std::vector<int32_t>& days() const override { return numbers_; }
    int32_t last_day(JobId /*job*/) const override { return story_.days_ - 1; }
    absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override {
      std::vector<JobDay> all(story_.jobs_), out;
      for (int32_t w = day * kWindowsPerDay; w < (day + 1) * kWindowsPerDay; ++w) {
        const ClosedWindow& closed = story_.windows_[static_cast<size_t>(w)];
        for (size_t i = 0; i < closed.jobs.size(); ++i)
          brain::AppendWindow(closed, i, all[closed.jobs[i].job.value]);
      }
      std::ranges::copy_if(all, std::back_inserter(out), [](const JobDay& d) { return !d.windows.empty(); });
      return out;
    }

   private:
    const ReplayStory& story_;
    std::vector<JobInfo> infos_;
    std::vector<int32_t> numbers_;
  };

  static void Require(bool holds, const char* what, int32_t window) {
    if (holds) return;
    std::fprintf(stderr, "replay_story.h: %s differ in window %d\n", what, window);
    std::abort();
  }
  uint8_t Next() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }
  // Returns the i-th of the remaining bytes, which repeat at the end. The byte 0 stands for a window without the
  // job.
  uint8_t Level(size_t i) const {
    if (at_ >= bytes_.size()) return 40;
    const std::span<const uint8_t> rest = bytes_.subspan(at_);
    return rest[i % rest.size()];
  }

  void MakeWindows() {
    for (int32_t w = 0; w < days_ * kWindowsPerDay; ++w) {
      ClosedWindow& closed = windows_.emplace_back();
      closed.window = WindowId{w};
      for (uint32_t j = 0; j < jobs_; ++j) {
        // A level lasts for 7 windows. Jobs start at different levels.
        const uint8_t level = Level(static_cast<size_t>(w / 7) + 13 * j);
        if (level > 0 || w == 0) AddJob(j, level, closed);
      }
    }
  }
  void AddJob(uint32_t id, uint8_t level, ClosedWindow& closed) const {
    JobWindow w;
    w.window = closed.window;
    w.first_task = static_cast<uint32_t>(closed.tasks.size());
    w.num_tasks = 1 + (level + id) % 3;
    w.first_bucket = static_cast<uint32_t>(closed.cpu_buckets.size());
    w.cpu_limit_cores = 8;
    w.memory_limit_bytes = static_cast<float>(8 * kGiB);
    std::map<Bucket, float> buckets;
    for (uint32_t t = 0; t < w.num_tasks; ++t) {
      const double cpu = 0.01 + 0.02 * level * (1 + 0.1 * t), memory = (1.0 + level + 5.0 * t) * 16 * kMiB;
      closed.tasks.push_back({t, static_cast<float>(cpu), static_cast<float>(cpu * 1.1),
                              static_cast<float>(memory * 0.9), static_cast<float>(memory)});
      buckets[Grid::Cpu().BucketOf(cpu)] += 300;
    }
    for (const auto& [bucket, weight] : buckets) closed.cpu_buckets.push_back({bucket, weight});
    w.num_buckets = static_cast<uint32_t>(buckets.size());
    closed.jobs.push_back({JobId{id}, w});
  }

  Changes Replayed(int threads) const {
    Changes out;
    Days days(*this);
    ReplayOptions options;
    options.policies = {policy_};
    options.settings = settings_.vertical;
    options.warmup_s = kDaySeconds;
    options.managed = managed_;
    options.threads = threads;
    ReplayHooks hooks;
    hooks.on_change = [&](const LimitChange& c) {
      out[{c.job.value, c.resource}][c.from.index] = c.limit;
      return absl::OkStatus();
    };
    Require(Replay(days, options, hooks).ok(), "a replay and its success", threads);
    return out;
  }

  void Compare(const brain::LiveLane& lane, const Changes& replayed, const ClosedWindow& closed,
               const JobWindowData& j, Resource r) {
    const float owner = r == Resource::kCpu ? j.window.cpu_limit_cores : j.window.memory_limit_bytes;
    const bool is_observed = !managed_.has_value();
    const std::optional<double> limit = is_observed ? lane.lane.LimitInForce(owner)
                                        : managed_->mode == Mode::kObserve && lane.gate.shown.has_value()
                                            ? lane.gate.shown
                                            : lane.LimitInForce(owner);
    const auto steps = replayed.find({j.job.value, r});
    Require(steps != replayed.end(), "the jobs of a replay and of a fleet", closed.window.index);
    const auto it = steps->second.upper_bound(closed.window.index);
    Require(it != steps->second.begin(), "first limits", closed.window.index);
    Require(std::prev(it)->second == limit, "limits of a replay and of a living fleet", closed.window.index);
    const brain::Policy policy = r == Resource::kCpu ? policy_.cpu : policy_.memory;
    if (policy == brain::Policy::kPeak && is_observed && limit.has_value() && *limit != owner)
      ComparePeak(j.job, r, *limit, closed.window.index);
    ++compared_;
  }

  // Checks that a limit of `peak` is at least the highest usage of the days before the decision. The limit may
  // exceed this usage with its margin by at most a bucket of the grid (5 %).
  void ComparePeak(JobId job, Resource r, double limit, int32_t window) {
    const std::vector<std::pair<int32_t, double>>& peaks = peaks_[{job.value, r}];
    if (peaks.empty()) return;
    const auto days = static_cast<int32_t>(settings_.vertical.peak.days * kWindowsPerDay);
    double highest = 0;
    for (const auto& [at, peak] : peaks) {
      if (at >= peaks.back().first + 1 - days) highest = std::max(highest, peak);
    }
    const double most = highest * (1 + settings_.vertical.peak.margin) * 1.06;
    const double least_limit = r == Resource::kCpu ? 0.05 : 64.0 * kMiB;  // lanes never set a lower limit
    Require(limit >= highest * 0.999 && limit <= std::max(most, least_limit), "peak and the highest usage",
            window);
  }
  void NotePeaks(const ClosedWindow& closed) {
    for (const JobWindowData& j : closed.jobs) {
      PerResource<double> highest{};
      for (uint32_t t = 0; t < j.window.num_tasks; ++t) {
        const TaskWindow& task = closed.tasks[j.window.first_task + t];
        highest[kCpuIndex] = std::max<double>(highest[kCpuIndex], task.cpu_mean_cores);
        highest[kMemoryIndex] = std::max<double>(highest[kMemoryIndex], task.memory_peak_bytes);
      }
      for (const Resource r : kResources)
        peaks_[{j.job.value, r}].emplace_back(closed.window.index, highest[static_cast<size_t>(r)]);
    }
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  size_t jobs_ = 1;
  int32_t days_ = 2;
  brain::PolicyPair policy_ = brain::Policy::kPeak;
  brain::LiveSettings settings_;
  std::optional<brain::JobPolicy> managed_;
  std::vector<ClosedWindow> windows_;
  std::map<std::pair<uint32_t, Resource>, std::vector<std::pair<int32_t, double>>> peaks_;
  uint64_t compared_ = 0;
};

}  // namespace taut::tools
