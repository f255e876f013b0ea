// Tests that copying, saving and loading ensembles changes nothing, and that impossible states are rejected.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "brain/recommend/ensemble.h"
#include "brain/recommend/made_signal.h"
#include "brain/recommend/wrappers.h"
#include "common/base/random.h"
#include "common/histogram/decay_bank.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

EnsembleSettings ThreeRates() {
  EnsembleSettings s;
  s.half_lives_s = {1 * kHour, 6 * kHour, 48 * kHour};
  s.margins = {0, 0.05, 0.15};
  s.min_history_s = 0;
  s.score_half_life_s = 12 * kHour;
  return s;
}
std::string SavedEnsemble(const EnsembleRecommender& r) {
  std::string bytes;
  ByteWriter out(&bytes);
  r.Save(out);
  return bytes;
}
std::string ReasonOf(const EnsembleRecommender& r) {
  Reason reason;
  r.Explain(reason);
  return SaveReason(reason);
}

// Simulates days of usage with kills, gaps and changing levels. `broken` is copied or loaded after every third
// window.
void LiveBroken(Resource resource, const EnsembleSettings& settings, bool copied) {
  const EnsembleConfig config(settings);
  constexpr double kFactor = 3;
  EnsembleRecommender straight(resource, config, OomSettings(), kFactor);
  auto broken = std::make_unique<EnsembleRecommender>(resource, config, OomSettings(), kFactor);
  Rng rng(7);
  const double unit = resource == Resource::kCpu ? 1 : 1000 * kMiB;
  double level = 1;
  int32_t w = 500;
  for (int i = 0; i < 400; ++i) {
    w += rng.Below(20) == 0 ? 100 : 1;
    if (rng.Below(40) == 0) level = rng.Uniform(0.5, 2);
    const double usage = unit * level * std::exp(0.1 * rng.Normal());
    straight.Observe(MadeSignal(resource, w, usage));
    broken->Observe(MadeSignal(resource, w, usage));
    if (rng.Below(50) == 0) {
      straight.ObserveOom({WindowId{w}, 0, usage});
      broken->ObserveOom({WindowId{w}, 0, usage});
    }
    ASSERT_EQ(broken->Recommend(WindowId{w + 1}), straight.Recommend(WindowId{w + 1})) << i;
    if (i % 3 != 0) continue;
    const std::string bytes = SavedEnsemble(*broken);
    if (copied) {
      std::unique_ptr<Recommender> copy = broken->Clone();
      broken.reset(static_cast<EnsembleRecommender*>(copy.release()));
    } else {
      broken = std::make_unique<EnsembleRecommender>(resource, config, OomSettings(), kFactor);
      ByteReader in(bytes);
      ASSERT_TRUE(broken->Load(in).ok());
      ASSERT_EQ(in.remaining(), 0U);
    }
    ASSERT_EQ(SavedEnsemble(*broken), bytes);
    ASSERT_EQ(ReasonOf(*broken), ReasonOf(straight));
    ASSERT_EQ(broken->Recommend(WindowId{w + 1}), straight.Recommend(WindowId{w + 1})) << i;
  }
}

TEST(EnsembleState, ACopyAndACheckpointGoOn) {
  for (const Resource resource : {Resource::kCpu, Resource::kMemory}) {
    for (const EnsembleCost cost : {EnsembleCost::kPaper, EnsembleCost::kSlack}) {
      EnsembleSettings s = ThreeRates();
      s.cost = cost;
      s.min_history_s = cost == EnsembleCost::kPaper ? kDay : 0;
      s.w_over = 20;
      s.cpu_w_over = 5;
      LiveBroken(resource, s, true);
      LiveBroken(resource, s, false);
    }
  }
}

