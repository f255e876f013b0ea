#include "brain/economy/actuary.h"

#include <cmath>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
constexpr int64_t kDay = 288;
const double kNan = std::nan("");

Actuary Make(int64_t horizon, double promise, double capacity = 1) {
  ActuaryOptions options;
  options.capacity = capacity;
  options.horizon_steps = horizon;
  options.promise = promise;
  return *Actuary::Make(options);
}

TEST(Actuary, RejectsOptionsOutOfRangeWithTheValue) {
  const auto message = [](const ActuaryOptions& o) {
    const auto made = Actuary::Make(o);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(Message(made.status()));
  };
  ActuaryOptions o;
  o.promise = 1;
  EXPECT_THAT(message(o), HasSubstr("the promise is 1; allowed: 0.5 to 0.99999"));
  o = {};
  o.step_s = 7;
  EXPECT_THAT(message(o), HasSubstr("a step in seconds is 7"));
  o = {};
  o.horizon_steps = 0;
  EXPECT_THAT(message(o), HasSubstr("the horizon in steps is 0"));
  o = {};
  o.capacity = kNan;
  EXPECT_THAT(message(o), HasSubstr("the capacity is nan"));
  o = {};
  o.reclaim_steps = -1;
  EXPECT_THAT(message(o), HasSubstr("reclaim"));
  o = {};
  o.recover_days = 0;
  EXPECT_THAT(message(o), HasSubstr("recover_days"));
}

// The capacity is 100. With a probability of 99 %, 60 can be freed, and Batch can buy 60.
TEST(Actuary, SellsWhatIsFreeNinetyNineTimesOfAHundred) {
  Actuary actuary = Make(12, 0.99, 100);
  Rng rng(5);
  for (int64_t t = 0; t < 60 * kDay; ++t) {
    // Use is 55 in 3 of 1,000 steps, otherwise 40.
    actuary.Observe(100, rng.Uniform() < 0.003 ? 55 : 40);
  }
  const Quote quote = actuary.Ask();
  ASSERT_FALSE(quote.refused()) << Explain(quote, actuary.options());
  EXPECT_LE(quote.amount, 60.5);
  EXPECT_GE(quote.amount, 59.5);
}

// At 99.9 % only 45 are sold, because use is 55 in more than one of a thousand steps.
TEST(Actuary, AHigherPromiseSellsLess) {
  Actuary actuary = Make(12, 0.999, 100);
  Rng rng(5);
  for (int64_t t = 0; t < 60 * kDay; ++t) actuary.Observe(100, rng.Uniform() < 0.003 ? 55 : 40);
  const Quote quote = actuary.Ask();
  ASSERT_FALSE(quote.refused()) << Explain(quote, actuary.options());
  EXPECT_NEAR(quote.amount, 45, 1);
}

TEST(Actuary, RefusesWithoutEnoughIndependentSamples) {
  Actuary actuary = Make(12, 0.999);
  Rng rng(1);
  for (int64_t t = 0; t < 4 * kDay; ++t) actuary.Observe(1, rng.Uniform(0.3, 0.5));
  const Quote quote = actuary.Ask();
  EXPECT_EQ(quote.refusal, Refusal::kTooFewSamples);
  EXPECT_EQ(quote.amount, 0);
  EXPECT_EQ(quote.evidence.needed, 999);
  EXPECT_LT(quote.evidence.independent, 999);
  EXPECT_THAT(Explain(quote, actuary.options()), HasSubstr("not enough history for 99.9 %: "));
  EXPECT_THAT(Explain(quote, actuary.options()), HasSubstr("999 needed"));
}

TEST(Actuary, RefusesHorizonsThatWereNeverSeen) {
  Actuary actuary = Make(30 * kDay, 0.98);
  EXPECT_EQ(actuary.Ask().refusal, Refusal::kHorizonUnseen);
  Rng rng(1);
  for (int64_t t = 0; t < 30 * kDay; ++t) actuary.Observe(1, rng.Uniform(0.3, 0.5));
  EXPECT_EQ(actuary.Ask().refusal, Refusal::kHorizonUnseen);
  for (int64_t t = 0; t < 60 * kDay; ++t) actuary.Observe(1, rng.Uniform(0.3, 0.5));
  EXPECT_FALSE(actuary.Ask().refused()) << Explain(actuary.Ask(), actuary.options());
}

