// Tests that explanations of analogs have the figures of the decision, on fleets with known outcomes.
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "brain/recommend/analogs.h"
#include "brain/recommend/ensemble.h"
#include "brain/recommend/flat_fleet_fixture.h"
#include "brain/recommend/made_signal.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Reason Explained(const AnalogsRecommender& r) {
  Reason reason;
  r.Explain(reason);
  return reason;
}
std::map<std::string, double> FactsOf(const Reason& reason) {
  std::map<std::string, double> facts;
  for (const Fact& f : reason.facts) facts[f.name] = std::get<double>(f.value);
  return facts;
}

TEST(AnalogsExplain, TheFiguresAreThoseOfTheDecision) {
  AnalogSettings settings = AnalogsAtPrice(kDear);
  settings.max_overrun_chance = 0.25;
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, settings);
  AnalogsRecommender r(fleet, nullptr, OomSettings(),
                       AnalogJob{.day_start = 0, .order = {}, .price_factor = 2});
  (void)r.Recommend(WindowId{LiveFirstDay(r, kUsual, 3)});
  const Reason reason = Explained(r);
  std::map<std::string, double> facts = FactsOf(reason);
  EXPECT_NEAR(facts["highest peak of the last 7 days"], kUsual, 1);
  EXPECT_EQ(facts["price of an OOM-day"], 2 * kDear);
  EXPECT_EQ(facts["tasks, mean of the last day"], 3);
  EXPECT_NEAR(facts["chance of an OOM-day"], 100 * 0.5 / 351, 1e-9);
  EXPECT_EQ(facts["OOM-days ordered, over all jobs"], 3);
  EXPECT_EQ(facts["highest chance allowed for a job"], 25);
  EXPECT_EQ(facts["job-days behind the forecast"], 350);
  EXPECT_THAT(reason.sentence, HasSubstr("(3 % ordered over all jobs, at most 25 % for one)"));
  EXPECT_THAT(reason.candidates.back().detail, HasSubstr("price / tasks"));

  AnalogsRecommender ordered(fleet, nullptr, OomSettings(), AnalogJob{.day_start = 0, .order = 0.2});
  (void)ordered.Recommend(WindowId{LiveFirstDay(ordered)});
  const Reason own = Explained(ordered);
  facts = FactsOf(own);
  EXPECT_EQ(facts["OOM-days ordered for this job"], 20);
  EXPECT_EQ(facts.count("OOM-days ordered, over all jobs"), 0U);
  EXPECT_EQ(facts.count("tasks, mean of the last day"), 0U) << "of one";
  EXPECT_THAT(own.sentence, HasSubstr("(20 % ordered for this job)"));
}

// Few days of one job do not show a small share.
TEST(AnalogsExplain, SaysThatTheJobAloneCannotShowItsOrder) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  const auto sentence = [&](std::optional<double> order) {
    AnalogsRecommender r(fleet, nullptr, OomSettings(), AnalogJob{.day_start = 0, .order = order});
    FleetRows rows;
    for (int32_t day = kFirst; day < kFirst + 20; ++day) {
      r.StartDay(day);
      Use(r, day * kWindowsPerDay, kUsual);
      r.EndDay(day, rows);
    }
    r.StartDay(kFirst + 20);
    (void)r.Recommend(WindowId{(kFirst + 20) * kWindowsPerDay});
    return Explained(r).sentence;
  };
  EXPECT_THAT(sentence(0.01), HasSubstr("At this order 0.2 OOM-days are expected in 20 days: the job alone "
                                        "cannot show whether the order is kept"));
  EXPECT_THAT(sentence(0.2), Not(HasSubstr("cannot show"))) << "4 are expected";
  EXPECT_THAT(sentence({}), Not(HasSubstr("cannot show"))) << "no order of its own";
}

// The explanation refers to the limit in force, which a wrapper may have lowered.
TEST(AnalogsExplain, SpeaksOfTheLimitInForce) {
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  (void)r.Recommend(WindowId{LiveFirstDay(r)});
  Reason lowered;
  lowered.limit = 0.5 * kUsual;
  r.Explain(lowered);
  EXPECT_THAT(
      lowered.sentence,
      StartsWith(
          "Of 350 similar job-days in the fleet, 350 peaked above this limit; of the job's own last 1, 1."));
  EXPECT_NEAR(*lowered.chance, 1, 1e-6);
  EXPECT_EQ(lowered.limit, 0.5 * kUsual);
}

