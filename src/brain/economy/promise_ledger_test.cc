#include "brain/economy/promise_ledger.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
constexpr int64_t kStep = 300, kHourOfSteps = 3600;

// 81 of 263 is an example of Newcombe (1998). The other values are computed from the formula.
TEST(Wilson, IsTheScoreInterval) {
  EXPECT_NEAR(WilsonInterval(0, 10).low, 0, 1e-12);
  EXPECT_NEAR(WilsonInterval(0, 10).high, 0.27753, 1e-4);
  EXPECT_NEAR(WilsonInterval(5, 10).low, 0.23659, 1e-4);
  EXPECT_NEAR(WilsonInterval(5, 10).high, 0.76341, 1e-4);
  EXPECT_NEAR(WilsonInterval(81, 263).low, 0.2553, 1e-4);
  EXPECT_NEAR(WilsonInterval(81, 263).high, 0.3662, 1e-4);
  EXPECT_EQ(WilsonInterval(0, 0).low, 0);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1);
}

TEST(PromiseLedger, HoldsAPromiseAgainstWhatWasAvailable) {
  PromiseLedger ledger(kStep);
  ASSERT_TRUE(ledger.Add({0, kHourOfSteps, 1, 60, 0.9}).ok());
  for (int64_t t = 0; t < 12; ++t) ASSERT_TRUE(ledger.Observe(t * kStep, 1, t == 3 ? 55 : 60).ok());
  const PromiseOutcome& o = ledger.outcomes()[0];
  EXPECT_TRUE(o.complete);
  EXPECT_EQ(o.measured, 12);
  EXPECT_EQ(o.missed, 1);
  EXPECT_EQ(o.worst, 55);
  EXPECT_TRUE(o.kept());  // 11 of 12 steps are kept
  ASSERT_TRUE(ledger.Add({kHourOfSteps, kHourOfSteps, 1, 60, 0.9}).ok());
  for (int64_t t = 12; t < 24; ++t)
    ASSERT_TRUE(ledger.Observe(t * kStep, 1, t < 14 ? 0 : t < 16 ? std::nan("") : 60).ok());
  EXPECT_EQ(ledger.outcomes()[1].measured, 10);
  EXPECT_FALSE(ledger.outcomes()[1].kept());  // 8 of 10 measured steps are kept
  const KeptSummary s = ledger.Summarize(1, 0.9);
  EXPECT_EQ(s.promises, 2);
  EXPECT_EQ(s.promises_kept, 1);
  EXPECT_EQ(s.steps, 22);
  EXPECT_EQ(s.missed_steps, 3);
  EXPECT_NEAR(s.kept_time, 19 / 22.0, 1e-12);
  EXPECT_EQ(s.verdict, PromiseVerdict::kUndecided);
  EXPECT_EQ(s.mean_amount, 60);
  EXPECT_EQ(s.amount_variation, 0);
  EXPECT_THAT(Explain(s, 0.9), HasSubstr("1 of 2 promises kept; promised 90 %: undecided"));
  EXPECT_EQ(ledger.Summarize(2, 0.9).promises, 0);
  EXPECT_THAT(Explain(ledger.Summarize(2, 0.9), 0.9), HasSubstr("no promise of 90 %"));
}

TEST(PromiseLedger, JudgesTiersApartAndLeavesOutWhatWasNotMeasured) {
  PromiseLedger ledger(kStep);
  ASSERT_TRUE(ledger.Add({0, kHourOfSteps, 1, 60, 0.9}).ok());
  ASSERT_TRUE(ledger.Add({0, kHourOfSteps, 2, 20, 0.9}).ok());
  ASSERT_TRUE(ledger.Add({0, kHourOfSteps, 3, 5, 0.9}).ok());
  for (int64_t t = 0; t < 12; ++t) {
    ASSERT_TRUE(ledger.Observe(t * kStep, 1, 70).ok());
    ASSERT_TRUE(ledger.Observe(t * kStep, 2, 10).ok());
    ASSERT_TRUE(ledger.Observe(t * kStep, 3, std::nan("")).ok());
  }
  EXPECT_EQ(ledger.Summarize(1, 0.9).kept_time, 1);
  EXPECT_EQ(ledger.Summarize(2, 0.9).kept_time, 0);
  EXPECT_EQ(ledger.Summarize(2, 0.9).steps, 12);
  EXPECT_EQ(ledger.Summarize(3, 0.9).unmeasured_promises, 1);
  EXPECT_EQ(ledger.Summarize(3, 0.9).promises, 0);
}

