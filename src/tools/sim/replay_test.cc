// Tests of replays of traces that are small enough to compute by hand, or to recompute from usage and change
// events.
#include "tools/sim/replay.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "oneapi/tbb/global_control.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"
#include "tools/sim/made_days.h"
#include "tools/sim/replay_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ElementsAre;

// Two tasks run for ten windows with an owner's limit of 100 MiB. All expected values are computed by hand.
TEST(Replay, ScoresAJobDayByTheDefinitions) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 10; ++w) {
    const bool both = w == 5;
    const bool one = w == 3;
    days.SetOwner(job, w, kAbsent, 100 * kMiB);
    days.PutMemory(job, w, 0, (both ? 110 : 40) * kMiB, (both ? 150 : 60) * kMiB);
    days.PutMemory(job, w, 1, (both ? 110 : one ? 90 : 60) * kMiB, (both ? 150 : one ? 120 : 80) * kMiB);
  }
  const ReplayOutcome out = Lived(days, Options({brain::Policy::kStatic}));
  ASSERT_EQ(out.result.lanes.size(), 1U);
  const Totals& t = out.result.lanes[0].summary.totals;
  EXPECT_EQ(t.job_days, 1U);
  EXPECT_EQ(t.windows, 10U);
  EXPECT_EQ(t.task_windows, 20);
  EXPECT_EQ(t.ooms, 3U);
  EXPECT_EQ(t.windows_over, 2U);
  EXPECT_EQ(t.oom_days, 1U);
  EXPECT_EQ(t.serious_oom_days, 0U);
  EXPECT_EQ(t.changes, 0U);
  EXPECT_EQ(t.days_without_change, 1U);
  EXPECT_DOUBLE_EQ(t.ooms_per_task_day(), 3.0 / 2);
  EXPECT_DOUBLE_EQ(t.limit_seconds, 100 * kMiB * 2 * 10 * 300);
  EXPECT_DOUBLE_EQ(t.usage_seconds, (9 * 40 + 110 + 8 * 60 + 90 + 110) * kMiB * 300);
  EXPECT_DOUBLE_EQ(t.usage_over_seconds, 2 * 10 * kMiB * 300);
  EXPECT_DOUBLE_EQ(t.footprint_of_owner(), 1);
  // The nearest-rank p95 is the 19th of 20 means, 110.
  EXPECT_DOUBLE_EQ(t.mean_slack(), (100.0 - 110) / 100);
  EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 100}));
  EXPECT_EQ(out.result.job_windows, 10U);
  EXPECT_FALSE(out.result.partial);
}

// The tasks have limits of 100 and 40 MiB, so the baseline is 140 MiB and not twice the larger limit.
TEST(Replay, TheBaselineIsTheSumOfTheTasksOwnLimits) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 10; ++w) {
    days.SetOwner(job, w, kAbsent, 100 * kMiB);
    days.SetOwnerSum(job, w, 140 * kMiB);
    for (uint32_t task : {0U, 1U}) days.PutMemory(job, w, task, 50 * kMiB, 50 * kMiB);
  }
  ReplayOptions options = Options({brain::Policy::kStatic, brain::Policy::kPeak});
  options.settings.peak.min_history_s = 0;
  options.settings.peak.margin = 0;
  options.settings.bounds_by[kMemoryIndex].granularity = 0;
  const ReplayOutcome out = Lived(days, options);
  const Totals& owner = out.result.lanes[0].summary.totals;
  EXPECT_DOUBLE_EQ(owner.limit_seconds, 140 * kMiB * 10 * 300);
  EXPECT_DOUBLE_EQ(owner.owner_limit_seconds, 140 * kMiB * 10 * 300);
  EXPECT_DOUBLE_EQ(owner.mean_slack(), (70.0 - 50) / 70);
  const Totals& peak = out.result.lanes[1].summary.totals;
  EXPECT_DOUBLE_EQ(peak.owner_limit_seconds, 140 * kMiB * 10 * 300);
  // The owner's limits are in force in the first window.
  EXPECT_DOUBLE_EQ(peak.limit_seconds, (140 + 9 * 100) * kMiB * 300);

  // The baseline also excludes the limit of a killed task while the task is absent.
  options.feedback = Feedback::kOomRestart;
  const ReplayOutcome again = Lived(days, options);
  EXPECT_DOUBLE_EQ(again.result.lanes[0].summary.totals.owner_limit_seconds, 140 * kMiB * 10 * 300);
}

