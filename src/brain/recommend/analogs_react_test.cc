// Tests of reactive raises and calibration of analogs. On a flat fleet the limit, the benefit of a raise and the
// effect of broken promises can be computed by hand.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "brain/recommend/analogs.h"
#include "brain/recommend/flat_fleet_fixture.h"
#include "brain/recommend/made_signal.h"
#include "brain/recommend/wrappers.h"
#include "common/model/units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

struct Warned {
  int32_t window = 1;  // window of the day in which a raise would take effect
  uint32_t tasks = 1;
  double mean_limit = kUsual;
  int warned_days = 0;     // number of earlier days with a warning
  bool came_true = false;  // true if an overrun followed the last of these warnings
};

bool IsRaised(const Warned& w, double price) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(price), w.mean_limit);
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  int32_t start = LiveFirstDay(r, kUsual, w.tasks);
  for (int day = 0; day < w.warned_days; ++day, start += kWindowsPerDay) {
    FleetRows rows;
    Use(r, start, 0.5 * kUsual, w.tasks);
    Use(r, start + 1, 0.5 * kUsual, w.tasks);
    Use(r, start + 2, 0.9 * kUsual, w.tasks);
    Use(r, start + 3, 0.5 * kUsual, w.tasks);
    if (w.came_true && day + 1 == w.warned_days) Use(r, start + 4, 1.001 * kUsual, w.tasks);
    r.EndDay(start / kWindowsPerDay, rows);
    r.StartDay(start / kWindowsPerDay + 1);
  }
  Use(r, start + w.window - 1, 0.9 * kUsual, w.tasks);
  return *r.Recommend(WindowId{start + w.window}) > 1.2 * kUsual;
}

// A raise to 1.6 times the usage costs its bytes per task until the day's end, at least for six hours, plus 5 % of
// a mean job's limit. The benefit is the price times the share of warnings that were followed by an overrun.
TEST(AnalogsReact, ARaiseIsMadeWhereItCostsLessThanTheWarningIsWorth) {
  constexpr double kMore = 1.6 * 0.9 - 1;  // additional limit of a raise, as a share of kUsual
  struct Case {
    Warned warned;
    double cost;  // cost of the raise, as a share of kUsual
    double hazard;
  };
  // A fleet without warnings assumes that a tenth of the warnings is followed by an overrun. This assumption has
  // the weight of two of the job's own warnings.
  for (const Case& c : {
           Case{{.window = 1}, kMore * 287 / 288 + 0.05, 0.1},
           Case{{.window = 144}, kMore / 2 + 0.05, 0.1},
           Case{{.window = 280}, kMore / 4 + 0.05, 0.1},
           Case{{.window = 144, .tasks = 3}, 3 * kMore / 2 + 0.05, 0.1},
           Case{{.window = 144, .mean_limit = 20 * kUsual}, kMore / 2 + 1, 0.1},
           Case{{.window = 144, .warned_days = 1}, kMore / 2 + 0.05, 0.2 / 3},
           Case{{.window = 144, .warned_days = 2}, kMore / 2 + 0.05, 0.2 / (2 + 1.95)},
           Case{{.window = 144, .warned_days = 2, .came_true = true}, kMore / 2 + 0.05, 1.2 / (2 + 1.95)},
       }) {
    const double price = c.cost * kUsual / c.hazard;
    EXPECT_FALSE(IsRaised(c.warned, 0.98 * price)) << c.cost << " " << c.hazard;
    EXPECT_TRUE(IsRaised(c.warned, 1.02 * price)) << c.cost << " " << c.hazard;
  }
}