TEST(EnsembleState, RefusesEachFigureThatCannotBe) {
  const EnsembleConfig config(ThreeRates());
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  for (int32_t w = 0; w < 20; ++w) r.Observe(MadeSignal(Resource::kMemory, w, 1000 * kMiB));
  const std::string bytes = SavedEnsemble(r);
  EnsembleRecommender other(Resource::kMemory, config, OomSettings());
  const auto load = [&](const std::string& state) {
    ByteReader in(state);
    return other.Load(in).code();
  };
  for (size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_EQ(load(bytes.substr(0, cut)), absl::StatusCode::kDataLoss) << cut;
  // Offsets of fields from the end of the state: three counts, nine scores, two figures, three rates' limits, the
  // current model, the flag of a limit, and the mean usage.
  constexpr size_t kLast = 8, kFirst = 12, kScores = kFirst + 4 * 9, kScoreWeight = kScores + 8,
                   kLimit = kScoreWeight + 8, kRateLimits = kLimit + 2 * 3, kModel = kRateLimits + 2,
                   kHasLimit = kModel + 1, kUsage = kHasLimit + 20;
  const auto with = [&](size_t from_the_end, auto value) {
    std::string damaged = bytes;
    std::memcpy(damaged.data() + bytes.size() - from_the_end, &value, sizeof(value));
    return load(damaged);
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr auto kLoss = absl::StatusCode::kDataLoss;
  for (const size_t at : {kLast, kFirst}) {
    EXPECT_EQ(with(at, INT32_MAX), kLoss) << at;
    EXPECT_EQ(with(at, INT32_MIN), kLoss) << at;
  }
  for (size_t m = 0; m < 9; ++m) {
    EXPECT_EQ(with(kScores - 4 * m, 0.5F), absl::StatusCode::kOk) << m;
    EXPECT_EQ(with(kScores - 4 * m, std::numeric_limits<float>::quiet_NaN()), kLoss) << m;
    EXPECT_EQ(with(kScores - 4 * m, -1.0F), kLoss) << m;
  }
  for (const size_t at : {kScoreWeight, kLimit, kUsage}) {
    EXPECT_EQ(with(at, 0.5), absl::StatusCode::kOk) << at;
    EXPECT_EQ(with(at, kNan), kLoss) << at;
    EXPECT_EQ(with(at, -1.0), kLoss) << at;
  }
  const auto buckets = static_cast<uint16_t>(Grid::Memory().size());
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(with(kRateLimits - 2 * d, static_cast<uint16_t>(buckets - 1)), absl::StatusCode::kOk) << d;
    EXPECT_EQ(with(kRateLimits - 2 * d, buckets), kLoss) << d;
    EXPECT_EQ(with(kRateLimits - 2 * d, uint16_t{0xffff}), kLoss) << d << ": none, though there is a limit";
  }
  EXPECT_EQ(with(kModel, uint16_t{8}), absl::StatusCode::kOk);
  EXPECT_EQ(with(kModel, uint16_t{9}), kLoss) << "models are 0 to 8";
  EXPECT_EQ(with(kHasLimit, uint8_t{0}), absl::StatusCode::kOk);
  EXPECT_FALSE(other.Recommend(WindowId{20}).has_value());
  // An ensemble without usage can be saved, too.
  const EnsembleRecommender fresh(Resource::kMemory, config, OomSettings());
  EXPECT_EQ(load(SavedEnsemble(fresh)), absl::StatusCode::kOk);
}

// A bucket that only the grid of CPU contains is not a valid state for memory, and vice versa.
TEST(EnsembleState, RefusesBucketsThatTheGridHasNot) {
  const bool cpu_is_larger = Grid::Cpu().size() > Grid::Memory().size();
  const Resource larger = cpu_is_larger ? Resource::kCpu : Resource::kMemory;
  const Resource smaller = cpu_is_larger ? Resource::kMemory : Resource::kCpu;
  ASSERT_GT(GridOf(larger).size(), GridOf(smaller).size());
  const EnsembleConfig config(ThreeRates());
  for (const int above : {-1, 0}) {
    // The single high sample does not determine the limits, so only the bank has the high bucket.
    EnsembleRecommender r(larger, config, OomSettings());
    const auto top = static_cast<Bucket>(GridOf(smaller).size() + above);
    for (int32_t w = 0; w < 1000; ++w)
      r.Observe(MadeSignal(larger, w,
                           MadeSignal::AtBuckets{w == 0 ? std::map<Bucket, double>{{10, 1}, {top, 1}}
                                                        : std::map<Bucket, double>{{10, 1}}}));
    const std::string bytes = SavedEnsemble(r);
    EnsembleRecommender other(smaller, config, OomSettings());
    ByteReader in(bytes);
    EXPECT_EQ(other.Load(in).ok(), above < 0);
  }
}

TEST(EnsembleState, CountsItsBytes) {
  const EnsembleConfig config(ThreeRates());
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  DecayBank bank(config.rates());
  const size_t scores = 9 * sizeof(float);
  EXPECT_EQ(r.state_bytes(), sizeof(r) + (bank.state_bytes() - sizeof(bank)) + scores);
  for (int32_t w = 0; w < 30; ++w) {
    const MadeSignal signal(Resource::kMemory, w, (100 + 40 * w) * kMiB);
    r.Observe(signal);
    bank.Step(w == 0 ? 0 : 1, signal.get().buckets);
  }
  EXPECT_GT(bank.state_bytes(), sizeof(bank)) << "thirty buckets take some";
  EXPECT_EQ(r.state_bytes(), sizeof(r) + (bank.state_bytes() - sizeof(bank)) + scores);
}

// A job's age counts from a kill that precedes all measurements.
TEST(EnsembleState, AKillMayBeTheFirstThatIsKnown) {
  EnsembleSettings s = ThreeRates();
  s.min_history_s = kDay;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  r.ObserveOom({WindowId{100}, 0, 1000 * kMiB});
  const double need = Grid::Memory().UpperBound(Grid::Memory().BucketOf(OomBump(1000 * kMiB, OomSettings())));
  EXPECT_FALSE(r.Recommend(WindowId{100 + kWindowsPerDay - 1}).has_value());
  EXPECT_GE(r.Recommend(WindowId{100 + kWindowsPerDay}).value(), need);
  r.Observe(MadeSignal(Resource::kMemory, 101, 100 * kMiB));
  EXPECT_FALSE(r.Recommend(WindowId{100 + kWindowsPerDay - 1}).has_value());
  EXPECT_TRUE(r.Recommend(WindowId{100 + kWindowsPerDay}).has_value());
}

// With one model and equal windows, each window costs 1 minus the share above the limit. The first window is not
// judged, and the mean is unbiased from the second window on.
TEST(EnsembleState, ExplainsWithTheMeanCostOfAWindow) {
  EnsembleSettings s;
  s.half_lives_s = {6 * kHour};
  s.margins = {0.05};
  s.cost = EnsembleCost::kPaper;
  s.w_over = 1000;
  s.min_history_s = 0;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  for (int32_t w = 0; w < 5; ++w) {
    r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{{{100, 0.9}, {180, 0.1}}}));
    Reason reason;
    r.Explain(reason);
    ASSERT_EQ(reason.candidates.size(), 1U);
    EXPECT_EQ(reason.candidates[0].name, "half-life 6 h, margin 5 %");
    EXPECT_DOUBLE_EQ(reason.candidates[0].limit, 1.05 * Grid::Memory().UpperBound(180));
    // All samples are below the limit, because the margin raises the limit above the sample's bucket.
    EXPECT_NEAR(reason.candidates[0].cost, w == 0 ? 0 : 1, 1e-6) << w;
    EXPECT_TRUE(reason.candidates[0].chosen);
    EXPECT_THAT(reason.sentence, ::testing::HasSubstr(w == 0 ? "(0 a window" : "(1 a window"));
    ASSERT_EQ(reason.steps.size(), 2U);
    EXPECT_DOUBLE_EQ(reason.steps[0].after, Grid::Memory().UpperBound(180));
    EXPECT_EQ(reason.steps[1].before, reason.steps[0].after);
  }
}

