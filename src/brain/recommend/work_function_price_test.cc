// Tests of the work function's prices and sums, with exact figures.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "brain/recommend/work_function.h"
#include "common/model/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

WorkFunctionSettings Ordered(double share) {
  WorkFunctionSettings s;
  s.cpu_throttled = share;
  return s;
}

TEST(WorkFunctionPrice, StartsFromTheOrder) {
  const auto price = [](double share) { return WorkFunctionFleet(Resource::kCpu, Ordered(share)).price(); };
  EXPECT_DOUBLE_EQ(price(0.001), 1430);
  EXPECT_NEAR(price(0.002), 1430 * std::pow(2, -1.77), 1e-6);
  EXPECT_EQ(price(0.5), 10);
  EXPECT_EQ(price(0.00001), 20'000);
  const WorkFunctionFleet fleet(Resource::kCpu, Ordered(0.001));
  EXPECT_NEAR(fleet.PriceFor(0.004), 1430 * std::pow(4, -1.77), 1e-6);
  EXPECT_NEAR(fleet.PriceFor(0.0005), 1430 * std::pow(0.5, -1.77), 1e-6);
  WorkFunctionSettings memory;
  memory.memory_above = 0.002;
  EXPECT_NEAR(WorkFunctionFleet(Resource::kMemory, memory).price(), 1430 * std::pow(2, -1.77), 1e-6);
}

TEST(WorkFunctionPrice, TheChargeAndTheLookAheadFollowIt) {
  const auto at = [](double price, double scale = 1) {
    WorkFunctionSettings s;
    s.price = price;
    s.change_scale = scale;
    return WorkFunctionFleet(Resource::kCpu, s);
  };
  EXPECT_EQ(at(100).change_windows(), 45);
  EXPECT_EQ(at(400).change_windows(), 50);
  EXPECT_EQ(at(1600).change_windows(), 100);
  EXPECT_EQ(at(1600, 0.5).change_windows(), 50);
  EXPECT_EQ(at(299).look_ahead_hours(), 0);
  EXPECT_EQ(at(300).look_ahead_hours(), 1);
  EXPECT_EQ(at(1430).look_ahead_hours(), 4);
  EXPECT_EQ(at(2400).look_ahead_hours(), 8);
  EXPECT_EQ(at(9000).look_ahead_hours(), 8);
  EXPECT_EQ(at(1600).change_charge(3), 300) << "its own size, while no job's is known";
}

FleetRow WorkOf(double over, double used, double size, bool seasoned = true) {
  FleetRow row;
  row.work = FleetWork{.over = over, .used = used, .size = size, .seasoned = seasoned};
  return row;
}

TEST(WorkFunctionPrice, MovesByTheFormula) {
  WorkFunctionFleet fleet(Resource::kCpu, Ordered(0.001));
  double price = 1430;
  double over = 0;
  double used = 0;
  double work_days = 0, squares = 0, days = 0, owed = 0;
  const double decay = std::exp2(-1.0 / 7);
  const double forget = std::exp2(-1.0 / 60);
  for (int day = 0; day < 40; ++day) {
    // The share is far too high, then 0, then slightly too high.
    const double share = day < 10 ? 0.05 : day < 25 ? 0 : 0.0012;
    const double work = 1000 + 100 * (day % 3);
    fleet.CloseDay({WorkOf(share * work, work, 4), WorkOf(7, 500, 1, false), FleetRow()});
    over = decay * over + share * work;
    used = decay * used + work;
    work_days = decay * work_days + 1;
    const double miss = (share - 0.001) * work / (0.001 * used / work_days);
    const double gain = 2.0 / 32 * std::max(0.03, 1 / std::pow(1 + (12 + squares) / (3 + days), 2));
    const double step = std::clamp(gain * (owed + miss), -1.0, 1.0);
    owed = price * std::exp(step) > 20'000 || price * std::exp(step) < 10 ? 0 : owed + miss - step / gain;
    price = std::clamp(price * std::exp(step), 10.0, 20'000.0);
    squares = forget * squares + std::pow(std::min(std::abs(miss), 50.0), 2);
    days = forget * days + 1;
    ASSERT_NEAR(fleet.price() / price, 1, 1e-9) << day;
    ASSERT_NEAR(*fleet.share_over(), over / used, 1e-9);
    EXPECT_DOUBLE_EQ(fleet.change_charge(99), 2.5 * fleet.change_windows()) << "of the mean of 4 and 1";
  }
  const double last = fleet.price();
  fleet.CloseDay(FleetRows());
  EXPECT_EQ(fleet.price(), last) << "a day without work says nothing";
  EXPECT_DOUBLE_EQ(fleet.change_charge(99), 2.5 * fleet.change_windows());
  WorkFunctionSettings fixed = Ordered(0.001);
  fixed.price = 500;
  WorkFunctionFleet still(Resource::kCpu, fixed);
  still.CloseDay({WorkOf(100, 1000, 4)});
  EXPECT_EQ(still.price(), 500);
  EXPECT_DOUBLE_EQ(*still.share_over(), 0.1);
}

TEST(WorkFunctionPrice, StaysWithinItsBounds) {
  for (const double share : {1.0, 0.0}) {
    WorkFunctionFleet fleet(Resource::kCpu, Ordered(share > 0 ? 0.0002 : 0.05));
    for (int day = 0; day < 150; ++day) fleet.CloseDay(FleetRows(100, WorkOf(share * 1000, 1000, 4)));
    EXPECT_EQ(fleet.price(), share > 0 ? 20'000 : 10);
  }
}

WorkFunctionSettings AtOnce(double price = 1000) {
  WorkFunctionSettings s;
  s.price = price;
  s.min_history_s = 0;
  return s;
}

// A recommender that observes ascending windows at a given limit.
class Account {
 public:
  Account(const WorkFunctionFleet& fleet, double price_factor = 1, std::optional<double> order = {})
      : r_(fleet, OomSettings(), price_factor, order) {
    Window({1}, 8);
    (void)r_.Recommend(WindowId{1});
    FleetRows rows;
    r_.EndDay(0, rows);
  }
  void Window(const std::vector<double>& usage, double limit, bool cut = false,
              std::optional<double> throttled = {}) {
    std::vector<TaskUsage> tasks;
    for (const double u : usage) {
      const auto id = static_cast<uint32_t>(tasks.size());
      tasks.push_back({id, static_cast<float>(u), static_cast<float>(u)});
    }
    const MadeSignal made(Resource::kCpu, window_++, tasks);
    Signal signal = made;
    signal.limit = limit;
    if (cut || throttled.has_value()) signal.cut_at = limit;
    signal.throttled = throttled;
    r_.Observe(signal);
  }
  FleetWork EndDay() {
    FleetRows rows;
    r_.EndDay(1, rows);
    return rows.empty() ? FleetWork{} : *rows.front().work;
  }
  // Returns the job's own share of work above its limits.
  double ShareOver() {
    LimitRisk risk;
    r_.UpdateRisk(1, risk);
    return risk.work_over;
  }
  double Fact(std::string_view name) {
    Reason reason;
    r_.Explain(reason);
    for (const auto& fact : reason.facts) {
      if (fact.name == name) return std::get<double>(fact.value);
    }
    ADD_FAILURE() << name;
    return 0;
  }
  double Price() { return Fact("price of work above the limit"); }
  int32_t window() const { return window_; }
  WorkFunctionRecommender& recommender() { return r_; }

 private:
  WorkFunctionRecommender r_;
  int32_t window_ = 0;
};

TEST(WorkFunctionAccount, CountsTheWorkOfEachTask) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  Account job(fleet);
  job.Window({1, 3}, 2);
  job.Window({1.5}, 2);
  const FleetWork work = job.EndDay();
  EXPECT_NEAR(work.used, 5.5, 1e-6);
  EXPECT_NEAR(work.over, 1, 1e-6);
  EXPECT_NEAR(work.size, 3, 1e-6) << "the day's peak, where the owner has set nothing";
  EXPECT_FALSE(work.seasoned);
  FleetRows rows;
  job.recommender().EndDay(2, rows);
  EXPECT_TRUE(rows.empty()) << "each day anew, and of one without usage nothing";
  Reason reason;
  job.recommender().Explain(reason);
  // The share of throttled work is 1 of 6.5, including the first window.
  EXPECT_THAT(reason.sentence,
              ::testing::StartsWith("15 % of this job's work of the last weeks was throttled"));
}

// Computes the definition by brute force, for jobs of two tasks: the cost of a level includes each task's usage
// above it.
TEST(WorkFunctionAccount, ALevelPaysForEachTask) {
  WorkFunctionSettings s = AtOnce(100);
  s.job_cap = 0;
  const WorkFunctionFleet fleet(Resource::kCpu, s);
  WorkFunctionRecommender r(fleet, OomSettings());
  const double change = fleet.change_charge(8);
  std::vector<double> best(WorkFunctionRecommender::kLevels, 0);
  for (int32_t t = 0; t < 300; ++t) {
    const float low = 0.3F + 0.1F * static_cast<float>(t % 3);
    const float high = t % 17 < 2 ? 2.5F : 0.7F;
    const MadeSignal made(Resource::kCpu, t, {{0, low, low}, {1, high, high}}, 8.0);
    r.Observe(made);
    const double limit = *r.Recommend(WindowId{t + 1});
    const double least_before = *std::min_element(best.begin(), best.end());
    for (int k = 0; k < WorkFunctionRecommender::kLevels; ++k) {
      const double level = WorkFunctionRecommender::Level(Resource::kCpu, k);
      const double above = (std::max(0.0, low - level) + std::max(0.0, high - level)) / 2;
      double& cost = best[static_cast<size_t>(k)];
      cost = std::min(cost, least_before + change) + level + 100 * above;
    }
    const double least = *std::min_element(best.begin(), best.end());
    Reason reason;
    r.Explain(reason);
    for (const Candidate& c : reason.candidates) {
      const auto k = static_cast<size_t>(WorkFunctionRecommender::LevelOf(Resource::kCpu, c.limit));
      ASSERT_NEAR(c.cost * kWindowsPerHour, std::min(best[k] - least, change), 1e-3 * change) << t << c.name;
      EXPECT_EQ(c.chosen, c.limit == limit);
    }
    ASSERT_EQ(reason.candidates.size(), reason.candidates.front().limit == limit ? 1U : 2U) << t;
  }
}

// A raise for rare bursts ends at the height of most bursts, or at the current usage if that is higher. Neither
// usage at other times nor a single burst in thirty changes this height.
TEST(WorkFunctionAccount, ARaiseGoesToTheBurstsBefore) {
  struct Case {
    int ones;  // windows of a day at 1 core, with one window at 3 cores; 0: five windows at 3 cores
    double usage, expected;
    bool years = false;  // true for a job with years of idle windows before the bursts
  };
  for (const Case& c : {Case{0, 0.5, 3}, Case{0, 5, 5}, Case{30, 0.5, 1}, Case{0, 0.5, 3, true}}) {
    WorkFunctionSettings s;
    s.price = 1000;
    s.job_cap = 0;
    const WorkFunctionFleet fleet(Resource::kCpu, s);
    WorkFunctionRecommender r(fleet, OomSettings());
    int32_t window = 0;
    const auto live = [&](double cores) {
      r.Observe(MadeSignal(Resource::kCpu, window++, cores, 8.0));
      return r.Recommend(WindowId{window}).value_or(8);
    };
    for (int gap = 0; c.years && gap < 3; ++gap, window += 350 * kWindowsPerDay) (void)live(0.2);
    double limit = 8;
    for (int i = 0; i < 5 * kWindowsPerDay; ++i) {
      const int at = i % kWindowsPerDay - (kWindowsPerDay - 1 - (c.ones > 0 ? c.ones : 4));
      limit = live(at < 0 ? 0.2 : at < c.ones ? 1 : 3);
    }
    for (int i = 0; i < 4 * kWindowsPerDay && limit > 0.3; ++i) limit = live(0.2);
    ASSERT_LE(limit, 0.3) << "it lets go";
    Reason fallen;
    r.Explain(fallen);
    EXPECT_THAT(fallen.why, ::testing::HasSubstr("had cost one change more than a lower one"));
    limit = live(c.usage);
    EXPECT_GE(limit, c.expected * (1 - 1e-4)) << c.ones;
    EXPECT_LE(limit, 1.1 * c.expected) << c.ones;
    Reason raised;
    r.Explain(raised);
    EXPECT_THAT(raised.why, ::testing::HasSubstr("was above the limit of"));
  }
}

TEST(WorkFunctionAccount, TheLowestLimitIsRaisedToo) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  WorkFunctionRecommender r(fleet, OomSettings());
  r.Observe(MadeSignal(Resource::kCpu, 0, 0.005, 8.0));
  EXPECT_EQ(r.Recommend(WindowId{1}), WorkFunctionRecommender::Level(Resource::kCpu, 0));
  for (int32_t w = 1; w < 20; ++w) {
    r.Observe(MadeSignal(Resource::kCpu, w, 1.0, 8.0));
    (void)r.Recommend(WindowId{w + 1});
  }
  EXPECT_GE(r.Recommend(WindowId{21}), 1 - 1e-4);
}

TEST(WorkFunctionAccount, UnderTheOwnersLimitNothingIsAboveIt) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  WorkFunctionRecommender r(fleet, OomSettings());
  r.Observe(MadeSignal(Resource::kCpu, 0, 5.0, 2.0));
  FleetRows rows;
  r.EndDay(0, rows);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].work->over, 0);
  EXPECT_NEAR(rows[0].work->used, 5, 1e-6);
  EXPECT_EQ(rows[0].work->size, 2);
}

