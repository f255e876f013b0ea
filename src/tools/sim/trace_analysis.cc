#include "tools/sim/trace_analysis.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/byte_units.h"
#include "common/model/window_sums.h"

namespace taut::tools {
namespace {

constexpr double kHoursOfWindow = static_cast<double>(kWindowSeconds) / 3600;
constexpr uint64_t kTailPoints = 200;

double Correlation(const PerResource<std::vector<double>>& integrals) {
  Moments x, y;
  for (const double v : integrals[0]) x.Add(v);
  for (const double v : integrals[1]) y.Add(v);
  double products = 0;
  for (size_t i = 0; i < integrals[0].size(); ++i)
    products += (integrals[0][i] - x.mean()) * (integrals[1][i] - y.mean());
  const double spread = std::sqrt(x.variance() * y.variance());
  return spread > 0 ? products / static_cast<double>(integrals[0].size()) / spread : 0;
}

class Analyser {
 public:
  Analyser(const std::vector<JobInfo>& jobs, const AnalysisHooks& hooks)
      : modes_(jobs.size(), brain::ScalingMode::kUnknown), first_hour_(jobs.size(), kNever) {
    for (size_t j = 0; j < jobs.size() && hooks.mode_of; ++j) {
      modes_[j] = hooks.mode_of(jobs[j].name);
      out_.has_modes |= modes_[j] != brain::ScalingMode::kUnknown;
    }
    std::vector<std::optional<int>> priorities;
    for (const JobInfo& job : jobs) {
      priorities.push_back(job.priority);
      out_.has_priorities |= job.priority.has_value();
    }
    out_.bands = BandsOf(priorities);
    for (const JobInfo& job : jobs) tiers_.push_back(TierOf(job.priority, out_.bands));
    for (auto& of : integrals_) of.resize(jobs.size());
  }

  void Add(const JobDay& day) {
    const auto job = day.job.value;
    for (const JobWindow& window : day.windows) {
      const int64_t hour = FloorDiv(window.window.index, kWindowsPerHour);
      AnalysisHour& at = hours_[hour];
      first_hour_[job] = std::min(first_hour_[job], hour);
      for (const Resource r : kResources) {
        const UsageSums sums = SumUsage(day, window, r);
        const std::optional<double> limit = OwnerLimitSum(window, r, sums.tasks);
        TierHour& tier = at.of[static_cast<size_t>(r)][static_cast<size_t>(tiers_[job])];
        tier.usage += sums.usage / kWindowsPerHour;
        tier.limit += limit.value_or(0) / kWindowsPerHour;
        tier.limited_usage += (limit.has_value() ? sums.usage : 0) / kWindowsPerHour;
        TierSummary& mode = out_.modes[static_cast<size_t>(r)][static_cast<size_t>(modes_[job])];
        mode.usage += sums.usage / kWindowsPerHour;
        mode.limit += limit.value_or(0) / kWindowsPerHour;
        mode.limited_usage += (limit.has_value() ? sums.usage : 0) / kWindowsPerHour;
        const double unit = UnitOf(r).large;
        integrals_[static_cast<size_t>(r)][job] += sums.usage / unit * kHoursOfWindow;
      }
    }
  }

  TraceAnalysis Finish() {
    CountArrivals();
    SumUpTiers();
    SumUpSizes();
    for (auto& [hour, at] : hours_) {
      at.start_s = hour * 3600;
      out_.hours.push_back(at);
    }
    return std::move(out_);
  }

 private:
  static constexpr int64_t kNever = INT64_MAX;

  // Counts jobs by the hour of their first usage. Excludes jobs of the first day, which may have started before
  // the trace.
  void CountArrivals() {
    const int64_t from = hours_.begin()->first + 24, to = hours_.rbegin()->first;
    std::map<int64_t, uint32_t> arrivals;
    for (const int64_t hour : first_hour_) {
      if (hour != kNever && hour >= from) ++arrivals[hour];
    }
    std::vector<uint32_t> counts;
    for (int64_t hour = from; hour <= to; ++hour) {
      const auto at = arrivals.find(hour);
      counts.push_back(at != arrivals.end() ? at->second : 0);
      out_.arrivals.Add(counts.back());
      if (counts.back() > 0) hours_[hour].new_jobs = counts.back();
    }
    if (counts.empty()) return;
    std::ranges::nth_element(counts, counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2));
    out_.median_arrivals = counts[counts.size() / 2];
  }

  void SumUpTiers() {
    const auto hours = static_cast<double>(hours_.size());
    for (const auto& [hour, at] : hours_) {
      for (size_t r = 0; r < at.of.size(); ++r) {
        for (size_t t = 0; t < kNumTraceTiers; ++t) {
          TierSummary& sum = out_.tiers[r][t];
          sum.usage += at.of[r][t].usage / hours;
          sum.limit += at.of[r][t].limit / hours;
          sum.limited_usage += at.of[r][t].limited_usage / hours;
        }
      }
    }
    for (auto& of : out_.modes) {
      for (TierSummary& mode : of) {
        for (double* const sum : {&mode.usage, &mode.limit, &mode.limited_usage}) *sum /= hours;
      }
    }
    for (size_t job = 0; job < first_hour_.size(); ++job) {
      if (first_hour_[job] == kNever) continue;
      ++out_.jobs;
      for (auto& of : out_.modes) ++of[static_cast<size_t>(modes_[job])].jobs;
      for (auto& of : out_.tiers) ++of[static_cast<size_t>(tiers_[job])].jobs;
    }
  }

  void SumUpSizes() {
    for (auto& of : integrals_) {
      size_t kept = 0;
      for (size_t job = 0; job < of.size(); ++job) {
        if (first_hour_[job] != kNever) of[kept++] = of[job];
      }
      of.resize(kept);
    }
    out_.correlation = Correlation(integrals_);
    for (size_t r = 0; r < integrals_.size(); ++r) {
      std::ranges::sort(integrals_[r]);
      out_.tails[r] = TailOf(integrals_[r], kTailPoints);
      out_.sizes[r] = DistributionOf(std::move(integrals_[r]));
    }
  }

  TraceAnalysis out_;
  std::vector<TraceTier> tiers_;           // tier by job
  std::vector<brain::ScalingMode> modes_;  // mode by job
  std::vector<int64_t> first_hour_;        // hour of the first usage, by job
  std::map<int64_t, AnalysisHour> hours_;
  PerResource<std::vector<double>> integrals_;  // usage integrals by resource and job
};

}  // namespace

absl::StatusOr<TraceAnalysis> AnalyseTrace(DaySource& source, const AnalysisHooks& hooks) {
  if (source.days().empty()) return absl::FailedPreconditionError("the trace has no usage to analyse");
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

}  // namespace taut::tools
