#include "tools/sim/trace_analysis.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "brain/fleet/policies.h"
#include "common/base/byte_units.h"
#include "common/model/window_sums.h"
#include "tools/sim/analysis_sums.h"

namespace taut::tools {
namespace {

constexpr double kHoursOfWindow = static_cast<double>(kWindowSeconds) / 3600;

class Analyser {
 public:
  Analyser(const std::vector<JobInfo>& jobs, const AnalysisHooks& hooks) : has_usage_(jobs.size()) {
    for (const JobInfo& info : jobs) {
      AnalysedJob& job = jobs_.emplace_back();
      if (hooks.mode_of) job.mode = hooks.mode_of(info.name);
      job.key = brain::JobKey(info.name);
      for (const PriorityBands bands : {PriorityBands::k2019, PriorityBands::k2011})
        job.tiers[static_cast<size_t>(bands)] = TierOf(info.priority, bands);
      sums_.AddKnown(info.priority, job.mode);
    }
  }

  // Adds a day of a job, whose days ascend.
  void Add(const JobDay& day) {
    AnalysedJob& job = jobs_[day.job.value];
    std::optional<int64_t> hour;
    PerResource<TierHour> usage;
    for (const JobWindow& window : day.windows) {
      const int64_t at = FloorDiv(window.window.index, kWindowsPerHour);
      if (hour != at) {
        if (hour.has_value()) sums_.AddHour(job, *hour, std::exchange(usage, {}));
        hour = at;
      }
      AddWindow(day, window, job, usage);
    }
    if (!hour.has_value()) return;
    sums_.AddHour(job, *hour, usage);
    if (has_usage_[day.job.value]) return;
    has_usage_[day.job.value] = true;
    job.first_hour = FloorDiv(day.windows.front().window.index, kWindowsPerHour);
  }

  AnalysisSums Finish() {
    for (size_t j = 0; j < jobs_.size(); ++j) {
      if (has_usage_[j]) sums_.AddJob(jobs_[j]);
    }
    return std::move(sums_);
  }

 private:
  static void AddWindow(const JobDay& day, const JobWindow& window, AnalysedJob& job,
                        PerResource<TierHour>& usage) {
    for (const Resource r : kResources) {
      const UsageSums sums = SumUsage(day, window, r);
      const std::optional<double> limit = OwnerLimitSum(window, r, sums.tasks);
      TierHour& of = usage[IndexOf(r)];
      of.usage += sums.usage / kWindowsPerHour;
      of.limit += limit.value_or(0) / kWindowsPerHour;
      of.limited_usage += (limit.has_value() ? sums.usage : 0) / kWindowsPerHour;
      job.sizes[IndexOf(r)] += sums.usage / UnitOf(r).large * kHoursOfWindow;
    }
  }

  AnalysisSums sums_;
  std::vector<AnalysedJob> jobs_;  // by JobId
  std::vector<bool> has_usage_;    // by JobId
};

}  // namespace

absl::StatusOr<AnalysisSums> SumTrace(DaySource& source, const AnalysisHooks& hooks) {
  Analyser analyser(source.jobs(), hooks);
  uint64_t done = 0;
  for (const int32_t day : source.days()) {
    if (hooks.should_stop && hooks.should_stop())
      return absl::CancelledError("interrupted: there is no result");
    const absl::StatusOr<std::vector<JobDay>> jobs = source.LoadDay(day);
    if (!jobs.ok()) return jobs.status();
    for (const JobDay& job : *jobs) analyser.Add(job);
    if (hooks.on_progress) hooks.on_progress(++done, source.days().size());
  }
  return analyser.Finish();
}

std::optional<PeakSlack> PeakSlackOf(std::span<const AnalysisHour> hours, Resource r) {
  std::vector<TierHour> sums;
  for (const AnalysisHour& hour : hours) {
    TierHour sum;
    for (const TierHour& tier : hour.of[IndexOf(r)]) {
      sum.limit += tier.limit;
      sum.limited_usage += tier.limited_usage;
    }
    if (sum.limit > 0) sums.push_back(sum);
  }
  if (sums.empty()) return std::nullopt;
  std::ranges::sort(sums, {}, &TierHour::limited_usage);
  const size_t tenth = std::max<size_t>(1, sums.size() / 10);
  const auto slack = [](std::span<const TierHour> of) {
    double limit = 0, usage = 0;
    for (const TierHour& hour : of) {
      limit += hour.limit;
      usage += hour.limited_usage;
    }
    return 1 - usage / limit;
  };
  return PeakSlack{slack(std::span(sums).last(tenth)), slack(std::span(sums).first(tenth))};
}

absl::StatusOr<TraceAnalysis> AnalyseTrace(DaySource& source, const AnalysisHooks& hooks) {
  const absl::StatusOr<AnalysisSums> sums = SumTrace(source, hooks);
  if (!sums.ok()) return sums.status();
  return sums->Result();
}

}  // namespace taut::tools