TEST(AnalogsReact, CloseUnderTheOwnersLimitNothingIsRaised) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  const auto limit = [&](double usage, std::optional<double> owner) {
    AnalogsRecommender r(fleet, nullptr, OomSettings());
    const int32_t start = LiveFirstDay(r, kUsual, 1, owner);
    EXPECT_NEAR(*r.Recommend(WindowId{start}), kUsual, 1);
    Use(r, start, usage, 1, owner);
    return *r.Recommend(WindowId{start + 1}) / kUsual;
  };
  EXPECT_NEAR(limit(0.9 * kUsual, {}), 1.44, 1e-6);
  EXPECT_NEAR(limit(0.9 * kUsual, 1.13 * kUsual), 1.44, 1e-6);
  EXPECT_NEAR(limit(0.9 * kUsual, 1.12 * kUsual), 1, 1e-6) << "0.9 is over 0.8 of it";
  EXPECT_NEAR(limit(0.81 * kUsual, {}), 1.296, 1e-6);
  EXPECT_NEAR(limit(0.79 * kUsual, {}), 1, 1e-6);
}

// The day after the first day, window by window.
class RaisedDay {
 public:
  explicit RaisedDay(const AnalogFleet& fleet) : r_(fleet, nullptr, OomSettings()), start_(LiveFirstDay(r_)) {
    (void)r_.Recommend(WindowId{start_});
  }
  // Observes `usage` in window `at` of the day and returns the next window's limit, both relative to kUsual.
  double After(int32_t at, double usage) {
    Use(r_, start_ + at, usage * kUsual);
    return *r_.Recommend(WindowId{start_ + at + 1}) / kUsual;
  }
  double TheDayAfter() {
    FleetRows rows;
    r_.EndDay(kFirst + 1, rows);
    r_.StartDay(kFirst + 2);
    start_ += kWindowsPerDay;
    return *r_.Recommend(WindowId{start_}) / kUsual;
  }

 private:
  AnalogsRecommender r_;
  int32_t start_;
};

TEST(AnalogsReact, ARaiseFallsAfterSixHoursUnlessUsageComesCloseAgain) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  RaisedDay calm(fleet);
  EXPECT_NEAR(calm.After(10, 0.9), 1.44, 1e-6);
  EXPECT_NEAR(calm.After(81, 0.79), 1.44, 1e-6);
  EXPECT_NEAR(calm.After(82, 0.5), 1, 1e-6) << "72 windows after the raise";
  EXPECT_NEAR(calm.After(90, 0.9), 1, 1e-6) << "one raise a day";
  EXPECT_NEAR(calm.After(91, 0.5), 1, 1e-6);
  EXPECT_NEAR(calm.TheDayAfter(), 1, 1e-6);
  EXPECT_NEAR(calm.After(10, 0.9), 1.44, 1e-6) << "and one on the next";

  RaisedDay close(fleet);
  EXPECT_NEAR(close.After(10, 0.9), 1.44, 1e-6);
  EXPECT_NEAR(close.After(50, 0.85), 1.44, 1e-6);
  EXPECT_NEAR(close.After(83, 0.5), 1.44, 1e-6);
  EXPECT_NEAR(close.After(286, 0.5), 1.44, 1e-6);
  EXPECT_NEAR(close.TheDayAfter(), 1, 1e-6);
}

// The next decision counts a change from the raise that is in force at the end of the day.
TEST(AnalogsReact, TheNextDecisionMayKeepARaise) {
  AnalogSettings settings = AnalogsAtPrice(kDear);
  settings.keep = 0.5;
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, settings);
  RaisedDay held(fleet);
  EXPECT_NEAR(held.After(280, 0.9), 1.44, 1e-6);
  EXPECT_NEAR(held.After(281, 0.5), 1.44, 1e-6);
  EXPECT_NEAR(held.TheDayAfter(), 1.44, 1e-6);
  RaisedDay fallen(fleet);
  EXPECT_NEAR(fallen.After(10, 0.9), 1.44, 1e-6);
  EXPECT_NEAR(fallen.After(100, 0.5), 1, 1e-6);
  EXPECT_NEAR(fallen.TheDayAfter(), 1, 1e-6);
}

