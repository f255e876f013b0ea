// Tests of margin, hold, OOM floor, rounding and bounds, each alone and all together.
#include "brain/recommend/wrappers.h"

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "brain/recommend/puppet_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using Stage = PuppetStage;

// "10-15 %, less for large limits" (Autopilot §3.2.2): 15 % at and below the small limit, 10 % at and above the
// large limit.
TEST(MarginSchedule, RunsFromFifteenToTenPercent) {
  for (Resource r : kResources) {
    const MarginSchedule m = MarginSchedule::For(r);
    EXPECT_EQ(m.At(m.small_limit), 0.15);
    EXPECT_EQ(m.At(m.small_limit / 100), 0.15);
    EXPECT_EQ(m.At(m.large_limit), 0.10);
    EXPECT_EQ(m.At(m.large_limit * 100), 0.10);
    EXPECT_NEAR(m.At(std::sqrt(m.small_limit * m.large_limit)), 0.125, 1e-12);
  }
}

RC_GTEST_PROP(MarginSchedule, TheLimitGrowsWithTheStatistic, ()) {
  const MarginSchedule m = MarginSchedule::For(*rc::gen::element(Resource::kCpu, Resource::kMemory));
  const auto at = [&] {
    return std::exp(std::log(m.large_limit * 4 / m.small_limit) * *rc::gen::inRange(0, 1'000'000) / 1e6) *
           m.small_limit / 2;
  };
  const double a = at(), b = at();
  RC_PRE(a < b);
  RC_ASSERT(m.At(a) >= m.At(b));
  RC_ASSERT(a * (1 + m.At(a)) < b * (1 + m.At(b)));
}

TEST(WithMargin, MultipliesByTheScheduleTimesTheScale) {
  for (double scale : {0.0, 0.5, 1.0}) {
    Stage stage;
    const auto r = WithMargin(stage.puppet(), MarginSchedule::For(Resource::kCpu), scale);
    EXPECT_FALSE(r->Recommend(WindowId{0}).has_value());
    *stage.says = 0.5;
    EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{1}), 0.5 * (1 + 0.15 * scale));
    *stage.says = 100.0;
    EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{2}), 100 * (1 + 0.10 * scale));
  }
}

// Autopilot §3.2.2: the highest recommendation of the last hour (12 windows) is used.
TEST(WithHold, HoldsAnHour) {
  Stage stage;
  const auto r = WithHold(stage.puppet(), 12);
  *stage.says = 5.0;
  EXPECT_EQ(r->Recommend(WindowId{100}), 5);
  *stage.says = 3.0;
  for (int32_t w = 101; w < 112; ++w) ASSERT_EQ(r->Recommend(WindowId{w}), 5) << w;
  EXPECT_EQ(r->Recommend(WindowId{112}), 3);
}

TEST(WithHold, KeepsAValueToTheLastDigit) {
  Stage stage;
  const auto r = WithHold(stage.puppet(), 12);
  for (double v : {0.1, 0.3, 1e9 + 0.3}) {
    *stage.says = v;
    EXPECT_EQ(r->Recommend(WindowId{0}), v);
    Reason reason;
    r->Explain(reason);
    EXPECT_EQ(reason.steps.size(), 1U) << "nothing was held";
    *stage.says = v / 2;
    EXPECT_EQ(r->Recommend(WindowId{1}), v);
  }
}

RC_GTEST_PROP(WithHold, IsTheMaximumOfTheLastWindows, ()) {
  const int windows = *rc::gen::inRange(1, kMaxHoldWindows + 1);
  const auto gaps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  Stage stage;
  const auto r = WithHold(stage.puppet(), windows);
  std::vector<std::pair<int32_t, double>> said;
  int32_t w = 0;
  for (int gap : gaps) {
    w += gap;
    const double v = *rc::gen::inRange(1, 1000) / 7.0;
    // A second call for a window replaces the first call; the value does not fall, because an OOM kill only
    // raises it.
    if (!said.empty() && said.back().first == w) {
      said.back().second = std::max(said.back().second, v);
    } else {
      said.emplace_back(w, v);
    }
    *stage.says = said.back().second;
    double expected = 0;
    for (const auto& [at, value] : said) expected = at > w - windows ? std::max(expected, value) : expected;
    RC_ASSERT(*r->Recommend(WindowId{w}) == expected);
  }
}

// docs/references.md, C6: a restart restores the held recommendations.
TEST(WithHold, GoesOnWithWhatItHeldAfterARestart) {
  Stage stage;
  const auto before = WithHold(stage.puppet(), 12), after = WithHold(stage.puppet(), 12);
  for (const auto& [window, value] : {std::pair(100, 5.0), {104, 4.0}, {106, 3.0}}) {
    *stage.says = value;
    before->Recommend(WindowId{window});
  }
  std::string bytes;
  ByteWriter out(&bytes);
  before->Save(out);
  ByteReader in(bytes);
  ASSERT_TRUE(after->Load(in).ok());
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(after->Recommend(WindowId{111}), 5);
  EXPECT_EQ(after->Recommend(WindowId{112}), 4);
  EXPECT_EQ(after->Recommend(WindowId{116}), 3);
}