// A thousand hours suffice for a verdict at 90 %, both if all hours are kept and if half of them are missed.
TEST(PromiseLedger, DecidesWithEnoughSamples) {
  PromiseLedger ledger(kStep);
  for (int64_t h = 0; h < 1000; ++h) {
    ASSERT_TRUE(ledger.Add({h * kHourOfSteps, kHourOfSteps, 1, 60, 0.9}).ok());
    ASSERT_TRUE(ledger.Add({h * kHourOfSteps, kHourOfSteps, 2, 60, 0.9}).ok());
    for (int64_t t = 0; t < 12; ++t) {
      ASSERT_TRUE(ledger.Observe(h * kHourOfSteps + t * kStep, 1, h % 50 == 7 && t == 5 ? 0 : 60).ok());
      ASSERT_TRUE(ledger.Observe(h * kHourOfSteps + t * kStep, 2, h % 2 == 0 ? 0 : 60).ok());
    }
  }
  EXPECT_EQ(ledger.Summarize(1, 0.9).verdict, PromiseVerdict::kKept);
  EXPECT_EQ(ledger.Summarize(2, 0.9).verdict, PromiseVerdict::kBroken);
  const KeptSummary s = ledger.Summarize(1, 0.9);
  EXPECT_LE(s.time_interval.low, s.kept_time);
  EXPECT_GE(s.time_interval.high, s.kept_time);
  EXPECT_EQ(s.promises_kept, 1000);  // 11 of 12 steps are above 90 %
}

TEST(PromiseLedger, RejectsWhatIsOutOfRange) {
  PromiseLedger ledger(kStep);
  EXPECT_FALSE(ledger.Add({0, 10, 1, 60, 0.9}).ok());
  EXPECT_FALSE(ledger.Add({0, kHourOfSteps, 1, -1, 0.9}).ok());
  EXPECT_FALSE(ledger.Add({0, kHourOfSteps, 1, 1, 1}).ok());
  ASSERT_TRUE(ledger.Observe(600, 1, 5).ok());
  EXPECT_FALSE(ledger.Observe(600, 1, 5).ok());
  EXPECT_TRUE(ledger.Observe(600, 2, 5).ok());
  EXPECT_FALSE(ledger.Observe(300, 2, 5).ok());
  EXPECT_FALSE(ledger.Add({600, kHourOfSteps, 1, 1, 0.9}).ok());  // the start was already observed
  EXPECT_TRUE(ledger.Add({900, kHourOfSteps, 1, 1, 0.9}).ok());
}

