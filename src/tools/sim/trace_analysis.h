// Analyses a trace: usage and limits by tier over time, the distribution of usage over jobs, and job arrivals.
// Source of the measures: Tirmazi et al., "Borg: the next generation", EuroSys 2020. Omits measures that days of
// usage cannot provide.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/recorded_events.h"
#include "tools/sim/moments.h"
#include "tools/sim/replay.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {

// One resource of one tier in one hour: hourly means, summed over all tasks, in cores or bytes.
struct TierHour {
  double usage = 0;
  double limit = 0;          // owners' limits, summed over tasks with a known limit
  double limited_usage = 0;  // usage of tasks with a known limit
};
struct AnalysisHour {
  int64_t start_s = 0;
  PerResource<std::array<TierHour, kNumTraceTiers>> of;  // means by resource and tier
  uint64_t new_jobs = 0;  // jobs with their first usage in this hour; 0 on the first day
};

struct TierSummary {
  uint64_t jobs = 0;
  double usage = 0, limit = 0, limited_usage = 0;  // means over hours with usage
  // Returns 1 - usage / limit of the tasks with a known limit; -1 if there are no such tasks.
  double slack() const { return limit > 0 ? 1 - limited_usage / limit : -1; }
};

// New jobs per hour from the second day on.
struct Arrivals {
  uint64_t hours = 0;  // number of hours; 0: the trace has less than two days
  double mean = 0, median = 0;
};

struct TraceAnalysis {
  bool has_priorities = false;
  std::vector<AnalysisHour> hours;  // hours with usage, ascending
  PerResource<std::array<TierSummary, kNumTraceTiers>> tiers;
  // Summaries by mode of vertical scaling. has_modes is true if the mode of any job is known.
  bool has_modes = false;
  PerResource<std::array<TierSummary, brain::kScalingModes>> modes;
  // Distributions of the jobs' usage integrals, in core-hours and GiB-hours.
  PerResource<SizeDistribution> sizes;
  PerResource<std::vector<TailPoint>> tails;
  double correlation = 0;  // Pearson correlation of the CPU and memory integrals over the jobs
  Arrivals arrivals;
  uint64_t jobs = 0;  // number of jobs with usage
};

// Slack of the tasks with a known limit, where usage is highest and lowest.
struct PeakSlack {
  double peak = 0;    // over the tenth of the hours with the highest usage of these tasks, one hour at least
  double trough = 0;  // over the tenth with the lowest usage
};
// Returns nullopt if no hour has a task with a known limit.
std::optional<PeakSlack> PeakSlackOf(std::span<const AnalysisHour> hours, Resource r);

struct AnalysisHooks {
  std::function<void(uint64_t day, uint64_t days)> on_progress;
  std::function<bool()> should_stop;
  // Returns the mode of a job by name; may be empty.
  std::function<brain::ScalingMode(const std::string& job)> mode_of;
};
class AnalysisSums;
// Sums up the jobs of the trace, or of a part of it. O(task-windows). Returns Cancelled if should_stop returned
// true, and errors of LoadDay().
absl::StatusOr<AnalysisSums> SumTrace(DaySource& source, const AnalysisHooks& hooks = {});
// Analyses the trace. Returns FailedPrecondition if the trace has no usage, and errors of SumTrace().
absl::StatusOr<TraceAnalysis> AnalyseTrace(DaySource& source, const AnalysisHooks& hooks = {});

}  // namespace taut::tools
