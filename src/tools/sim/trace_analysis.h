// What a trace holds: usage and limits by tier over time, how usage is spread over its jobs, and when jobs
// appear. The measures of "Borg: the next generation" (EuroSys 2020) that days of usage have.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/recorded_events.h"
#include "tools/sim/moments.h"
#include "tools/sim/replay.h"
#include "tools/sim/trace_tier.h"

namespace taut::tools {

// Of one resource and tier in one hour, cores or bytes, over all tasks: means over the hour.
struct TierHour {
  double usage = 0;
  double limit = 0;          // of the owners; of tasks whose limit is known
  double limited_usage = 0;  // the usage of those
};
struct AnalysisHour {
  int64_t start_s = 0;
  PerResource<std::array<TierHour, kNumTraceTiers>> of;  // by Resource and tier
  uint32_t new_jobs = 0;  // whose first usage is in it; those of the first day are left out
};

struct TierSummary {
  uint64_t jobs = 0;
  double usage = 0, limit = 0, limited_usage = 0;  // means over the hours with usage
  // 1 - usage / limit, of the tasks whose limit is known; -1: of none.
  double slack() const { return limit > 0 ? 1 - limited_usage / limit : -1; }
};

struct TraceAnalysis {
  PriorityBands bands = PriorityBands::k2019;
  bool has_priorities = false;
  std::vector<AnalysisHour> hours;  // ascending, those with usage
  PerResource<std::array<TierSummary, kNumTraceTiers>> tiers;
  // By mode of vertical scaling, if the hooks know it of any job.
  bool has_modes = false;
  PerResource<std::array<TierSummary, brain::kScalingModes>> modes;
  // Usage integrals of the jobs: core-hours and GiB-hours.
  PerResource<SizeDistribution> sizes;
  PerResource<std::vector<TailPoint>> tails;
  double correlation = 0;  // of the two integrals over the jobs, Pearson
  Moments arrivals;        // new jobs an hour, from the second day on
  double median_arrivals = 0;
  uint64_t jobs = 0;  // with usage
};

struct AnalysisHooks {
  std::function<void(uint64_t day, uint64_t days)> on_progress;
  std::function<bool()> should_stop;
  // Of a job by its name; empty: of none.
  std::function<brain::ScalingMode(const std::string& job)> mode_of;
};
// O(task-windows). Cancelled if should_stop returned true; FailedPrecondition for a trace without usage.
absl::StatusOr<TraceAnalysis> AnalyseTrace(DaySource& source, const AnalysisHooks& hooks = {});

}  // namespace taut::tools
