// Tests of jobs with their own target share and their own hour of decision, and of explanations of the final
// limit.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brain/recommend/analogs.h"
#include "brain/recommend/made_signal.h"
#include "brain/recommend/wrappers.h"
#include "common/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

struct OrderedJob {
  double base = 0, sigma = 0;
  AnalogJob job;
  std::unique_ptr<Recommender> recommender;
  int days = 0, over = 0;
};

// Daily peaks are base * lognormal(sigma), in the middle of the job's day; usage is low at other times.
class OrderedFleet {
 public:
  OrderedFleet(int jobs, const AnalogSettings& settings) : fleet_(Resource::kMemory, settings), rng_(7) {
    for (int j = 0; j < jobs; ++j) {
      OrderedJob& job = jobs_.emplace_back();
      job.base = std::exp(rng_.Uniform(18, 23));
      job.sigma = rng_.Uniform(0.02, 0.4);
      job.job.day_start = static_cast<int32_t>(rng_.Below(kWindowsPerDay));
      Make(job);
    }
  }
  void Make(OrderedJob& job) {
    job.recommender =
        WithBounds(std::make_unique<AnalogsRecommender>(fleet_, nullptr, OomSettings(), job.job),
                   {.lower = {}, .upper = {}, .granularity = kMiB});
  }
  void LiveDays(int32_t first, int32_t end) {
    for (int32_t day = first; day < end; ++day) LiveDay(day);
  }
  std::vector<OrderedJob>& jobs() { return jobs_; }
  AnalogFleet& fleet() { return fleet_; }
  const std::map<int32_t, int>& changes_at() const { return changes_at_; }  // changes by window of the day

 private:
  void LiveDay(int32_t day) {
    FleetRows rows;
    for (OrderedJob& j : jobs_) LiveJobDay(j, day, rows);
    fleet_.CloseDay(day, rows);
  }
  void LiveJobDay(OrderedJob& j, int32_t day, FleetRows& rows) {
    Recommender& r = *j.recommender;
    const int32_t midnight = day * kWindowsPerDay;
    r.StartDay(day);
    std::optional<double> limit = r.Recommend(WindowId{midnight});
    const double peak = j.base * std::exp(j.sigma * rng_.Normal());
    const int32_t peak_at = (j.job.day_start + kWindowsPerDay / 2) % kWindowsPerDay / 12 * 12;
    bool over = false;
    for (int32_t w = 0; w < kWindowsPerDay; w += 12) {
      const double usage = w == peak_at ? peak : 0.05 * j.base;
      over = over || (limit.has_value() && usage > *limit);
      r.Observe(MadeSignal(Resource::kMemory, midnight + w, usage));
      const std::optional<double> next = r.Recommend(WindowId{midnight + w + 1});
      if (limit.has_value() && next != limit) ++changes_at_[w];
      limit = next;
    }
    if (day >= 20) {
      ++j.days;
      j.over += over ? 1 : 0;
    }
    r.EndDay(day, rows);
  }

  AnalogFleet fleet_;
  Rng rng_;
  std::vector<OrderedJob> jobs_;
  std::map<int32_t, int> changes_at_;
};

AnalogSettings OrderOf(double share) {
  AnalogSettings s;
  s.memory_oom_days = share;
  s.max_rows = 3000;  // a small forest suffices
  s.retrain_days = 10;
  s.solver_jobs = 200;
  return s;
}

TEST(AnalogsOrder, NoJobCarriesMoreThanThreeTimesTheOrderUnlessItIsSet) {
  AnalogSettings s = OrderOf(0.05);
  EXPECT_DOUBLE_EQ(s.MostChance(Resource::kMemory), 0.15);
  s.memory_oom_days = 0.01;
  EXPECT_DOUBLE_EQ(s.MostChance(Resource::kMemory), 0.1) << "a tenth is always allowed";
  s.memory_oom_days = 0.3;
  EXPECT_DOUBLE_EQ(s.MostChance(Resource::kMemory), 0.5);
  EXPECT_DOUBLE_EQ(s.MostChance(Resource::kCpu), 0.1);
  s.max_overrun_chance = 0.2;
  EXPECT_DOUBLE_EQ(s.MostChance(Resource::kMemory), 0.2);
}

TEST(AnalogsOrder, AJobsOwnOrderIsKeptForThatJob) {
  OrderedFleet fleet(100, OrderOf(0.05));
  constexpr size_t kOwn = 30;
  for (size_t i = 0; i < kOwn; ++i) {
    fleet.jobs()[i].job.order = 0.2;
    fleet.Make(fleet.jobs()[i]);
  }
  fleet.LiveDays(0, 65);
  double own = 0;
  double rest = 0;
  for (size_t i = 0; i < fleet.jobs().size(); ++i) {
    const OrderedJob& j = fleet.jobs()[i];
    const double share = static_cast<double>(j.over) / j.days;
    (i < kOwn ? own : rest) += share / static_cast<double>(i < kOwn ? kOwn : fleet.jobs().size() - kOwn);
    if (i < kOwn) {
      EXPECT_NEAR(share, 0.2, 0.17) << i;
    }
  }
  EXPECT_NEAR(own, 0.2, 0.04);
  EXPECT_NEAR(rest, 0.05, 0.025);
}

TEST(AnalogsOrder, ChangesAreSpreadOverTheDay) {
  OrderedFleet fleet(100, OrderOf(0.05));
  fleet.LiveDays(0, 25);
  int all = 0;
  int most = 0;
  for (const auto& [window, changes] : fleet.changes_at()) {
    all += changes;
    most = std::max(most, changes);
  }
  ASSERT_GT(all, 50);
  EXPECT_LT(most, all / 5);
}