TEST(Actuary, AbsentIsNotZeroAndAnUnmeasuredDayIsRefused) {
  Actuary whole = Make(12, 0.98), holes = Make(12, 0.98);
  Rng rng(2), drop(3);
  for (int64_t t = 0; t < 20 * kDay; ++t) {
    const double use = rng.Uniform(0.4, 0.5);
    whole.Observe(1, use);
    holes.Observe(1, drop.Uniform() < 0.3 ? kNan : use);
  }
  ASSERT_FALSE(holes.Ask().refused());
  EXPECT_NEAR(holes.Ask().amount, whole.Ask().amount, 0.01);
  for (int64_t t = 0; t < kDay * 6 / 10; ++t) holes.Observe(1, kNan);
  EXPECT_EQ(holes.Ask().refusal, Refusal::kUnmeasured);
  EXPECT_TRUE(std::isnan(holes.available()));
  // Negative and infinite values also count as missing.
  whole.Observe(1, -1);
  EXPECT_TRUE(std::isnan(whole.available()));
  whole.Observe(INFINITY, 0.5);
  EXPECT_TRUE(std::isnan(whole.available()));
}

TEST(Actuary, PlannedUseAndAFullPool) {
  Actuary actuary = Make(12, 0.98);
  Rng rng(2);
  for (int64_t t = 0; t < 10 * kDay; ++t) actuary.Observe(1, rng.Uniform(0.4, 0.5));
  const double amount = actuary.Ask().amount;
  EXPECT_NEAR(actuary.Ask(0.1).amount, amount - 0.1, 1e-12);
  EXPECT_EQ(actuary.Ask(0.9).refusal, Refusal::kNothingLeft);
  EXPECT_EQ(actuary.Ask(0.9).amount, 0);
}

TEST(Actuary, ALossOfCapacityIsOfferedNoMore) {
  Actuary actuary = Make(12, 0.98);
  Rng rng(2);
  for (int64_t t = 0; t < 30 * kDay; ++t) actuary.Observe(1, rng.Uniform(0.4, 0.5));
  const double before = actuary.Ask().amount;
  actuary.Observe(0.8, 0.45);
  EXPECT_NEAR(actuary.Ask().amount, before - 0.2, 0.03);
}

struct Kept {
  double share = 0, sold = 0;  // kept share, and mean amount sold
};
// Sells an amount for every horizon from day `from` on. Returns the kept share and the mean amount.
Kept Sell(Actuary& actuary, const std::vector<double>& use, int64_t from) {
  double kept = 0, judged = 0, sold = 0, amount = -1;
  int64_t until = 0;
  for (int64_t t = 0; t < static_cast<int64_t>(use.size()); ++t) {
    if (t >= from * kDay && t >= until) {
      const Quote quote = actuary.Ask();
      amount = quote.refused() ? -1 : quote.amount;
      if (amount >= 0) actuary.Promised(amount);
      until = t + actuary.options().horizon_steps;
    }
    actuary.Observe(1, use[static_cast<size_t>(t)]);
    if (amount < 0) continue;
    ++judged;
    sold += amount;
    kept += actuary.available() >= amount ? 1 : 0;
  }
  return {kept / judged, sold / judged};
}

// Property: for any season, noise and growth, the promise is kept in the long run. The kept share exceeds the
// promise if most_risk does not allow the surplus to be used up.
TEST(Actuary, KeptTimeConvergesOnThePromise) {
  for (int seed = 1; seed <= Shortened(6); ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    const double daily = rng.Uniform(0, 0.08), weekend = rng.Uniform(0, 0.1), growth = rng.Uniform(0, 0.0008);
    const double noise = rng.Uniform(0.005, 0.03), keep = std::exp(-1 / (12 * rng.Uniform(0.2, 3)));
    std::vector<double> use;
    double wave = 0;
    for (int64_t t = 0; t < 150 * kDay; ++t) {
      const double day = static_cast<double>(t) / kDay;
      wave = keep * wave + std::sqrt(1 - keep * keep) * noise * rng.Normal();
      use.push_back(std::clamp(0.35 + growth * day - daily * std::cos(2 * M_PI * day) + wave -
                                   (static_cast<int64_t>(day) % 7 >= 5 ? weekend : 0),
                               0.0, 1.0));
    }
    for (const auto& [horizon, promise] :
         {std::pair{int64_t{12}, 0.98}, std::pair{kDay, 0.98}, std::pair{kDay, 0.99}}) {
      Actuary actuary = Make(horizon, promise);
      const Kept kept = Sell(actuary, use, 7);
      EXPECT_GE(kept.share, promise - 0.003) << "seed " << seed << ", horizon " << horizon;
      EXPECT_LE(kept.share, promise + 0.006) << "seed " << seed << ", horizon " << horizon;
      EXPECT_GT(kept.sold, 0.3) << "seed " << seed;
    }
  }
}