TEST(WorkFunctionAccount, AJobIsSeasonedAfterTwoWeeks) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  WorkFunctionRecommender r(fleet, OomSettings());
  WorkFunctionRecommender own(fleet, OomSettings(), 1, 0.01);
  const auto seasoned = [](WorkFunctionRecommender& of, int32_t window) {
    FleetRows rows;
    of.Observe(MadeSignal(Resource::kCpu, window, 1.0));
    of.EndDay(window / kWindowsPerDay, rows);
    return rows.at(0).work->seasoned;
  };
  EXPECT_FALSE(seasoned(r, 100));
  EXPECT_FALSE(seasoned(r, 99 + 14 * kWindowsPerDay));
  EXPECT_TRUE(seasoned(r, 100 + 14 * kWindowsPerDay));
  (void)seasoned(own, 100);
  EXPECT_FALSE(seasoned(own, 100 + 20 * kWindowsPerDay))
      << "one with its own order is no part of the fleet's";
}

// Usage that the limit cuts off counts as a need of 1.3 times the limit, until the first window without a cut
// shows a higher need. The tasks had this need in half of the first window.
TEST(WorkFunctionAccount, CutWorkIsJudgedByTheWindowAfter) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  struct Case {
    int cuts;
    double after;
    double over, used;
  };
  for (const Case& c : {Case{1, 0.5, 0.3, 1.8}, Case{1, 3, 3, 5}, Case{2, 3, 5, 8}, Case{1, 1, 0.3, 2.3},
                        Case{2, 1.5, 1.25, 4.25}}) {
    Account job(fleet);
    for (int i = 0; i < c.cuts; ++i) job.Window({1}, 1, true);
    job.Window({c.after}, 1);
    const FleetWork work = job.EndDay();
    EXPECT_NEAR(work.over, c.over, 1e-5) << c.cuts << " " << c.after;
    EXPECT_NEAR(work.used, c.used, 1e-5) << c.cuts << " " << c.after;
  }
}