TEST(AnalogsReact, CpuIsRaisedByTheRatioAloneAndTwiceWhereItStillRises) {
  const AnalogFleet fleet = FlatFleet(Resource::kCpu, AnalogsAtPrice(kDear), 2);
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  const int32_t start = LiveFirstDay(r, 2, 1, {}, Resource::kCpu);
  EXPECT_NEAR(*r.Recommend(WindowId{start}), 2, 1e-6);
  const auto after = [&](int32_t at, double usage) {
    Use(r, start + at, usage, 1, {}, Resource::kCpu);
    return *r.Recommend(WindowId{start + at + 1});
  };
  EXPECT_NEAR(after(0, 1.8), 2.88, 1e-6) << "a warning";
  EXPECT_NEAR(after(1, 3), 3.6, 1e-6) << "over the raise that it made: once";
  EXPECT_NEAR(after(2, 3.5), 3.6, 1e-6);
  EXPECT_NEAR(after(3, 4), 5.76, 1e-6) << "over the raise of an overrun: twice";
  EXPECT_NEAR(*r.Recommend(WindowId{start + 4}), 5.76, 1e-6) << "asked again of the same window";
  EXPECT_NEAR(after(100, 0.1), 5.76, 1e-6) << "until the next decision";
  FleetRows rows;
  r.EndDay(kFirst + 1, rows);
  r.StartDay(kFirst + 2);
  const double next = *r.Recommend(WindowId{start + kWindowsPerDay});
  EXPECT_NEAR(next, 4, 1e-5) << "the week's peak; the raise was more than 13 % dearer";
  EXPECT_NEAR(after(kWindowsPerDay, 4.5), 5.4, 1e-5) << "yesterday's overruns are over: once";
}

// Usage is an overrun only above the limit in force, which another program may have raised.
TEST(AnalogsReact, AnOverrunIsOneOfTheLimitInForce) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  for (const bool held : {false, true}) {
    AnalogsRecommender r(fleet, nullptr, OomSettings());
    const int32_t start = LiveFirstDay(r);
    (void)r.Recommend(WindowId{start});
    const MadeSignal made(Resource::kMemory, start, 1.5 * kUsual);
    Signal signal = made;
    if (held) signal.limit = 2 * kUsual;
    r.Observe(signal);
    FleetRows rows;
    const double limit = *r.Recommend(WindowId{start + 1});
    EXPECT_EQ(limit > 1.7 * kUsual && limit < 1.9 * kUsual, !held) << limit;
    r.EndDay(kFirst + 1, rows);
    EXPECT_EQ(rows.at(0).verdict->overrun, !held);
    EXPECT_EQ(rows.at(0).verdict->promised, 0) << "by the forecast no day is higher";
  }
}

TEST(AnalogsReact, AKillCountsAsAnOverrunByWhatWasNeeded) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  const int32_t start = LiveFirstDay(r);
  Use(r, start, kUsual / 2);
  r.ObserveOom({WindowId{start + 1}, 0, kUsual});
  FleetRows rows;
  r.EndDay(kFirst + 1, rows);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].verdict->overrun);
  const double level = AnalogLevel(Resource::kMemory);
  ASSERT_TRUE(rows[0].lesson.has_value());
  EXPECT_NEAR(rows[0].lesson->outcome, std::log((1200 * kMiB + level) / (kUsual + level)), 1e-6);
  EXPECT_NEAR(rows[0].tomorrow.week_peak, 1200 * kMiB, 1);
}

// A job's own days lose weight with age, and each day is stored relative to the week's peak.
TEST(AnalogsReact, OwnDaysFade) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  (void)LiveFirstDay(r);
  FleetRows rows;
  for (const int32_t day : {kFirst + 1, kFirst + 4}) {
    r.StartDay(day);
    Use(r, day * kWindowsPerDay, kUsual / 2);
    r.EndDay(day, rows);
  }
  const AnalogCase& next = rows.back().tomorrow;
  ASSERT_EQ(next.own.size, 3U);
  const double level = AnalogLevel(Resource::kMemory);
  const int usual = AnalogGrid::Get().BinOf(0);
  const int half = AnalogGrid::Get().BinOf(std::log((kUsual / 2 + level) / (kUsual + level)));
  const double ages[] = {1, 4, 5};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(next.own.weight[i], std::exp2(-ages[i] / 10), 1e-6) << i;
    EXPECT_EQ(next.own.bin[i], i == 2 ? usual : half) << i;
  }
  EXPECT_NEAR(next.week_peak, kUsual, 1);
  EXPECT_NEAR(next.kept_limit, kUsual, 1);
  EXPECT_EQ(next.tasks, 1);
}