// A loaded ledger continues like the saved ledger, even within a promise and a run of missed steps.
TEST(PromiseLedger, IsTheSameAfterItIsSavedAndLoaded) {
  PromiseLedger ledger(kStep);
  const auto observe = [](PromiseLedger& to, int64_t from, int64_t end) {
    for (int64_t t = from; t < end; ++t)
      ASSERT_TRUE(to.Observe(t * kStep, 1, t % 20 < 2 ? 50 : t == 17 ? std::nan("") : 70).ok());
  };
  ASSERT_TRUE(ledger.Add({0, kHourOfSteps, 1, 60, 0.9}).ok());
  ASSERT_TRUE(ledger.Add({kHourOfSteps, kHourOfSteps, 1, 60, 0.9}).ok());
  observe(ledger, 0, 21);
  std::string bytes;
  ByteWriter out(&bytes);
  ledger.Save(out);
  ByteReader in(bytes);
  absl::StatusOr<PromiseLedger> loaded = PromiseLedger::Load(in);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_FALSE(loaded->Observe(20 * kStep, 1, 70).ok()) << "that time was observed";
  for (PromiseLedger* each : {&ledger, &*loaded}) {
    observe(*each, 21, 24);
    const KeptSummary s = each->Summarize(1, 0.9);
    EXPECT_EQ(s.promises, 2);
    EXPECT_EQ(s.steps, 23);
    EXPECT_EQ(s.missed_steps, 4);
    EXPECT_EQ(s.run_steps, (4 + 12) / 3.0) << "the steps 0 and 1, and 20 and 21, and a run as a prior";
  }
}

TEST(PromiseLedger, RefusesWhatNoLedgerWrote) {
  PromiseLedger ledger(kStep);
  ASSERT_TRUE(ledger.Add({0, kHourOfSteps, 1, 60, 0.9}).ok());
  std::string bytes;
  ByteWriter out(&bytes);
  ledger.Save(out);
  for (size_t n = 0; n < bytes.size(); ++n) {
    ByteReader in(std::string_view(bytes).substr(0, n));
    EXPECT_FALSE(PromiseLedger::Load(in).ok()) << n;
  }
  std::string other = bytes;
  other[0] = 0;
  other[1] = 0;  // a step of 0 seconds
  ByteReader in(other);
  EXPECT_EQ(PromiseLedger::Load(in).status().code(), absl::StatusCode::kDataLoss);
}

TEST(PromiseLedger, ForgetsOldPromisesWithTheirRuns) {
  PromiseLedger ledger(kStep);
  for (int64_t hour = 0; hour < 3; ++hour) {
    ASSERT_TRUE(ledger.Add({hour * kHourOfSteps, kHourOfSteps, 1, 60, 0.9}).ok());
    for (int64_t t = 12 * hour; t < 12 * hour + 12; ++t)
      ASSERT_TRUE(ledger.Observe(t * kStep, 1, hour == 0 && t % 4 == 0 ? 50 : 70).ok());
  }
  EXPECT_EQ(ledger.Summarize(1, 0.9).missed_steps, 3);
  ledger.ForgetBefore(kHourOfSteps - 1);
  EXPECT_EQ(ledger.outcomes().size(), 3U) << "the first one ended later";
  ledger.ForgetBefore(kHourOfSteps);
  const KeptSummary s = ledger.Summarize(1, 0.9);
  EXPECT_EQ(s.promises, 2);
  EXPECT_EQ(s.missed_steps, 0);
  EXPECT_EQ(s.run_steps, 12) << "the prior alone";
}

TEST(PromiseLedger, GoesOnFromATimeThatTheClockWasSetBackTo) {
  PromiseLedger ledger(kStep);
  for (int64_t hour = 0; hour < 3; ++hour) {
    ASSERT_TRUE(ledger.Add({hour * kHourOfSteps, kHourOfSteps, 1, 60, 0.9}).ok());
    for (int64_t t = 12 * hour; t < 12 * hour + 12; ++t) ASSERT_TRUE(ledger.Observe(t * kStep, 1, 70).ok());
  }
  ledger.SetBack(kHourOfSteps);
  ASSERT_EQ(ledger.outcomes().size(), 1U);
  ASSERT_TRUE(ledger.Add({kHourOfSteps, kHourOfSteps, 1, 60, 0.9}).ok());
  for (int64_t t = 12; t < 24; ++t) ASSERT_TRUE(ledger.Observe(t * kStep, 1, 50).ok()) << t;
  EXPECT_EQ(ledger.Summarize(1, 0.9).promises_kept, 1);
  EXPECT_EQ(ledger.Summarize(1, 0.9).promises, 2);
}

}  // namespace
}  // namespace taut::brain
