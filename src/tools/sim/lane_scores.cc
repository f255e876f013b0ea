#include "tools/sim/lane_scores.h"

#include <algorithm>

namespace taut::tools {
namespace {

// Returns the number of scored seconds, over which footprints are averaged.
double ScoredSeconds(const LaneResult& lane, int32_t first_scored_day) {
  int64_t days = 0;
  for (const FleetDay& d : lane.fleet) days += d.day >= first_scored_day ? 1 : 0;
  return static_cast<double>(days) * kDaySeconds;
}

}  // namespace

double MeanFootprint(const LaneResult& lane, int32_t first_scored_day) {
  const double seconds = ScoredSeconds(lane, first_scored_day);
  return seconds > 0 ? lane.summary.totals.limit_seconds / seconds : 0;
}

double AbsoluteSlack(const LaneResult& lane, int32_t first_scored_day) {
  const double seconds = ScoredSeconds(lane, first_scored_day);
  const Totals& t = lane.summary.totals;
  return seconds > 0 ? (t.limit_seconds - t.usage_seconds) / seconds : 0;
}

ScoresByJob ByJob(const LaneResult& lane) {
  ScoresByJob of = lane.scores_by_job;
  for (const Totals& job : lane.per_job) of.Add(job);
  return of;
}

Concentration ConcentrationOf(const LaneResult& lane, const ScoresByJob& of) {
  Concentration c;
  c.jobs = of.jobs;
  c.worst_share = of.worst_share;
  for (const auto& [oom_days, jobs] : of.with) c.with += jobs;
  if (c.with == 0) return c;
  c.worst_days = of.with.rbegin()->first;
  if (const auto once = of.with.find(1); once != of.with.end()) c.once = once->second;
  const uint64_t tenth = std::min(c.with, (c.jobs + 9) / 10);
  uint64_t seen = 0, of_tenth = 0;
  // Visit the jobs with the most OOM-days first.
  for (auto at = of.with.rbegin(); at != of.with.rend(); ++at) {
    const auto& [oom_days, jobs] = *at;
    if (seen <= c.with / 5 && c.with / 5 < seen + jobs) c.most_have = oom_days;
    if (seen < tenth) of_tenth += oom_days * std::min(jobs, tenth - seen);
    seen += jobs;
  }
  c.of_worst_tenth = static_cast<double>(of_tenth) / static_cast<double>(lane.summary.totals.oom_days);
  return c;
}

std::vector<LaneScore> LaneScores(const LaneResult& lane, int32_t first_scored_day) {
  const Totals& t = lane.summary.totals;
  const ScoresByJob jobs = ByJob(lane);
  const Concentration c = ConcentrationOf(lane, jobs);
  const auto of_owner = [&]() -> decltype(LaneScore::value) {
    if (t.owner_limit_seconds > 0) return t.footprint_of_owner();
    return std::monostate();
  };
  return {{"job_days", t.job_days},
          {"slack_mean", t.mean_slack()},
          {"slack_median", lane.summary.slack.Quantile(0.5)},
          {"footprint_mean", MeanFootprint(lane, first_scored_day), true},
          {"footprint_of_owner", of_owner()},
          {"footprint_of_usage", t.footprint_of_usage()},
          {"slack_absolute", AbsoluteSlack(lane, first_scored_day), true},
          {"resource_efficiency", jobs.efficiency()},
          {"reliability", jobs.reliability()},
          {"reliability_p05", jobs.ReliabilityQuantile(0.05)},
          {"negative_slack_days", t.negative_slack_days},
          {"limit_seconds", t.limit_seconds, true},
          {"owner_limit_seconds", t.owner_limit_seconds, true},
          {"usage_seconds", t.usage_seconds, true},
          {"oom_days", t.oom_days},
          {"oom_day_share", t.oom_day_share()},
          {"ooms", t.ooms},
          {"ooms_per_task_day", t.ooms_per_task_day()},
          {"serious_oom_days", t.serious_oom_days},
          {"jobs_with_oom_days", c.with},
          {"jobs_with_one_oom_day", c.once},
          {"oom_days_of_four_fifths", c.most_have},
          {"worst_job_oom_days", c.worst_days},
          {"worst_job_oom_day_share", c.worst_share},
          {"oom_days_share_of_worst_tenth", c.of_worst_tenth},
          {"changes_per_job_day", t.changes_per_job_day()},
          {"changes_p99", uint64_t{lane.summary.ChangesQuantile(0.99)}},
          {"share_of_days_without_change", t.share_without_change()},
          {"windows", t.windows},
          {"windows_over_share", t.windows_over_share()},
          {"usage_over_share", t.usage_over_share()},
          {"unlimited_windows", t.unlimited_windows}};
}

}  // namespace taut::tools