TEST(AnalogsReact, ExplainsALimitAtTheWeeksPeak) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  (void)r.Recommend(WindowId{LiveFirstDay(r)});
  Reason reason;
  r.Explain(reason);
  EXPECT_THAT(reason.sentence,
              ::testing::StartsWith("Of 350 similar job-days in the fleet, 0 peaked above this "
                                    "limit; of the job's own last 1, 0."));
  EXPECT_EQ(reason.cost_unit, UnitName(Resource::kMemory));
  EXPECT_NEAR(*reason.chance, 0.5 / 351, 1e-9) << "none of 350 is not never";
}

// The fleet learns from a day's first warning whether an overrun followed within six hours.
TEST(AnalogsReact, AWarningComesTrueWithinSixHours) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  using Day = std::vector<std::pair<int32_t, double>>;  // window of the day, and usage as a share of kUsual
  const auto learnt = [&](const Day& day) {
    AnalogsRecommender r(fleet, nullptr, OomSettings());
    const int32_t start = LiveFirstDay(r);
    for (const auto& [at, usage] : day) Use(r, start + at, usage * kUsual);
    FleetRows rows;
    r.EndDay(kFirst + 1, rows);
    return rows.at(0).warning_came_true;
  };
  EXPECT_EQ(learnt({{0, 0.5}, {1, 0.8}}), std::nullopt);
  EXPECT_EQ(learnt({{0, 0.5}, {1, 0.81}, {2, 1}}), false) << "at the limit is not over it";
  EXPECT_EQ(learnt({{0, 0.5}, {1, 0.81}, {73, 1.01}}), true);
  EXPECT_EQ(learnt({{0, 0.5}, {1, 0.81}, {74, 1.01}}), false);
  EXPECT_EQ(learnt({{0, 0.5}, {1, 1.01}, {2, 0.9}, {3, 1.01}}), std::nullopt) << "after the overrun";
}

FleetRow RowWith(std::optional<bool> warning_came_true, double owner_limit, double week_peak) {
  FleetRow row;
  row.warning_came_true = warning_came_true;
  row.tomorrow.owner_limit = owner_limit;
  row.tomorrow.week_peak = week_peak;
  return row;
}

TEST(AnalogFleetDay, CountsWarningsAndTheMeanLimit) {
  AnalogFleet fleet(Resource::kMemory, AnalogSettings());
  EXPECT_DOUBLE_EQ(fleet.warning_hazard(), 0.1);
  FleetRows rows = {RowWith(true, 5e9, 1e9), RowWith(true, -1, 2e9), RowWith(false, 0, 3e9),
                    RowWith(std::nullopt, 8e9, 1e9)};
  fleet.CloseDay(0, rows);
  EXPECT_DOUBLE_EQ(fleet.warning_hazard(), 3.0 / 13);
  EXPECT_DOUBLE_EQ(fleet.mean_limit(), (5e9 + 2e9 + 0 + 8e9) / 4) << "a limit of 0 is one";
  fleet.CloseDay(1, {});
  EXPECT_DOUBLE_EQ(fleet.warning_hazard(), (0.95 * 2 + 1) / (0.95 * 3 + 10)) << "they fade";
  EXPECT_DOUBLE_EQ(fleet.mean_limit(), 15e9 / 4) << "no jobs say nothing of it";
  fleet.CloseDay(2, {RowWith(false, 1e9, 1e9)});
  EXPECT_DOUBLE_EQ(fleet.warning_hazard(), (0.95 * 0.95 * 2 + 1) / (0.95 * 0.95 * 3 + 1 + 10));
}