// Two limits have equal cost by equation (6): half of the samples are above the lower limit, and half are below
// the higher limit.
TEST(EnsembleState, OfLimitsAtTheSameCostTheLeastIsTaken) {
  EnsembleSettings s = ThreeRates();
  s.half_lives_s = {6 * kHour};
  s.margins = {0};
  s.cost = EnsembleCost::kPaper;
  s.w_over = 1;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  r.Observe(MadeSignal(Resource::kMemory, 0, MadeSignal::AtBuckets{{{100, 1}, {180, 1}}}));
  EXPECT_EQ(r.Recommend(WindowId{1}), Grid::Memory().UpperBound(100));
}

EnsembleSettings OneRate() {
  EnsembleSettings s = ThreeRates();
  s.half_lives_s = {168 * kHour};
  s.cost = EnsembleCost::kPaper;
  s.w_over = 1000;
  s.score_half_life_s = 300;  // half-life in seconds; the last window has half of the weight
  return s;
}
// Observes windows with all usage at bucket 100.
void ObserveAt100(EnsembleRecommender& r, int32_t windows) {
  for (int32_t w = 0; w < windows; ++w)
    r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{{{100, 1}}}));
}
const double kAt100 = Grid::Memory().UpperBound(100);

// Formula (6) of ensemble.h keeps the current limit if no limit is cheaper. Here slack is free (w_under = 0), so
// long after the burst the high limit costs as much as a lower limit.
TEST(EnsembleState, OfLimitsAtTheSameCostTheOneInForceStays) {
  EnsembleSettings s = OneRate();
  s.half_lives_s = {1 * kHour};
  s.margins = {0};
  s.w_under = 0;
  s.w_limit_change = 0;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  r.Observe(MadeSignal(Resource::kMemory, 0, MadeSignal::AtBuckets{{{180, 1}}}));
  for (int32_t w = 1; w < 1000; ++w)
    r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{{{100, 1}}}));
  EXPECT_EQ(r.Recommend(WindowId{1000}), Grid::Memory().UpperBound(180));
}