// The job's own share decides whether the limit is raised ahead of a burst: a burst of one window that the limit
// cuts off has no later window that shows its need.
TEST(WorkFunctionAccount, TheJobsOwnShareAssumesTwiceTheLimit) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  Account job(fleet);
  job.Window({1}, 1, true);
  job.Window({0.5}, 1);
  EXPECT_NEAR(job.ShareOver(), 1 / (1 + 2 + 0.5), 1e-3)
      << "work of 1, 2 and 0.5, of which 1 was above the limit";
}

TEST(WorkFunctionAccount, ThrottledPeriodsHaveTheAssumedNeed) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  // A quarter of the time has a need of 2.6. The rest of the time has the remaining mean: (1.1 - 0.5) / 0.75.
  Account some(fleet);
  some.Window({1.1}, 2, false, 0.25);
  FleetWork work = some.EndDay();
  EXPECT_NEAR(work.used, 0.25 * 2.6 + 0.75 * 0.8, 1e-5);
  EXPECT_NEAR(work.over, 0.25 * 0.6, 1e-5);
  Account all(fleet);
  all.Window({1.1}, 2, false, 1.0);
  work = all.EndDay();
  EXPECT_NEAR(work.used, 2.6, 1e-5);
  EXPECT_NEAR(work.over, 0.6, 1e-5);
  Account none(fleet);
  none.Window({1.1}, 2, false, 0.0);
  work = none.EndDay();
  EXPECT_NEAR(work.used, 1.1, 1e-5);
  EXPECT_EQ(work.over, 0);
}

