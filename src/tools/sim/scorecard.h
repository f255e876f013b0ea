// Measures of a replay (docs/references.md, M1 to M8), per job-day and as sums. A measure is defined for one job,
// resource and recommender. It covers one day of windows in which the resource was measured and a limit was in
// force:
//
//   mean limit      mean over windows and tasks (weighted by run time) of the limit in force
//   relative slack  (mean limit - p95 of the tasks' 5-minute mean usages) / mean limit
//   footprint       sum over windows of limit * tasks * 300 s
//   OOM             a task and window whose usage (memory: peak, CPU: mean) is over the limit in force, or
//                   with a recorded kill at this limit or a higher limit, because a kill hides higher usage
//   OOM-day         a job-day with an OOM; serious: with more OOMs than max(4, a fifth of the running tasks)
//   efficiency      usage / limit of a job, mean over jobs; reliability: share of a job's windows without an OOM
//   limit change    a window whose limit in force differs from the limit in the job's previous window
//
// With feedback oom-restart an OOM is a kill: the task then misses windows, so it is counted once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "common/base/bytes.h"
#include "common/model/resource.h"

namespace taut::tools {

// Score of one lane of one job for one day.
struct DayScore {
  uint32_t windows = 0;  // number of windows with a limit in force
  // Number of measured windows without a recommendation and without an owner's limit.
  uint32_t unlimited_windows = 0;
  double task_windows = 0;
  double limit_seconds = 0;        // limit * tasks * 300 s, in core-seconds or byte-seconds
  double owner_limit_seconds = 0;  // owner's limit * tasks * 300 s, over windows with an owner's limit
  double limit_seconds_owned = 0;  // limit_seconds over windows with an owner's limit
  double usage_seconds = 0;        // mean usage * 300 s over all measured tasks
  double mean_limit = 0;           // mean limit over windows and tasks
  double slack = 0;                // relative slack; undefined if `windows` is 0
  uint32_t ooms = 0;
  uint32_t windows_over = 0;
  double usage_over_seconds = 0;  // usage above the limit (for CPU: throttled work)
  uint32_t changes = 0;
  double mean_tasks = 0;
};

// Histogram of a bounded value with equal bins. The outer bins include values beyond the bounds. Merging
// histograms is exact, because the counts are integers.
class SlackDistribution {
 public:
  static constexpr int kBins = 2000;  // number of bins over the interval [-1, 1]
  void Add(double slack);
  uint64_t count() const { return count_; }
  // Returns the middle of the bin that contains the quantile `p`; 0 if there are no values.
  double Quantile(double p) const;
  // Returns the share of values at or below `slack`.
  double ShareAtOrBelow(double slack) const;

  void Merge(const SlackDistribution& other);
  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. Returns false for bytes that Save cannot have written.
  bool Load(ByteReader& in);

 private:
  std::array<uint64_t, kBins> bins_{};
  uint64_t count_ = 0;
};

// Sums over the job-days of one job, or over all job-days of the replay.
struct Totals {
  uint64_t job_days = 0;
  double slack_sum = 0;
  double limit_seconds = 0, owner_limit_seconds = 0, limit_seconds_owned = 0;
  double usage_seconds = 0, usage_over_seconds = 0;
  uint64_t windows = 0, windows_over = 0, unlimited_windows = 0;
  double task_windows = 0;
  uint64_t ooms = 0, oom_days = 0, serious_oom_days = 0;
  uint64_t negative_slack_days = 0;  // days with a p95 of usage above the mean limit
  uint64_t changes = 0, days_without_change = 0;
  // Sum over job-days of the ratio of OOMs to the mean number of running tasks
  double ooms_per_task_day_sum = 0;

  // The fields by type, for code that processes all fields in the same way.
  static const std::array<double Totals::*, 8> kSums;
  static const std::array<uint64_t Totals::*, 10> kCounts;

  void Add(const DayScore& day);
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);
  double mean_slack() const { return job_days > 0 ? slack_sum / static_cast<double>(job_days) : 0; }
  double oom_day_share() const { return Share(oom_days); }
  double serious_oom_day_share() const { return Share(serious_oom_days); }
  double changes_per_job_day() const { return Share(changes); }
  double share_without_change() const { return Share(days_without_change); }
  double ooms_per_task_day() const {
    return job_days > 0 ? ooms_per_task_day_sum / static_cast<double>(job_days) : 0;
  }
  // Returns the footprint relative to the owners' limits, over windows with an owner's limit. footprint_of_usage()
  // is relative to usage. Both are 0 if the divisor is 0.
  double footprint_of_owner() const {
    return owner_limit_seconds > 0 ? limit_seconds_owned / owner_limit_seconds : 0;
  }
  double footprint_of_usage() const { return usage_seconds > 0 ? limit_seconds / usage_seconds : 0; }
  double usage_over_share() const { return usage_seconds > 0 ? usage_over_seconds / usage_seconds : 0; }
  double windows_over_share() const {
    return windows > 0 ? static_cast<double>(windows_over) / static_cast<double>(windows) : 0;
  }

 private:
  double Share(uint64_t part) const {
    return job_days > 0 ? static_cast<double>(part) / static_cast<double>(job_days) : 0;
  }
};

inline constexpr std::array<double Totals::*, 8> Totals::kSums = {
    &Totals::slack_sum,           &Totals::limit_seconds,        &Totals::owner_limit_seconds,
    &Totals::limit_seconds_owned, &Totals::usage_seconds,        &Totals::usage_over_seconds,
    &Totals::task_windows,        &Totals::ooms_per_task_day_sum};
inline constexpr std::array<uint64_t Totals::*, 10> Totals::kCounts = {&Totals::job_days,
                                                                       &Totals::windows,
                                                                       &Totals::windows_over,
                                                                       &Totals::unlimited_windows,
                                                                       &Totals::ooms,
                                                                       &Totals::oom_days,
                                                                       &Totals::serious_oom_days,
                                                                       &Totals::negative_slack_days,
                                                                       &Totals::changes,
                                                                       &Totals::days_without_change};

// Distributions over jobs. Merging them is exact, because shares are integers.
struct ScoresByJob {
  static constexpr uint64_t kFewestDays = 7;  // minimum number of job-days for a meaningful share
  static constexpr double kPartsOfShare = 1e9;
  uint64_t jobs = 0;                  // number of jobs with a scored day
  std::map<uint64_t, uint64_t> with;  // number of jobs by their number of OOM-days, which is at least 1
  double worst_share = 0;             // highest share of OOM-days of a job with kFewestDays job-days
  uint64_t used = 0;                  // sum over jobs of usage / limit, in 1 / kPartsOfShare
  // Number of jobs by their share of windows above the limit, in 1 / kPartsOfShare; without shares of 0.
  std::map<uint64_t, uint64_t> over;

  void Add(const Totals& job);
  void Merge(const ScoresByJob& other);
  // Returns the mean over jobs of usage / limit; 0 without jobs.
  double efficiency() const;
  // Return the share of windows within the limit: the mean over jobs, and the share that the least reliable `p` of
  // the jobs do not exceed (nearest rank). 1 without jobs.
  double reliability() const;
  double ReliabilityQuantile(double p) const;
};

// Totals of one recommender and resource, with distributions over all job-days.
struct LaneSummary {
  Totals totals;
  SlackDistribution slack;
  std::vector<uint64_t> changes_histogram;  // element i counts the job-days with i changes

  void Add(const DayScore& day);
  uint32_t ChangesQuantile(double p) const;
};

}  // namespace taut::tools