// The candidates are the least limits at several chances between 0.5 and 3 percent, with their costs.
TEST(AnalogsExplain, CandidatesAreTheLeastLimitsAtTheirChances) {
  AnalogSettings settings = AnalogsAtPrice(20 * kUsual);
  settings.max_overrun_chance = 0.5;
  settings.retrain_days = 100;
  const AnalogFleet fleet = SpreadFleet(settings);
  for (const uint32_t tasks : {1U, 2U}) {
    AnalogsRecommender r(fleet, nullptr, OomSettings());
    const double limit = *r.Recommend(WindowId{LiveFirstDay(r, kUsual, tasks)});
    const Reason reason = Explained(r);
    std::map<std::string, Candidate> named;
    for (const Candidate& c : reason.candidates) named[c.name] = c;
    int chances = 0;
    for (const double percent : {50.0, 20.0, 10.0, 5.0, 3.0, 1.0}) {
      const auto found = named.find(fmt::format("limit with a {:g} % chance", percent));
      if (found == named.end()) continue;  // omitted: the next lower chance has the same limit
      const Candidate& c = found->second;
      ++chances;
      const double chance = *r.OverrunChance(c.limit);
      EXPECT_LE(chance, percent / 100 + 1e-6);
      EXPECT_GT(*r.OverrunChance(c.limit * std::exp(-0.035)), percent / 100) << "lower would not do";
      EXPECT_NEAR(c.cost, c.limit + 20 * kUsual / tasks * chance, 1e-4 * kUsual) << percent;
      EXPECT_FALSE(c.chosen);
    }
    EXPECT_GE(chances, 5);
    EXPECT_EQ(named.count("limit with a 1 % chance"), 1U) << "the last of equals is said";
    EXPECT_TRUE(reason.candidates.back().chosen);
    EXPECT_EQ(reason.candidates.back().limit, limit);
    for (const Candidate& c : reason.candidates)
      EXPECT_GE(c.cost, reason.candidates.back().cost - 1) << c.name;
    ASSERT_EQ(reason.steps.size(), 1U);
    EXPECT_EQ(reason.steps[0].what, "least cost");
    EXPECT_EQ(reason.steps[0].after, limit);
  }
  // In a flat fleet all chances have one limit, and only the last chance is listed.
  const AnalogFleet flat = FlatFleet(Resource::kMemory, AnalogsAtPrice(kDear));
  AnalogsRecommender r(flat, nullptr, OomSettings());
  (void)r.Recommend(WindowId{LiveFirstDay(r)});
  const Reason reason = Explained(r);
  ASSERT_EQ(reason.candidates.size(), 2U);
  EXPECT_EQ(reason.candidates[0].name, "limit with a 1 % chance");
  EXPECT_NEAR(reason.candidates[0].limit, kUsual, 1);
}

// At a low price the cheapest limit is exceeded on half of the days, but only a tenth is allowed.
TEST(AnalogsExplain, TheStepFromTheLeastCostToWhatIsAllowed) {
  AnalogSettings settings = AnalogsAtPrice(0.1 * kUsual);
  settings.max_overrun_chance = 0.1;
  settings.retrain_days = 100;
  const AnalogFleet fleet = SpreadFleet(settings);
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  const double limit = *r.Recommend(WindowId{LiveFirstDay(r)});
  const Reason reason = Explained(r);
  ASSERT_EQ(reason.steps.size(), 2U);
  EXPECT_EQ(reason.steps[0].before, 0);
  EXPECT_LT(reason.steps[0].after, 0.9 * limit);
  EXPECT_EQ(reason.steps[1].before, reason.steps[0].after);
  EXPECT_EQ(reason.steps[1].after, limit);
  EXPECT_EQ(reason.steps[1].kind, "most_chance");
  EXPECT_EQ(reason.steps[1].what, "a chance of at most 10 %");
  EXPECT_EQ(reason.candidates.back().name, "least cost allowed: a chance of at most 10 %");
}

TEST(AnalogsExplain, ALimitThatWasKept) {
  AnalogSettings settings = AnalogsAtPrice(kDear);
  settings.keep = 0.5;
  const AnalogFleet fleet = FlatFleet(Resource::kMemory, settings);
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  int32_t start = LiveFirstDay(r);
  const auto kept = HasSubstr("; the limit before was close enough to the best to stay");
  EXPECT_THAT(Explained(r).sentence, Not(kept));
  FleetRows rows;
  Use(r, start, 0.9 * kUsual);
  EXPECT_NEAR(*r.Recommend(WindowId{start + 1}), 1.44 * kUsual, 1);
  const Reason raised = Explained(r);
  EXPECT_EQ(raised.why, "usage came within 20 % of the limit; raised until the next daily decision");
  EXPECT_EQ(raised.steps.back().kind, "raise");
  EXPECT_NEAR(raised.steps.back().before, kUsual, 1);
  EXPECT_NEAR(raised.steps.back().after, 1.44 * kUsual, 1);
  EXPECT_NEAR(*raised.limit, 1.44 * kUsual, 1);
  r.EndDay(kFirst + 1, rows);
  r.StartDay(kFirst + 2);
  start += kWindowsPerDay;
  const double limit = *r.Recommend(WindowId{start});
  EXPECT_NEAR(limit, 1.44 * kUsual, 1);
  const Reason reason = Explained(r);
  EXPECT_THAT(reason.sentence, kept);
  ASSERT_EQ(reason.steps.size(), 1U);
  EXPECT_EQ(reason.steps[0].kind, "kept");
  EXPECT_EQ(reason.steps[0].after, limit);
  Reason other;
  other.limit = 2 * kUsual;
  r.Explain(other);
  EXPECT_THAT(other.sentence, Not(kept)) << "of another limit that is not said";
  Use(r, start, 1.5 * kUsual);
  EXPECT_GT(*r.Recommend(WindowId{start + 1}), 1.5 * kUsual);
  EXPECT_EQ(Explained(r).why, "usage was above the limit; raised until the next daily decision");
}