TEST(AnalogFleetDay, TrainsWhenThereIsEnoughNewOfIt) {
  AnalogSettings settings;
  settings.retrain_days = 3;
  AnalogFleet fleet(Resource::kMemory, settings);
  std::vector<size_t> behind;  // number of rows in the trained forest, by day
  for (const size_t jobs : {40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 40, 360}) {
    FleetRows rows(jobs);
    for (FleetRow& row : rows) row.lesson = FleetLesson{.features = {}, .outcome = 0};
    fleet.CloseDay(100 + static_cast<int32_t>(behind.size()), rows);
    behind.push_back(fleet.forest().rows());
  }
  EXPECT_EQ(behind, (std::vector<size_t>{0, 0, 0, 0, 0, 0, 280, 280, 280, 400, 400, 800}))
      << "after seven days, every third day, and when there is twice as much";
  AnalogSettings small = settings;
  small.max_rows = 250;
  small.retrain_days = 1;
  AnalogFleet full(Resource::kMemory, small);
  for (int32_t day = 0; day < 10; ++day) {
    FleetRows rows(40);
    for (FleetRow& row : rows) row.lesson = FleetLesson{.features = {}, .outcome = 0};
    full.CloseDay(day, rows);
    if (full.ready()) {
      EXPECT_EQ(full.forest().rows(), 250U) << "no more than it may keep";
    }
  }
  AnalogFleet few(Resource::kMemory, settings);
  for (int32_t day = 0; day < 12; ++day) {
    FleetRows rows(19);
    for (FleetRow& row : rows) row.lesson = FleetLesson{.features = {}, .outcome = 0};
    few.CloseDay(day, rows);
    EXPECT_EQ(few.ready(), day >= 10) << day << ": 209 job-days, of 200 that are needed";
  }
}

// ---- Calibration ----

// Computes the fleet's price by the formulas of docs/algorithms/vertical.md.
class Pricing {
 public:
  explicit Pricing(const AnalogSettings& s) : settings_(s) {}
  static double Solved(const AnalogFleet& fleet, const std::vector<AnalogCase>& jobs, double share) {
    std::vector<AnalogCdf> cdfs;
    for (const AnalogCase& job : jobs) cdfs.push_back(fleet.Forecast(job));
    return SolvePrice(cdfs, jobs, Resource::kMemory, share, fleet.settings());
  }
  void Judge(double promised, double realised, double jobs) {
    promised_ = 0.95 * promised_ + promised;
    realised_ = 0.95 * realised_ + realised;
    debt_ = 0.98 * debt_ + settings_.memory_oom_days - realised / jobs;
  }
  double Move(const AnalogFleet& fleet, const std::vector<AnalogCase>& jobs) {
    const double share = settings_.memory_oom_days;
    const double correction = (promised_ + 10) / (realised_ + 10);
    const double solved =
        Solved(fleet, jobs, correction * std::clamp(share + debt_ / 14, share / 2, 2 * share));
    price_ = ++times_ == 1 ? solved : price_ * std::pow(solved / price_, std::max(0.1, 1.0 / times_));
    return price_;
  }

 private:
  AnalogSettings settings_;
  double promised_ = 0, realised_ = 0, debt_ = 0, price_ = 0;
  int times_ = 0;
};