// The job's decayed sums of work, computed by the recommender's formula.
struct Sums {
  double over = 0, used = 0;
  void Add(double usage, double limit) {
    const double growth = std::exp2(1.0 / (14 * kWindowsPerDay));
    over = over / growth + std::max(0.0, usage - limit);
    used = used / growth + usage;
  }
};

TEST(WorkFunctionPrice, AnOrderOfItsOwnIsPricedByHowItIsKept) {
  WorkFunctionSettings at_once = Ordered(0.001);
  at_once.min_history_s = 0;
  const WorkFunctionFleet fleet(Resource::kCpu, at_once);
  constexpr double kShare = 0.01;
  Account job(fleet, 1, kShare);
  Sums sums{.over = 0, .used = 1};
  for (int w = 1; w < 3000; ++w) {
    const double usage = w % 50 == 7 && w < 600 ? 2 : 1;
    job.Window({usage}, 1.5);
    sums.Add(usage, 1.5);
    if (w % 211 != 0) continue;
    const double prior = 3.0 * kWindowsPerDay / (w + 1);
    const double share = (sums.over / sums.used + kShare * prior) / (1 + prior);
    const double price =
        fleet.PriceFor(kShare) * std::exp(3 * std::clamp(std::log(share / kShare), -2.0, 2.0));
    EXPECT_NEAR(job.Price() / std::max(1.1, price), 1, 1e-3) << w;
  }
  Account calm(fleet, 1, 0.0001);
  for (int w = 1; w < 30 * kWindowsPerDay; ++w) calm.Window({1}, 1.5);
  EXPECT_NEAR(calm.Price() / (fleet.PriceFor(0.0001) * std::exp(-6)), 1, 1e-6) << "no further than this";
}

