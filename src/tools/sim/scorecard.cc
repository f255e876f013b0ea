#include "tools/sim/scorecard.h"

#include <algorithm>
#include <cmath>

namespace taut::tools {
namespace {

// Returns at least 1, so that a share above 0 is kept.
uint64_t ToParts(double share) {
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(share * ScoresByJob::kPartsOfShare)));
}

}  // namespace

void SlackDistribution::Add(double slack) {
  const double position = (std::clamp(slack, -1.0, 1.0) + 1) * (kBins / 2.0);
  const int bin = std::min(static_cast<int>(position), kBins - 1);
  ++bins_[static_cast<size_t>(bin)];
  ++count_;
}

double SlackDistribution::Quantile(double p) const {
  if (count_ == 0) return 0;
  const double target = p * static_cast<double>(count_);
  uint64_t seen = 0;
  for (int i = 0; i < kBins; ++i) {
    seen += bins_[static_cast<size_t>(i)];
    if (static_cast<double>(seen) >= target && seen > 0) return (i + 0.5) / (kBins / 2.0) - 1;
  }
  return 1;
}

double SlackDistribution::ShareAtOrBelow(double slack) const {
  if (count_ == 0) return 0;
  const double position = (std::clamp(slack, -1.0, 1.0) + 1) * (kBins / 2.0);
  // A value on the edge of two bins counts in the lower bin. The 1e-6 compensates for rounding.
  const int last = std::min(static_cast<int>(position + 1e-6), kBins);
  uint64_t seen = 0;
  for (int i = 0; i < last; ++i) seen += bins_[static_cast<size_t>(i)];
  return static_cast<double>(seen) / static_cast<double>(count_);
}

void SlackDistribution::Merge(const SlackDistribution& other) {
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
  count_ += other.count_;
}

void SlackDistribution::Save(ByteWriter& out) const {
  for (const uint64_t bin : bins_) out.PutVarint(bin);
}

bool SlackDistribution::Load(ByteReader& in) {
  count_ = 0;
  for (uint64_t& bin : bins_) {
    bin = in.GetVarint();
    count_ += bin;
  }
  return !in.failed();
}

void ScoresByJob::Add(const Totals& job) {
  if (job.job_days == 0) return;
  ++jobs;
  if (job.limit_seconds > 0) used += ToParts(job.usage_seconds / job.limit_seconds);
  if (job.windows_over > 0) ++over[ToParts(job.windows_over_share())];
  if (job.oom_days > 0) ++with[job.oom_days];
  if (job.job_days >= kFewestDays) worst_share = std::max(worst_share, job.oom_day_share());
}

void ScoresByJob::Merge(const ScoresByJob& other) {
  jobs += other.jobs;
  used += other.used;
  for (const auto& [share, count] : other.over) over[share] += count;
  for (const auto& [oom_days, count] : other.with) with[oom_days] += count;
  worst_share = std::max(worst_share, other.worst_share);
}

double ScoresByJob::efficiency() const {
  return jobs > 0 ? static_cast<double>(used) / kPartsOfShare / static_cast<double>(jobs) : 0;
}

double ScoresByJob::reliability() const {
  double sum = 0;
  for (const auto& [share, count] : over) sum += static_cast<double>(share) * static_cast<double>(count);
  return jobs > 0 ? 1 - sum / kPartsOfShare / static_cast<double>(jobs) : 1;
}

double ScoresByJob::ReliabilityQuantile(double p) const {
  double rest = std::ceil(p * static_cast<double>(jobs));
  for (auto at = over.rbegin(); at != over.rend(); ++at) {
    rest -= static_cast<double>(at->second);
    if (rest <= 0) return 1 - static_cast<double>(at->first) / kPartsOfShare;
  }
  return 1;
}

void Totals::Add(const DayScore& day) {
  unlimited_windows += day.unlimited_windows;
  if (day.windows == 0) return;
  ++job_days;
  slack_sum += day.slack;
  if (day.slack < 0) ++negative_slack_days;
  limit_seconds += day.limit_seconds;
  owner_limit_seconds += day.owner_limit_seconds;
  limit_seconds_owned += day.limit_seconds_owned;
  usage_seconds += day.usage_seconds;
  usage_over_seconds += day.usage_over_seconds;
  windows += day.windows;
  windows_over += day.windows_over;
  task_windows += day.task_windows;
  ooms += day.ooms;
  if (day.ooms > 0) ++oom_days;
  if (day.ooms > std::max(4.0, day.mean_tasks / 5)) ++serious_oom_days;
  changes += day.changes;
  if (day.changes == 0) ++days_without_change;
  if (day.mean_tasks > 0) ooms_per_task_day_sum += day.ooms / day.mean_tasks;
}

void Totals::Save(ByteWriter& out) const {
  for (const auto sum : kSums) out.Put(this->*sum);
  for (const auto count : kCounts) out.PutVarint(this->*count);
}

void Totals::Load(ByteReader& in) {
  for (const auto sum : kSums) this->*sum = in.Get<double>();
  for (const auto count : kCounts) this->*count = in.GetVarint();
}

void LaneSummary::Add(const DayScore& day) {
  totals.Add(day);
  if (day.windows == 0) return;
  slack.Add(day.slack);
  if (day.changes >= changes_histogram.size()) changes_histogram.resize(day.changes + 1);
  ++changes_histogram[day.changes];
}

uint32_t LaneSummary::ChangesQuantile(double p) const {
  const double target = p * static_cast<double>(totals.job_days);
  uint64_t seen = 0;
  for (size_t i = 0; i < changes_histogram.size(); ++i) {
    seen += changes_histogram[i];
    if (static_cast<double>(seen) >= target) return static_cast<uint32_t>(i);
  }
  return 0;
}

}  // namespace taut::tools