TEST(WithHold, RefusesWhatIsNoFallingSequence) {
  const auto loads = [](const std::vector<std::pair<int32_t, double>>& held) {
    Stage stage;
    std::string bytes;
    ByteWriter out(&bytes);
    out.PutVarint(held.size());
    for (const auto& [window, limit] : held) {
      out.Put(window);
      out.Put(limit);
    }
    ByteReader in(bytes);
    return WithHold(stage.puppet(), 12)->Load(in).ok();
  };
  EXPECT_TRUE(loads({}));
  EXPECT_TRUE(loads({{100, 5.0}, {104, 4.0}}));
  EXPECT_FALSE(loads({{100, 5.0}, {104, 5.0}})) << "the later one stands for both";
  EXPECT_FALSE(loads({{100, 5.0}, {104, 6.0}}));
  EXPECT_FALSE(loads({{100, 5.0}, {100, 4.0}}));
  EXPECT_FALSE(loads({{100, std::nan("")}}));
  EXPECT_FALSE(loads({{100, -1.0}, {104, -2.0}}));
  EXPECT_FALSE(loads({{100, -1.0}}));
}

TEST(OomBump, IsAFifthOrAHundredMebibytes) {
  EXPECT_EQ(OomBump(100 * kMiB, OomSettings()), 200 * kMiB);
  EXPECT_DOUBLE_EQ(OomBump(500 * kMiB, OomSettings()), 600 * kMiB);
  EXPECT_DOUBLE_EQ(OomBump(1000 * kMiB, OomSettings()), 1200 * kMiB);
}

TEST(WithOomFloor, HoldsTheBumpedLimitForItsTime) {
  Stage stage;
  OomSettings oom;
  oom.hold_s = kHour;
  const auto r = WithOomFloor(stage.puppet(), oom);
  EXPECT_FALSE(r->Recommend(WindowId{10}).has_value());
  r->ObserveOom({WindowId{10}, 0, 1000 * kMiB});
  // the floor applies without a recommendation of `inner`
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{11}), 1200 * kMiB);
  *stage.says = 500 * kMiB;
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{21}), 1200 * kMiB);
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{22}), 500 * kMiB);
}

TEST(WithOomFloor, IsAFloorOnlyAndTakesTheHigher) {
  Stage stage;
  const auto r = WithOomFloor(stage.puppet(), OomSettings());
  *stage.says = 5000 * kMiB;
  r->ObserveOom({WindowId{0}, 0, 1000 * kMiB});
  EXPECT_EQ(r->Recommend(WindowId{1}), 5000 * kMiB);
  *stage.says = 100 * kMiB;
  r->ObserveOom({WindowId{1}, 0, 200 * kMiB});  // another task was killed at a lower limit
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{2}), 1200 * kMiB);
  r->ObserveOom({WindowId{20}, 0, 1200 * kMiB});
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{21}), 1440 * kMiB);
}

TEST(WithOomFloor, AnotherKillAtTheSameLimitHoldsFromThen) {
  OomSettings settings;
  const auto hold = static_cast<int32_t>(settings.hold_s / kWindowSeconds);
  Stage stage;
  const auto r = WithOomFloor(stage.puppet(), settings);
  *stage.says = 1.0;
  OomEvent event;
  event.limit = 1e9;
  for (const int32_t window : {1000, 1100}) {
    event.window = WindowId{window};
    r->ObserveOom(event);
  }
  EXPECT_EQ(r->Recommend(WindowId{1100 + hold - 1}), OomBump(1e9, settings));
  EXPECT_EQ(r->Recommend(WindowId{1100 + hold}), 1.0);
}

TEST(WithOomFloor, KilledAgainWithinAnHourItTakesTwoSteps) {
  Stage stage;
  const auto r = WithOomFloor(stage.puppet(), OomSettings());
  *stage.says = 100 * kMiB;
  r->ObserveOom({WindowId{0}, 0, 1000 * kMiB});
  r->ObserveOom({WindowId{0}, 1, 1000 * kMiB});  // another task was killed at an equal limit
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{1}), 1200 * kMiB);
  r->ObserveOom({WindowId{5}, 0, 1200 * kMiB});
  EXPECT_DOUBLE_EQ(*r->Recommend(WindowId{6}), 1728 * kMiB);
  r->ObserveOom({WindowId{30}, 0, 1728 * kMiB});
  EXPECT_NEAR(*r->Recommend(WindowId{31}), 1.2 * 1728 * kMiB, 1);
}