TEST(WorkFunctionPrice, AJobFarAboveTheOrderPaysThePriceOfTheSquare) {
  WorkFunctionSettings s = Ordered(0.001);
  s.min_history_s = 0;
  const WorkFunctionFleet fleet(Resource::kCpu, s);
  for (const double factor : {1.0, 0.5}) {
    // multiples of the share from which a job has its own price
    for (const double over : {0.4, 1.5, 3.0, 20.0}) {
      Account job(fleet, factor);
      Sums sums{.over = 0, .used = 1};
      const double most = 5 * 0.001 / factor;
      // One window exceeds the limit by enough to make the share about `over` times `most`.
      const double above = over * most * 100;
      job.Window({1 + above}, 1);
      sums.Add(1 + above, 1);
      for (int w = 2; w < 100; ++w) {
        job.Window({1}, 1);
        sums.Add(1, 1);
      }
      const double times = sums.over / sums.used / most;
      const double own = times > 1 ? std::min(times * times, 64.0) : 1;
      EXPECT_NEAR(job.Price() / (factor * 1430 * own), 1, 2e-3) << factor << " " << over;
    }
  }
}

// For a job with its own target share, the charge for a change is proportional to the job's own limit and depends
// on its price. This also holds for the lowest limit.
TEST(WorkFunctionPrice, AnOwnOrdersChangesCostByItsOwnSize) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  for (const double usage : {0.005, 2.0}) {
    WorkFunctionRecommender r(fleet, OomSettings(), 1, 0.01);
    r.Observe(MadeSignal(Resource::kCpu, 0, usage, 8.0));
    const double limit = *r.Recommend(WindowId{1});
    Reason reason;
    r.Explain(reason);
    ASSERT_GE(reason.facts.size(), 2U);
    const double price = std::get<double>(reason.facts[0].value);
    const double charge = limit * std::max(45.0, 2.5 * std::sqrt(price)) / kWindowsPerHour;
    EXPECT_NEAR(std::get<double>(reason.facts[1].value) / charge, 1, 1e-6) << usage;
  }
}