TEST(AnalogFleetDay, ThePriceIsThatOfTheFormulas) {
  AnalogSettings settings;
  settings.memory_oom_days = 0.1;
  settings.solver_jobs = 30;
  settings.retrain_days = 100;
  AnalogFleet fleet(Resource::kMemory, settings);
  Pricing expected(settings);
  BottomK<AnalogCase> panel(static_cast<size_t>(settings.solver_jobs));
  std::vector<AnalogCase> priced;
  for (int32_t day = 0; day < 22; ++day) {
    FleetRows rows(100);
    panel = BottomK<AnalogCase>(static_cast<size_t>(settings.solver_jobs));
    priced.clear();
    double promised = 0;
    double realised = 0;
    for (int i = 0; i < 100; ++i) {
      FleetRow& row = rows[static_cast<size_t>(i)];
      row.job = static_cast<uint64_t>(i);
      row.lesson = FleetLesson{.features = {}, .outcome = Spread(7 * i + day)};
      row.tomorrow.week_peak = (100 + i * i) * kMiB;
      row.own_order = i % 6 == 0;
      // On the first days too many jobs exceed their limits, on later days fewer jobs than the target.
      if (!row.own_order)
        row.verdict = FleetVerdict{.promised = 0.125F, .overrun = i % 4 == 1 && (day < 9 || i < 20)};
      if (row.verdict.has_value()) promised += 0.125;
      if (row.verdict.has_value() && row.verdict->overrun) realised += 1;
      if (!row.own_order) panel.Add(MixBits(row.job), row.tomorrow);
    }
    for (const auto& [key, job] : panel.Sort()) priced.push_back(job);
    expected.Judge(promised, realised, 83);
    fleet.CloseDay(day, rows);
    if (!fleet.ready()) continue;
    ASSERT_NEAR(fleet.price() / expected.Move(fleet, priced), 1, 1e-9) << day;
  }
  ASSERT_TRUE(fleet.ready());
  const AnalogFleet dearer = fleet.ForecasterFor(0.02);
  const double ratio = Pricing::Solved(dearer, priced, 0.02) / Pricing::Solved(fleet, priced, 0.1);
  EXPECT_GT(ratio, 1.1);
  EXPECT_NEAR(dearer.price() / fleet.price(), ratio, 1e-9);
  EXPECT_EQ(dearer.mean_limit(), fleet.mean_limit());
  EXPECT_EQ(dearer.warning_hazard(), fleet.warning_hazard());
  EXPECT_EQ(fleet.ForecasterFor(0.1).price(), fleet.price()) << "the order that is in force";
}

// The target of a job with its own target share compensates broken promises.
TEST(AnalogsReact, AnOwnOrderAimsAtWhatWasNotKept) {
  AnalogSettings settings;
  settings.keep = 0;
  settings.raise_at = 0;
  settings.retrain_days = 100;
  const AnalogFleet fleet = SpreadFleet(settings);
  constexpr double kShare = 0.2;
  AnalogsRecommender r(fleet, nullptr, OomSettings(), AnalogJob{.day_start = 0, .order = kShare});
  double promised = 0;
  double realised = 0;
  double debt = 0.2;  // initial deviation, from the first day under the owner's limit without an overrun
  FleetRows rows;
  r.StartDay(kFirst);
  for (const double usage : {0.5, 0.5, 1.0}) Use(r, kFirst * kWindowsPerDay, usage * kUsual);
  r.EndDay(kFirst, rows);
  double least = 1;
  double most = 0;
  for (int32_t day = kFirst + 1; day < kFirst + 40; ++day) {
    const double correction = (promised + 1) / (realised + 1);
    const double share = std::min(0.5, correction * std::clamp(kShare + debt / 14, kShare / 2, 2 * kShare));
    least = std::min(least, share);
    most = std::max(most, share);
    AnalogCase tomorrow = rows.back().tomorrow;
    EXPECT_FALSE(rows.back().verdict.has_value()) << "it is no part of the fleet's order";
    EXPECT_TRUE(rows.back().own_order);
    const AnalogCdf cdf = fleet.Forecast(tomorrow);
    r.StartDay(day);
    const int32_t start = day * kWindowsPerDay;
    const double limit = *r.Recommend(WindowId{start});
    const AnalogChoice choice = ChooseForOrder(cdf, tomorrow, Resource::kMemory, share, settings);
    ASSERT_NEAR(limit / choice.limit, 1, 1e-6) << day << " " << share;
    const bool over = day % 4 == 0 || (day > kFirst + 25 && day % 2 == 0);
    Use(r, start, 0.5 * kUsual);
    Use(r, start + 1, 0.5 * kUsual);
    Use(r, start + 2, over ? 1.001 * limit : kUsual);
    r.EndDay(day, rows);
    promised = 0.95 * promised + choice.overrun_chance;
    realised = 0.95 * realised + (over ? 1 : 0);
    debt = 0.98 * debt + kShare - (over ? 1 : 0);
  }
  EXPECT_LT(least, 0.9 * kShare);
  EXPECT_GT(most, 1.1 * kShare);
}

}  // namespace
}  // namespace taut::brain