// One task runs at night, and four run by day. The mean limit of the day is the mean over task-windows.
TEST(Replay, TheMeanLimitIsWeightedByRunTime) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 2; ++w) {
    days.SetOwner(job, w, kAbsent, (w == 0 ? 100 : 200) * kMiB);
    for (uint32_t task = 0; task < (w == 0 ? 1U : 4U); ++task)
      days.PutMemory(job, w, task, 45 * kMiB, 45 * kMiB);
  }
  const ReplayOutcome out = Lived(days, Options({brain::Policy::kStatic}));
  EXPECT_DOUBLE_EQ(out.result.lanes[0].summary.totals.mean_slack(), (180.0 - 45) / 180);
}

TEST(Replay, CappedAtTheOwnersNoLimitIsAboveIt) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 10; ++w) {
    days.SetOwner(job, w, kAbsent, 100 * kMiB);
    days.PutMemory(job, w, 0, 90 * kMiB, (w < 5 ? 80 : 160) * kMiB);
  }
  for (const Feedback feedback : {Feedback::kNone, Feedback::kOomRestart}) {
    ReplayOptions options = Options({brain::Policy::kPeak});
    options.settings.peak.min_history_s = 0;
    options.feedback = feedback;
    EXPECT_FALSE(Lived(days, options).result.capped_at_owner);
    EXPECT_GT(std::get<2>(Plain(Lived(days, options).changes).back()), 100);
    options.cap_at_owner = true;
    const ReplayOutcome out = Lived(days, options);
    EXPECT_TRUE(out.result.capped_at_owner);
    for (const auto& [at, from, limit] : Plain(out.changes)) EXPECT_LE(limit, 100) << from;
    EXPECT_GT(out.result.lanes[0].summary.totals.ooms, 0U);
  }
}

TEST(Replay, WithoutALimitAJobIsUnlimited) {
  MadeDays days;
  const JobId job = days.AddJob(Named("a"));
  for (int32_t w = 0; w < 6; ++w) {
    days.PutMemory(job, w, 0, 50 * kMiB, 50 * kMiB);
    if (w >= 4) days.SetOwner(job, w, kAbsent, (w == 4 ? 100 : 200) * kMiB);
  }
  const int32_t tomorrow = kWindowsPerDay;
  days.PutMemory(job, tomorrow, 0, 50 * kMiB, 50 * kMiB);
  const ReplayOutcome out = Lived(days, Options({brain::Policy::kStatic}));
  const Totals& t = out.result.lanes[0].summary.totals;
  EXPECT_EQ(t.unlimited_windows, 5U);
  EXPECT_EQ(t.windows, 2U);
  EXPECT_EQ(t.job_days, 1U) << "the second day had no limit at all";
  EXPECT_DOUBLE_EQ(t.mean_slack(), (150.0 - 50) / 150);
  EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, -1}, ChangeTuple{0, 4, 100},
                                              ChangeTuple{0, 5, 200}, ChangeTuple{0, tomorrow, -1}));
  EXPECT_EQ(t.changes, 2U);
}