// The sold amount is available in the target share of the hours. Steps last an hour, as in a running pool, with a
// daily season and noise. The horizon is an hour or a day.
TEST(Actuary, KeepsPromisesInStepsOfAnHour) {
  for (const int64_t horizon : {1, 24}) {
    ActuaryOptions options;
    options.step_s = 3600;
    options.capacity = 100;
    options.horizon_steps = horizon;
    Actuary actuary = *Actuary::Make(options);
    Rng rng(11);
    double missed = 0, hours = 0, amounts = 0;
    Quote quote;
    for (int64_t t = 0; t < 100 * 24; ++t) {
      const double use = 50 + 20 * std::sin(6.283185 * static_cast<double>(t % 24) / 24) + 3 * rng.Normal();
      if (t >= 40 * 24 && t % horizon == 0) quote = actuary.Ask();
      if (t >= 40 * 24) {
        ASSERT_FALSE(quote.refused()) << Explain(quote, options);
        hours += 1;
        missed += 100 - use < quote.amount ? 1 : 0;
        amounts += quote.amount;
      }
      actuary.Observe(100, use);
    }
    EXPECT_NEAR(missed / hours, 0.02, 0.012) << horizon;
    // For an hour, the amount is 100 less the season and about two deviations. For a day, the highest hours of
    // the season determine the amount.
    EXPECT_GT(amounts / hours, horizon == 1 ? 38 : 22) << horizon;
  }
}

TEST(Actuary, PromisesWholeHorizons) {
  Rng rng(12);
  std::vector<double> use;
  for (int64_t t = 0; t < 200 * kDay; ++t)
    use.push_back(0.4 - 0.05 * std::cos(2 * M_PI * static_cast<double>(t) / kDay) + 0.02 * rng.Normal());
  ActuaryOptions options;
  options.of = PromiseOf::kHorizon;
  options.promise = 0.95;
  Actuary actuary = *Actuary::Make(options);
  int hours = 0, kept = 0;
  for (size_t t = 0; t < use.size();) {
    const Quote quote = actuary.Ask();
    if (!quote.refused()) actuary.Promised(quote.amount);
    bool whole = true;
    for (int i = 0; i < 12; ++i) {
      actuary.Observe(1, use[t++]);
      whole &= actuary.available() >= quote.amount;
    }
    if (quote.refused()) continue;
    ++hours;
    kept += whole ? 1 : 0;
  }
  EXPECT_GT(hours, 190 * 24);
  EXPECT_NEAR(static_cast<double>(kept) / hours, 0.95, 0.005);
  // With horizons of a day, too few horizons are complete.
  options.horizon_steps = kDay;
  options.promise = 0.999;
  Actuary days = *Actuary::Make(options);
  for (double u : use) days.Observe(1, u);
  EXPECT_EQ(days.Ask().refusal, Refusal::kTooFewSamples);
}

// After a rise of the load, the kept share returns to the promise.
TEST(Actuary, RecoversFromAJump) {
  Rng rng(4);
  std::vector<double> use;
  for (int64_t t = 0; t < 120 * kDay; ++t) use.push_back((t < 40 * kDay ? 0.3 : 0.4) + 0.02 * rng.Normal());
  Actuary actuary = Make(kDay, 0.98);
  EXPECT_NEAR(Sell(actuary, use, 7).share, 0.98, 0.005);
  EXPECT_NEAR(actuary.Ask().amount, 0.55, 0.03);
}

TEST(Actuary, IsDeterministic) {
  Actuary a = Make(kDay, 0.98), b = Make(kDay, 0.98);
  Rng one(9), two(9);
  for (int64_t t = 0; t < 20 * kDay; ++t) {
    a.Observe(1, one.Uniform(0.3, 0.6));
    b.Observe(1, two.Uniform(0.3, 0.6));
  }
  EXPECT_EQ(a.Ask().amount, b.Ask().amount);
  EXPECT_EQ(Explain(a.Ask(), a.options()), Explain(b.Ask(), b.options()));
}