TEST(WorkFunctionPrice, BatchJobsPayLess) {
  EXPECT_EQ(WorkFunctionRecommender::PriceFactor(JobClass::kServing), 1);
  EXPECT_EQ(WorkFunctionRecommender::PriceFactor(JobClass::kServingTolerant), 0.5);
  EXPECT_EQ(WorkFunctionRecommender::PriceFactor(JobClass::kBatch), 0.25);
}

// Returns the hour in which the limit falls. The job uses 0.2 cores, and 3 cores from 10:00 to 11:00 of its
// first day. `due` hours after the burst, the reservation of 3 cores has cost one change.
double FallsAt(double price, double due) {
  WorkFunctionSettings s = AtOnce(price);
  s.job_cap = 0;
  const WorkFunctionFleet fleet(Resource::kCpu, s);
  const double low =
      WorkFunctionRecommender::Level(Resource::kCpu, WorkFunctionRecommender::LevelOf(Resource::kCpu, 0.2));
  const double high =
      WorkFunctionRecommender::Level(Resource::kCpu, WorkFunctionRecommender::LevelOf(Resource::kCpu, 3));
  // The schedule pays one change for the burst and a second change for the fall.
  const double owner = due * kWindowsPerHour * (high - low) / 2 / fleet.change_windows();
  WorkFunctionRecommender r(fleet, OomSettings());
  bool high_before = false;
  for (int32_t w = 0; w < 72 * kWindowsPerHour; ++w) {
    const bool is_high = r.Recommend(WindowId{w}).value_or(0) > 1;
    if (high_before && !is_high) return static_cast<double>(w) / kWindowsPerHour;
    high_before = is_high;
    r.Observe(MadeSignal(Resource::kCpu, w, w / kWindowsPerHour == 10 ? 3.0 : 0.2, owner));
  }
  return 0;
}

// A limit does not fall below yesterday's usage in the coming four hours, which is the look-ahead at this price.
TEST(WorkFunctionAccount, ALimitStaysForTheHoursAheadOfYesterday) {
  EXPECT_NEAR(FallsAt(1430, 15.5), 11 + 15.5, 0.2);
  EXPECT_NEAR(FallsAt(1430, 18.5), 11 + 18.5, 0.2) << "the hours from 6 to 10 o'clock are ahead";
  EXPECT_NEAR(FallsAt(1430, 19.5), 24 + 10, 0.1) << "not before the hour that it was for";
  EXPECT_NEAR(FallsAt(1430, 22.5), 24 + 10, 0.1);
  EXPECT_NEAR(FallsAt(1430, 23.5), 11 + 23.5, 0.2);
  EXPECT_NEAR(FallsAt(299, 19.5), 11 + 19.5, 0.2) << "with no hour ahead";
}

TEST(WorkFunctionAccount, AMoveIsExplainedByTheUsageAndTheLimitBefore) {
  const WorkFunctionFleet fleet(Resource::kCpu, AtOnce());
  WorkFunctionRecommender r(fleet, OomSettings());
  r.Observe(MadeSignal(Resource::kCpu, 0, 0.5, 8.0));
  const double before = *r.Recommend(WindowId{1});
  r.Observe(MadeSignal(Resource::kCpu, 1, 3.0, 8.0));
  ASSERT_GT(*r.Recommend(WindowId{2}), before);
  Reason reason;
  r.Explain(reason);
  EXPECT_THAT(reason.why,
              ::testing::StartsWith("usage of " + FormatAmount(Resource::kCpu, 3) +
                                    " was above the limit of " + FormatAmount(Resource::kCpu, before) + ";"));
}

}  // namespace
}  // namespace taut::brain