TEST(Replay, WarmUpEndsWithAWholeDay) {
  for (const auto& [first_window, warmup_s, scored_from] : {std::tuple{0, 7 * kDaySeconds, 7},
                                                            {1, 7 * kDaySeconds, 8},
                                                            {100, int64_t{0}, 0},
                                                            {0, int64_t{300}, 1}}) {
    MadeDays days;
    const JobId job = days.AddJob(Named("a"));
    for (int32_t w = first_window; w < 10 * kWindowsPerDay; w += 3) {
      days.SetOwner(job, w, kAbsent, 100 * kMiB);
      days.PutMemory(job, w, 0, 50 * kMiB, 50 * kMiB);
    }
    ReplayOptions o = Options({brain::Policy::kStatic});
    o.warmup_s = warmup_s;
    const ReplayOutcome out = Lived(days, o);
    EXPECT_EQ(out.result.first_scored_day, scored_from);
    EXPECT_EQ(out.result.lanes[0].summary.totals.job_days, static_cast<uint64_t>(10 - scored_from));
    EXPECT_EQ(out.result.lanes[0].fleet.size(), 10U) << "the picture over time has the warm-up too";
  }
}

// Adds a cell of a few jobs with gaps and several tasks. Some jobs have no owner's limit.
void FillCell(MadeDays& days, int jobs, int num_days, uint64_t seed, int32_t differs_from = INT32_MAX) {
  for (int j = 0; j < jobs; ++j) {
    Rng rng = Rng(seed).Fork(static_cast<uint64_t>(j));
    const JobId id = days.AddJob(Named("job" + std::to_string(j), j % 5 == 0 ? "program" : ""));
    const double level = std::exp(rng.Uniform(3, 7));
    const int first = j % 3 == 0 ? static_cast<int>(rng.Below(static_cast<uint64_t>(num_days))) : 0;
    const auto tasks = static_cast<uint32_t>(1 + rng.Below(4));
    for (int32_t w = first * kWindowsPerDay; w < num_days * kWindowsPerDay;
         w += 1 + static_cast<int32_t>(rng.Below(24))) {
      // From `differs_from` on, change the usage without drawing other random numbers.
      const double twist = w >= differs_from ? 2.5 : 1;
      if (j % 4 != 1) days.SetOwner(id, w, 3, 4 * level * kMiB);
      for (uint32_t t = 0; t < tasks; ++t) {
        const double v = level * std::exp(0.4 * rng.Normal()) * twist;
        days.Put(id, w,
                 {t, static_cast<float>(v / 300), static_cast<float>(v / 200), static_cast<float>(v * kMiB),
                  static_cast<float>(1.2 * v * kMiB)});
      }
    }
  }
}

ReplayOptions AllPolicies() {
  std::vector<brain::PolicyPair> all;
  for (const brain::PolicyInfo& p : brain::Policies()) all.emplace_back(p.policy);
  all.emplace_back(brain::Policy::kMovingWindow, brain::Policy::kAnalogs);
  ReplayOptions o = Options(all, {Resource::kCpu, Resource::kMemory});
  o.settings.analogs.min_rows = 20;
  o.settings.analogs.min_days = 3;
  return o;
}

using Key = std::tuple<brain::PolicyPair, Resource, uint32_t>;

// The limits in force, recomputed from change events.
class Ledger {
 public:
  explicit Ledger(const std::vector<LimitChange>& changes) {
    for (const LimitChange& c : changes)
      by_lane_[{c.policy, c.resource, c.job.value}][c.from.index] = c.limit;
  }
  // Limits by the first window in which each limit is in force.
  using Limits = std::map<int32_t, std::optional<double>>;
  const Limits& Of(const Key& lane) const { return by_lane_.at(lane); }

 private:
  std::map<Key, Limits> by_lane_;
};