TEST(Actuary, ExplainsWhatAQuoteIsFoundedOn) {
  Actuary actuary = Make(kDay, 0.98);
  Rng rng(9);
  for (int64_t t = 0; t < 30 * kDay; ++t) actuary.Observe(1, rng.Uniform(0.3, 0.6));
  const Quote quote = actuary.Ask();
  const std::string text = Explain(quote, actuary.options());
  EXPECT_THAT(text, HasSubstr("for 98 % of the time"));
  EXPECT_THAT(text, HasSubstr("30 days measured"));
  EXPECT_NEAR(quote.amount, 1 - quote.evidence.base - quote.evidence.margin, 1e-12);
}

// Every 10th step begins a burst of 2 steps. With a latency of 5 steps, the burst affects a running task in 7 of
// 10 steps, and a waiting task never.
TEST(ReclaimWindow, KeptIsTheLeastAndFreedTheMostOfTheWindow) {
  ReclaimWindow kept(5, ReclaimReading::kKept), freed(5, ReclaimReading::kFreed),
      none(0, ReclaimReading::kKept);
  int low = 0, high = 0, plain = 0;
  for (int t = 0; t < 100; ++t) {
    const double available = t % 10 < 2 ? 40 : 60;
    low += kept.Add(available) == 40 ? 1 : 0;
    high += freed.Add(available) == 60 ? 1 : 0;
    plain += none.Add(available) == 40 ? 1 : 0;
  }
  EXPECT_EQ(low, 70);
  EXPECT_EQ(high, 98);  // the first two steps have no earlier steps
  EXPECT_EQ(plain, 20);
  EXPECT_TRUE(std::isnan(kept.Add(kNan)));
}

TEST(ReclaimWindow, EqualsTheBruteForceMinimum) {
  Rng rng(6);
  for (int64_t steps : {0, 1, 2, 7, 50}) {
    ReclaimWindow window(steps, ReclaimReading::kKept);
    std::vector<double> past;
    for (int64_t t = 0; t < 500; ++t) {
      past.push_back(rng.Uniform() < 0.1 ? kNan : rng.Uniform());
      const double got = window.Add(past.back());
      if (std::isnan(past.back())) {
        EXPECT_TRUE(std::isnan(got));
        continue;
      }
      double least = past.back();
      for (int64_t i = std::max<int64_t>(0, t - steps); i <= t; ++i)
        least = std::fmin(least, past[static_cast<size_t>(i)]);
      EXPECT_EQ(got, least);
    }
  }
}

TEST(ErrorHistogram, LeavesTheShareAboveAndForgets) {
  ErrorHistogram errors(1, 100);
  for (int i = 1; i <= 10; ++i) errors.Add(i / 100.0);
  EXPECT_NEAR(errors.Quantile(0), 0.10, 1e-6);
  EXPECT_NEAR(errors.Quantile(0.1), 0.10, 0.0101);
  EXPECT_NEAR(errors.Quantile(0.15), 0.09, 1e-6);
  EXPECT_NEAR(errors.weight(), 10, 1e-9);
  errors.Age(100);
  EXPECT_NEAR(errors.weight(), 5, 1e-9);
  for (int i = 0; i < 100; ++i) errors.Age(50);  // the loop is long enough to rescale the counts
  errors.Add(-0.5);
  EXPECT_NEAR(errors.weight(), 1, 1e-9);
  EXPECT_NEAR(errors.Quantile(0.01), -0.5, 1e-6);
}

// 14 high steps at noon of each day are runs of 14. If all steps of one in 20 days are high, the day counts as
// little more than one sample.
TEST(TailDependence, CountsRunsAndDays) {
  TailDependence alternate(300), days(300), runs(300);
  Rng rng(8);
  for (int64_t t = 0; t < 100 * kDay; ++t) {
    alternate.Add(t, rng.Uniform() < 0.05);
    runs.Add(t, t % kDay >= 144 && t % kDay < 158);
    days.Add(t, t / kDay % 20 == 0);
  }
  EXPECT_LT(alternate.StepsPerSample(), 3);
  EXPECT_NEAR(runs.StepsPerSample(), 14, 1);
  EXPECT_GT(days.StepsPerSample(), 200);
  EXPECT_LE(days.StepsPerSample(), 288);
}

}  // namespace
}  // namespace taut::brain