// If a target share requires a high limit, the limit is bounded by 1.5 times the week's peak or by the owner's
// limit.
TEST(AnalogsExplain, AnOwnOrderAndItsBound) {
  AnalogSettings settings = AnalogsAtPrice(kDear);
  settings.keep = 0;
  settings.retrain_days = 100;
  const AnalogFleet fleet = SpreadFleet(settings);
  for (const double owner : {1.2, 10.0}) {
    AnalogsRecommender r(fleet, nullptr, OomSettings(), AnalogJob{.day_start = 0, .order = 0.001});
    const double limit = *r.Recommend(WindowId{LiveFirstDay(r, kUsual, 1, owner * kUsual)});
    const Reason reason = Explained(r);
    ASSERT_EQ(reason.steps.size(), owner < 2 ? 2U : 1U);
    EXPECT_EQ(reason.steps[0].what, "least limit at the job's order");
    EXPECT_EQ(reason.steps[0].before, 0);
    EXPECT_GT(reason.steps[0].after, 1.75 * kUsual) << "nearly all of the fleet's days are below 1.8 times";
    EXPECT_LT(reason.steps[0].after, 1.9 * kUsual);
    EXPECT_EQ(reason.steps.back().after, limit);
    EXPECT_EQ(reason.candidates.back().cost, limit) << "an order has no price";
    for (const Candidate& c : reason.candidates) EXPECT_EQ(c.cost, c.limit) << c.name;
    if (owner > 2) continue;
    EXPECT_NEAR(limit, 1.5 * kUsual, 1);
    EXPECT_EQ(reason.steps[1].kind, "upper_bound");
    EXPECT_EQ(reason.steps[1].before, reason.steps[0].after);
  }
}

TEST(AnalogsExplain, TheChanceOfALimitIsTheForecasts) {
  AnalogSettings settings = AnalogsAtPrice(kUsual);  // the limit of least cost is exceeded on one day in five
  settings.max_overrun_chance = 0.5;
  settings.retrain_days = 100;
  const AnalogFleet fleet = SpreadFleet(settings);
  AnalogsRecommender r(fleet, nullptr, OomSettings());
  EXPECT_EQ(r.OverrunChance(kUsual), std::nullopt);
  const double limit = *r.Recommend(WindowId{LiveFirstDay(r)});
  const double chance = *r.OverrunChance(limit);
  EXPECT_GT(chance, 0.05);
  for (const double near : {0.992, 1.008}) EXPECT_EQ(*r.OverrunChance(near * limit), chance) << "rounding";
  EXPECT_GT(*r.OverrunChance(0.96 * limit), chance);
  EXPECT_LT(*r.OverrunChance(1.04 * limit), chance);
  // The forecast mixes the fleet, which weighs 20 days with outcomes from 0 to 59 %, and the job's own day. The
  // own day weighs 2^(-1/10) and has no rise.
  const double level = AnalogLevel(Resource::kMemory);
  const double at_third = (kUsual + level) * std::exp(0.2) - level;
  EXPECT_NEAR(*r.OverrunChance(at_third), 20 * 39.0 / 60 / (20 + std::exp2(-0.1)), 0.04);
  EXPECT_LT(*r.OverrunChance(1e15), 1e-5);
}

// Without a forecast, the sentence has the reason and the fallback's own sentence.
TEST(AnalogsExplain, SaysWhatIsMissing) {
  const EnsembleConfig config{EnsembleSettings()};
  const auto said = [&](const AnalogFleet& fleet, bool with_fallback) {
    AnalogsRecommender r(fleet,
                         with_fallback
                             ? std::make_unique<EnsembleRecommender>(Resource::kMemory, config, OomSettings())
                             : nullptr,
                         OomSettings());
    const Reason reason = Explained(r);
    EXPECT_EQ(reason.recommender, "analogs");
    return reason.sentence;
  };
  AnalogSettings settings;
  settings.min_rows = 100;
  AnalogFleet fleet(Resource::kMemory, settings);
  const auto close = [&](int32_t day, size_t jobs) {
    FleetRows rows(jobs);
    for (FleetRow& row : rows) row.lesson = FleetLesson{.features = {}, .outcome = 0};
    fleet.CloseDay(day, rows);
  };
  close(0, 99);
  EXPECT_THAT(said(fleet, true),
              StartsWith("The fleet is too small to forecast from yet: it has 99 of the 100 days"));
  EXPECT_THAT(said(fleet, true), HasSubstr("; its stand-in says: No usage has been seen yet"));
  EXPECT_THAT(said(fleet, false), StartsWith("Nothing is known of the job or the fleet yet"));
  close(1, 1);
  EXPECT_THAT(said(fleet, true),
              StartsWith("The fleet is too young to forecast from: it has less than 7 days"));
}

}  // namespace
}  // namespace taut::brain