DayScore ScoreByHand(const JobDay& day, const LaneResult& lane, const Ledger& ledger) {
  DayScore s;
  std::vector<float> means;
  const bool cpu = lane.resource == Resource::kCpu;
  const Ledger::Limits& limits = ledger.Of({lane.policy, lane.resource, day.job.value});
  for (const JobWindow& w : day.windows) {
    const std::optional<double> limit = std::prev(limits.upper_bound(w.window.index))->second;
    const float owner = cpu ? w.cpu_limit_cores : w.memory_limit_bytes;
    bool over = false;
    for (uint32_t i = 0; i < w.num_tasks; ++i) {
      const TaskWindow& t = day.tasks[w.first_task + i];
      const double mean = cpu ? t.cpu_mean_cores : t.memory_mean_bytes;
      const double held = cpu ? t.cpu_mean_cores : t.memory_peak_bytes;
      means.push_back(static_cast<float>(mean));
      if (!limit.has_value()) continue;
      s.task_windows += 1;
      s.limit_seconds += *limit * 300;
      s.usage_seconds += mean * 300;
      s.usage_over_seconds += std::max(0.0, mean - *limit) * 300;
      if (owner >= 0) s.owner_limit_seconds += double{owner} * 300;
      if (held > *limit) {
        ++s.ooms;
        over = true;
      }
    }
    s.windows += limit.has_value() ? 1 : 0;
    s.mean_limit += limit.value_or(0);
    s.windows_over += over ? 1 : 0;
  }
  if (s.windows == 0) return s;
  std::sort(means.begin(), means.end());
  s.mean_limit /= s.windows;
  s.mean_tasks = s.task_windows / s.windows;
  const double p95 =
      means[static_cast<size_t>(std::ceil(0.95 * static_cast<double>(means.size()) - 1e-9)) - 1];
  s.slack = (s.mean_limit - p95) / s.mean_limit;
  return s;
}

bool Near(double a, double b) { return std::abs(a - b) <= 1e-9 * (std::abs(a) + std::abs(b)); }

// Scores that are recomputed from usage and change events equal the replay's scores.
RC_GTEST_PROP(Replay, TheChangeEventsTellTheWholeTable, ()) {
  MadeDays days;
  FillCell(days, 8, 7, *rc::gen::arbitrary<uint64_t>());
  const ReplayOutcome out = Lived(days, AllPolicies());
  const Ledger ledger(out.changes);
  for (const LaneResult& lane : out.result.lanes) {
    Totals totals;
    for (int32_t day : days.days()) {
      const absl::StatusOr<std::vector<JobDay>> jobs = days.LoadDay(day);
      for (const JobDay& j : *jobs) totals.Add(ScoreByHand(j, lane, ledger));
    }
    const Totals& t = lane.summary.totals;
    RC_ASSERT(t.job_days == totals.job_days);
    RC_ASSERT(t.windows == totals.windows);
    RC_ASSERT(t.ooms == totals.ooms);
    RC_ASSERT(t.oom_days == totals.oom_days);
    RC_ASSERT(t.serious_oom_days == totals.serious_oom_days);
    RC_ASSERT(t.windows_over == totals.windows_over);
    RC_ASSERT(Near(t.slack_sum, totals.slack_sum));
    RC_ASSERT(Near(t.limit_seconds, totals.limit_seconds));
    RC_ASSERT(Near(t.owner_limit_seconds, totals.owner_limit_seconds));
    RC_ASSERT(Near(t.usage_seconds, totals.usage_seconds));
    RC_ASSERT(Near(t.usage_over_seconds, totals.usage_over_seconds));
    RC_ASSERT(Near(t.ooms_per_task_day_sum, totals.ooms_per_task_day_sum));
    uint64_t changes = 0;
    std::map<uint32_t, int> seen;
    for (const LimitChange& c : out.changes) {
      if (c.policy == lane.policy && c.resource == lane.resource && seen[c.job.value]++ > 0) ++changes;
    }
    RC_ASSERT(lane.summary.totals.job_days == 0 ||
              changes >= t.changes);  // t.changes excludes days without a limit
    uint64_t fleet_changes = 0;
    for (const FleetDay& d : lane.fleet) fleet_changes += d.changes;
    RC_ASSERT(fleet_changes == changes);
  }
}