TEST(WithBounds, RoundsUpAndMultiplesStay) {
  Stage stage;
  BoundSettings b;
  b.granularity = 0.001;
  const auto r = WithBounds(stage.puppet(), b);
  for (int milli = 1; milli < 5000; ++milli) {
    *stage.says = milli / 1000.0;
    ASSERT_NEAR(*r->Recommend(WindowId{milli}), milli / 1000.0, 1e-12);
  }
  *stage.says = 0.0101;
  EXPECT_NEAR(*r->Recommend(WindowId{0}), 0.011, 1e-12);
}

TEST(WithBounds, NamesWhoseBoundItIs) {
  BoundSettings own;
  own.lower = 0.2;
  own.upper = 6;
  own.granularity = 0.1;
  const AllowedRange cluster{0.5, 4.25, "LimitRange small", "the largest node"};
  const BoundSettings both = own.Within(cluster);
  EXPECT_EQ(both.lower, 0.5);
  EXPECT_NEAR(*both.upper, 4.2, 1e-9) << "the next multiple would be above it";
  for (const auto& [says, limit, what] : {std::tuple(9.0, 4.2, "upper bound by the largest node"),
                                          std::tuple(0.1, 0.5, "lower bound by LimitRange small")}) {
    Stage stage;
    const auto r = WithBounds(stage.puppet(), both);
    *stage.says = says;
    EXPECT_NEAR(*r->Recommend(WindowId{1}), limit, 1e-9);
    Reason reason;
    r->Explain(reason);
    EXPECT_EQ(reason.steps.back().what, what);
    const auto copy = r->Clone();
    EXPECT_EQ(copy->Recommend(WindowId{1}), r->Recommend(WindowId{1}));
    Reason again;
    copy->Explain(again);
    EXPECT_EQ(again.steps.back().what, what);
  }
  // An owner's bound that is narrower than the allowed range stays in force.
  const BoundSettings narrow = own.Within({0.1, 8, "a", "b"});
  EXPECT_EQ(narrow.lower, 0.2);
  EXPECT_EQ(narrow.upper, 6.0);
  EXPECT_EQ(narrow.upper_by, "");
  // The cluster's bound applies if it contradicts the owner's bounds.
  EXPECT_EQ(own.Within({7, {}, "a", ""}).lower, 7.0);
  EXPECT_EQ(own.Within({7, {}, "a", ""}).upper, 7.0);
  EXPECT_EQ(own.Within({{}, 0.1, "", "b"}).upper, 0.1);
  EXPECT_EQ(own.Within({{}, 0.1, "", "b"}).lower, 0.1);
}

TEST(WithBounds, TheBoundsWinOverTheRounding) {
  Stage stage;
  BoundSettings b;
  b.granularity = 10;
  b.lower = 25;
  b.upper = 43;
  const auto r = WithBounds(stage.puppet(), b);
  for (const auto& [in, out] :
       {std::pair{3.0, 25.0}, {25.0, 30.0}, {31.0, 40.0}, {41.0, 43.0}, {99.0, 43.0}}) {
    *stage.says = in;
    EXPECT_EQ(r->Recommend(WindowId{0}), out) << in;
  }
  *stage.says = std::nullopt;
  EXPECT_FALSE(r->Recommend(WindowId{0}).has_value()) << "bounds recommend nothing of their own";
}

// Every step begins at the end of the previous step, and the last step ends at the recommendation.
RC_GTEST_PROP(Wrappers, StepsLeadFromTheRawFigureToTheLimit, ()) {
  Stage stage;
  OomSettings oom;
  oom.hold_s = 4 * 300;
  BoundSettings bounds;
  bounds.granularity = kMiB;
  bounds.lower = 64 * kMiB;
  bounds.upper = 900 * kMiB;
  const auto r = WithBounds(
      WithOomFloor(WithHold(WithMargin(stage.puppet(), MarginSchedule::For(Resource::kMemory), 1), 3), oom),
      bounds);
  const int n = *rc::gen::inRange(1, 40);
  for (int32_t w = 0; w < n; ++w) {
    if (*rc::gen::inRange(0, 10) > 0) *stage.says = *rc::gen::inRange(1, 1000) * 1.37 * kMiB;
    if (*rc::gen::inRange(0, 6) == 0) r->ObserveOom({WindowId{w}, 0, *rc::gen::inRange(1, 1000) * kMiB});
    const std::optional<double> limit = r->Recommend(WindowId{w + 1});
    Reason reason;
    r->Explain(reason);
    RC_ASSERT(reason.steps.empty() == !limit.has_value());
    double at = 0;
    for (const ReasonStep& step : reason.steps) {
      RC_ASSERT(step.before == at);
      at = step.after;
    }
    if (limit.has_value()) RC_ASSERT(at == *limit);
  }
}

}  // namespace
}  // namespace taut::brain