// The lowest bucket is a valid limit: it stays if a change costs more than the overruns.
TEST(EnsembleState, TheLowestLimitStaysToo) {
  EnsembleSettings s = OneRate();
  s.margins = {0};
  s.w_over = 1;
  s.w_limit_change = 10;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  r.Observe(MadeSignal(Resource::kMemory, 0, MadeSignal::AtBuckets{{{0, 1}}}));
  for (int32_t w = 1; w < 5; ++w)
    r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{{{100, 1}}}));
  EXPECT_EQ(r.Recommend(WindowId{5}), Grid::Memory().UpperBound(0));
}

// (9), A13: of two other models with equal cost, the model with the smaller change of the limit is chosen.
// Bucket 101 is 4.4 % above bucket 100, so margins of 5 % and 15 % both cover bucket 101.
TEST(EnsembleState, OfModelsAtTheSameCostTheNearerLimitIsTaken) {
  EnsembleSettings s = OneRate();
  s.margins = {0, 0.15, 0.05};
  s.w_limit_change = 100;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  ObserveAt100(r, 100);
  EXPECT_EQ(r.Recommend(WindowId{100}), kAt100);
  r.Observe(MadeSignal(Resource::kMemory, 100, MadeSignal::AtBuckets{{{100, 1}, {101, 1}}}));
  EXPECT_DOUBLE_EQ(r.Recommend(WindowId{101}).value(), 1.05 * kAt100);
}

// The current model's recent cost is 1.5 per window (half of 2 and a quarter of 2), the other model's cost is 1.
// At a price of 2.5, the difference does not justify a change.
TEST(EnsembleState, SaysWhyAModelStaysInCharge) {
  EnsembleSettings s = OneRate();
  s.margins = {0, 0.05};
  s.w_limit_change = 2;
  s.w_model_change = 0.5;
  const EnsembleConfig config(s);
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  ObserveAt100(r, 100);
  for (int32_t w = 100; w < 102; ++w)
    r.Observe(MadeSignal(Resource::kMemory, w, MadeSignal::AtBuckets{{{100, 0.998}, {101, 0.002}}}));
  EXPECT_EQ(r.Recommend(WindowId{102}), kAt100);
  Reason reason;
  r.Explain(reason);
  EXPECT_THAT(reason.sentence,
              ::testing::HasSubstr("stays in charge: the best other has cost 0.5 a window less"));
  EXPECT_THAT(reason.sentence, ::testing::EndsWith("changing over is priced at up to 2.5."));
}

// An explanation shows eight of nine models, including the cheapest model and the current model.
TEST(EnsembleState, ShowsEightModels) {
  const EnsembleConfig config(ThreeRates());
  EnsembleRecommender r(Resource::kMemory, config, OomSettings());
  for (int32_t w = 0; w < 50; ++w) r.Observe(MadeSignal(Resource::kMemory, w, 1000 * kMiB));
  Reason reason;
  r.Explain(reason);
  ASSERT_EQ(reason.candidates.size(), 8U);
  EXPECT_TRUE(reason.candidates[0].chosen);
  for (size_t i = 1; i < 8; ++i) EXPECT_GE(reason.candidates[i].cost, reason.candidates[i - 1].cost) << i;
}

}  // namespace
}  // namespace taut::brain