// The limit in force in a window depends only on usage of earlier windows.
RC_GTEST_PROP(Replay, ChangingTheFutureNeverChangesPastLimits, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const int32_t from = *rc::gen::inRange(1, 6 * kWindowsPerDay);
  ReplayOptions options = AllPolicies();
  options.feedback = *rc::gen::element(Feedback::kNone, Feedback::kOomRestart);
  MadeDays one, other;
  FillCell(one, 6, 6, seed);
  FillCell(other, 6, 6, seed, from);
  using Event = std::tuple<int32_t, uint32_t, brain::PolicyPair, Resource, std::optional<double>>;
  const auto past = [&](const ReplayOutcome& out) {
    std::vector<Event> events;
    for (const LimitChange& c : out.changes) {
      if (c.from.index <= from) events.emplace_back(c.from.index, c.job.value, c.policy, c.resource, c.limit);
    }
    return events;
  };
  const std::vector<Event> mine = past(Lived(one, options));
  RC_ASSERT(mine == past(Lived(other, options)));
}

template <typename T>
void Append(std::string& out, const T& v) {
  static_assert(std::is_trivially_copyable_v<T>);
  char raw[sizeof(T)];
  std::memcpy(raw, &v, sizeof(T));
  out.append(raw, sizeof(T));
}

void AppendTotals(std::string& out, const Totals& t) {
  for (double v : {t.slack_sum, t.limit_seconds, t.owner_limit_seconds, t.limit_seconds_owned,
                   t.usage_seconds, t.usage_over_seconds, t.task_windows, t.ooms_per_task_day_sum}) {
    Append(out, v);
  }
  for (uint64_t v : {t.job_days, t.windows, t.windows_over, t.unlimited_windows, t.ooms, t.oom_days,
                     t.serious_oom_days, t.changes, t.days_without_change}) {
    Append(out, v);
  }
}

std::string BytesOf(const ReplayOutcome& o) {
  std::string out;
  for (const LaneResult& lane : o.result.lanes) {
    AppendTotals(out, lane.summary.totals);
    for (const Totals& t : lane.per_job) AppendTotals(out, t);
    for (const FleetDay& d : lane.fleet) {
      Append(out, d.limit_seconds);
      Append(out, d.usage_seconds);
      Append(out, d.oom_days);
      Append(out, d.changes);
    }
    for (uint64_t n : lane.summary.changes_histogram) Append(out, n);
    for (int p = 0; p <= 100; ++p) Append(out, lane.summary.slack.Quantile(p / 100.0));
  }
  for (const LimitChange& c : o.changes) {
    Append(out, c.job.value);
    Append(out, c.policy);
    Append(out, c.resource);
    Append(out, c.from.index);
    Append(out, c.limit.value_or(-1));
  }
  Append(out, o.result.job_windows);
  Append(out, o.result.state_bytes_per_job);
  return out;
}

TEST(Replay, IsTheSameToTheBitOnAnyNumberOfThreads) {
  // By default, TBB starts at most as many threads as there are cores.
  const tbb::global_control five(tbb::global_control::max_allowed_parallelism, 5);
  for (Feedback feedback : {Feedback::kNone, Feedback::kOomRestart}) {
    std::string expected;
    for (int threads : {1, 2, 5}) {
      MadeDays days;
      FillCell(days, 40, 9, 11);
      ReplayOptions options = AllPolicies();
      options.feedback = feedback;
      options.threads = threads;
      const ReplayOutcome out = Lived(days, options);
      if (threads == 1) {
        expected = BytesOf(out);
        // The test is meaningful only if analogs decided some limits.
        const auto analogs = std::find_if(out.changes.begin(), out.changes.end(), [](const LimitChange& c) {
          return c.policy == brain::Policy::kAnalogs && c.limit.has_value() && c.from.day() > 4;
        });
        EXPECT_NE(analogs, out.changes.end());
      }
      EXPECT_EQ(BytesOf(out), expected) << threads << " threads";
    }
  }
}