TEST(AnalogsOrder, TheChanceSaidBelongsToTheLimitShown) {
  OrderedFleet fleet(60, OrderOf(0.05));
  fleet.LiveDays(0, 15);
  const OrderedJob& job = fleet.jobs()[3];
  const WindowId now{15 * kWindowsPerDay};
  const double limit = *job.recommender->Recommend(now);
  Reason plain;
  job.recommender->Explain(plain);
  ASSERT_TRUE(plain.chance.has_value());
  EXPECT_THAT(plain.limit, ::testing::Optional(limit));
  EXPECT_FALSE(plain.why.empty());
  EXPECT_THAT(plain.sentence, ::testing::HasSubstr("5 % ordered over all jobs, at most 15 % for one"));
  EXPECT_EQ(std::count_if(plain.candidates.begin(), plain.candidates.end(),
                          [](const Candidate& c) { return c.chosen; }),
            1);
  // Every step begins where the previous step ended, and the last step ends at the limit.
  for (size_t i = 1; i < plain.steps.size(); ++i)
    EXPECT_EQ(plain.steps[i].before, plain.steps[i - 1].after) << i;
  EXPECT_EQ(plain.steps.back().after, limit);
  // After a kill far above the limit, the higher limit has a smaller chance by the same forecast.
  const auto floored = WithOomFloor(job.recommender->Clone(), OomSettings());
  floored->ObserveOom({now, 0, 20 * limit});
  const double higher = *floored->Recommend(now.next());
  EXPECT_GT(higher, 20 * limit);
  Reason after;
  floored->Explain(after);
  EXPECT_THAT(after.limit, ::testing::Optional(higher));
  ASSERT_TRUE(after.chance.has_value());
  EXPECT_LT(*after.chance, *plain.chance);
}

TEST(AnalogsOrder, WhatIsCalledTheLeastCostIsTheLeast) {
  OrderedFleet fleet(60, OrderOf(0.05));
  fleet.LiveDays(0, 15);
  int bounded = 0;
  for (OrderedJob& job : fleet.jobs()) {
    (void)job.recommender->Recommend(WindowId{15 * kWindowsPerDay});
    Reason reason;
    job.recommender->Explain(reason);
    for (const Candidate& c : reason.candidates) {
      if (c.name != "least cost") continue;
      for (const Candidate& other : reason.candidates) EXPECT_LE(c.cost, other.cost * 1.0001) << other.name;
    }
    for (const ReasonStep& s : reason.steps) bounded += s.kind == "most_chance" || s.kind == "median" ? 1 : 0;
  }
  EXPECT_GT(bounded, 0);
}

// Restoring a checkpoint at any hour of a job's day changes nothing.
TEST(AnalogsOrder, GoesOnFromACheckpointAtAnyHour) {
  OrderedFleet fleet(40, OrderOf(0.05));
  fleet.LiveDays(0, 12);
  const OrderedJob& job = fleet.jobs()[5];
  const auto make = [&] {
    return std::make_unique<AnalogsRecommender>(fleet.fleet(), nullptr, OomSettings(), job.job);
  };
  auto straight = make();
  auto broken = make();
  Rng rng(9);
  for (int32_t w = 12 * kWindowsPerDay; w < 16 * kWindowsPerDay; ++w) {
    const double usage = job.base * std::exp(0.3 * rng.Normal());
    FleetRows rows;
    for (AnalogsRecommender* r : {straight.get(), broken.get()}) {
      if (w % kWindowsPerDay == 0) r->StartDay(w / kWindowsPerDay);
      r->Observe(MadeSignal(Resource::kMemory, w, usage, 9e10));
    }
    ASSERT_EQ(straight->Recommend(WindowId{w + 1}), broken->Recommend(WindowId{w + 1})) << w;
    if ((w + 1) % kWindowsPerDay == 0) {
      for (AnalogsRecommender* r : {straight.get(), broken.get()}) r->EndDay(w / kWindowsPerDay, rows);
      ASSERT_EQ(rows.size() % 2, 0U);
      if (rows.size() == 2) {
        EXPECT_EQ(rows[0].tomorrow.kept_limit, rows[1].tomorrow.kept_limit);
      }
    }
    if (w % 53 != 0) continue;
    std::string bytes;
    ByteWriter out(&bytes);
    broken->Save(out);
    broken = make();
    ByteReader in(bytes);
    ASSERT_TRUE(broken->Load(in).ok());
    ASSERT_EQ(in.remaining(), 0U);
  }
}

// A constant usage close to its limit is no longer raised after some days of false warnings.
TEST(AnalogsOrder, AFlatJobStopsBeingRaised) {
  OrderedFleet fleet(80, OrderOf(0.03));
  fleet.LiveDays(0, 20);
  AnalogsRecommender flat(fleet.fleet(), nullptr, OomSettings(), AnalogJob{.day_start = 100, .order = {}});
  Rng rng(4);
  int late_changes = 0;
  std::optional<double> last;
  for (int32_t w = 20 * kWindowsPerDay; w < 48 * kWindowsPerDay; ++w) {
    FleetRows rows;
    if (w % kWindowsPerDay == 0) flat.StartDay(w / kWindowsPerDay);
    flat.Observe(MadeSignal(Resource::kMemory, w, 7 * 1024 * kMiB * rng.Uniform(0.98, 1)));
    const std::optional<double> limit = flat.Recommend(WindowId{w + 1});
    if (w >= 34 * kWindowsPerDay && limit != last) ++late_changes;
    last = limit;
    if ((w + 1) % kWindowsPerDay == 0) flat.EndDay(w / kWindowsPerDay, rows);
  }
  EXPECT_LE(late_changes, 4) << "in two weeks";
}

}  // namespace
}  // namespace taut::brain