TEST(Replay, StoppedBetweenDaysItTellsOfTheDaysLived) {
  MadeDays whole, part;
  FillCell(whole, 10, 6, 5);
  FillCell(part, 10, 6, 5);
  uint64_t done = 0;
  std::map<uint32_t, int> ended;
  ReplayHooks hooks;
  hooks.should_stop = [&] { return done >= 3; };
  hooks.on_progress = [&](uint64_t days_done, uint64_t, uint64_t) { done = days_done; };
  hooks.on_job_end = [&](JobId job, brain::PolicyPair, Resource, const brain::Lane&) { ++ended[job.value]; };
  const ReplayOptions options = AllPolicies();
  const ReplayOutcome cut = Lived(whole, options, hooks);
  EXPECT_TRUE(cut.result.partial);
  EXPECT_EQ(cut.result.days_done, 3U);
  EXPECT_EQ(cut.result.days_total, 6U);
  EXPECT_EQ(cut.result.last_day, 2);
  const ReplayOutcome all = Lived(part, options);
  std::vector<ChangeTuple> expected;
  for (const ChangeTuple& c : Plain(all.changes)) {
    if (std::get<1>(c) < 3 * kWindowsPerDay) expected.push_back(c);
  }
  EXPECT_EQ(Plain(cut.changes), expected);
  ASSERT_FALSE(ended.empty());
  for (const auto& [job, lanes] : ended)
    EXPECT_EQ(lanes, 2 * static_cast<int>(options.policies.size())) << job;
}

TEST(Replay, RefusesNothingToDo) {
  MadeDays none;
  none.Finish();
  EXPECT_FALSE(Replay(none, Options({brain::Policy::kStatic}), {}).ok());
  MadeDays days;
  FillCell(days, 1, 1, 1);
  days.Finish();
  EXPECT_FALSE(Replay(days, Options({}), {}).ok());
  EXPECT_FALSE(Replay(days, Options({brain::Policy::kStatic}, {}), {}).ok());
}

TEST(Replay, ARefusedChangeEndsIt) {
  MadeDays days;
  FillCell(days, 3, 2, 1);
  days.Finish();
  ReplayHooks hooks;
  hooks.on_change = [](const LimitChange&) { return absl::ResourceExhaustedError("disk full"); };
  EXPECT_EQ(Replay(days, Options({brain::Policy::kStatic}), hooks).status().code(),
            absl::StatusCode::kResourceExhausted);
}

// The second run of a program starts with the last limits of the first run. A run of another program starts with
// its owner's limit.
TEST(Replay, ANewRunOfAProgramInheritsItsLimits) {
  MadeDays days;
  const JobId first = days.AddJob(Named("run1", "program"));
  const JobId second = days.AddJob(Named("run2", "program"));
  const JobId stranger = days.AddJob(Named("other"));
  const auto fill = [&](JobId job, int32_t from_day, int32_t to_day) {
    for (int32_t w = from_day * kWindowsPerDay; w < to_day * kWindowsPerDay; w += 4) {
      days.SetOwner(job, w, kAbsent, 9000 * kMiB);
      days.PutMemory(job, w, 0, 1000 * kMiB, 1000 * kMiB);
    }
  };
  fill(first, 0, 3);
  fill(second, 5, 7);
  fill(stranger, 5, 7);
  std::vector<std::pair<uint32_t, uint64_t>> ends;  // job, and the number of finished days at its end
  uint64_t done = 0;
  ReplayHooks hooks;
  hooks.on_progress = [&](uint64_t days_done, uint64_t, uint64_t) { done = days_done; };
  hooks.on_job_end = [&](JobId job, brain::PolicyPair, Resource, const brain::Lane&) {
    ends.emplace_back(job.value, done);
  };
  const ReplayOutcome out = Lived(days, Options({brain::Policy::kPeak}), hooks);
  const int32_t later = 5 * kWindowsPerDay;
  EXPECT_THAT(Plain(out.changes), ElementsAre(ChangeTuple{0, 0, 9000}, ChangeTuple{0, kWindowsPerDay, 1150},
                                              ChangeTuple{1, later, 1150}, ChangeTuple{2, later, 9000},
                                              ChangeTuple{2, later + kWindowsPerDay, 1150}));
  // The first run ends after its third day, and the other runs end with the replay.
  EXPECT_THAT(
      ends, ElementsAre(std::pair{0U, uint64_t{2}}, std::pair{1U, uint64_t{4}}, std::pair{2U, uint64_t{4}}));
}

}  // namespace
}  // namespace taut::tools
