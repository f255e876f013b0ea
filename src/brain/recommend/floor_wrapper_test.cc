// Tests of lower bounds of limits, and of explanations of the final limit.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "brain/recommend/puppet_fixture.h"
#include "brain/recommend/wrappers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

using Stage = PuppetStage;

TEST(FloorWrapper, WidensTheLimitsOfAYoungJobUpToTheOwners) {
  Stage stage;
  FloorSettings settings;
  settings.young_margin = 0.4;
  auto r = WithFloor(stage.puppet(), settings);
  *stage.says = 100;
  const std::vector<std::pair<int32_t, double>> by_day = {{1, 180}, {2, 140}, {3, 140}, {4, 120},
                                                          {7, 120}, {8, 100}, {30, 100}};
  size_t next = 0;
  for (int32_t w = 50; next < by_day.size(); ++w) {
    if (w - 50 != by_day[next].first * kWindowsPerDay) {
      r->Observe(MadeSignal(Resource::kMemory, w, 10));
      continue;
    }
    // The job's age is part of the state.
    std::string state;
    ByteWriter out(&state);
    r->Save(out);
    r = WithFloor(stage.puppet(), settings);
    ByteReader in(state);
    ASSERT_TRUE(r->Load(in).ok());
    EXPECT_EQ(*r->Recommend(WindowId{w}), by_day[next].second) << by_day[next].first;
    ++next;
  }
  // The owner's limit bounds the margin, but does not lower a recommendation above the owner's limit.
  for (const double owner : {130.0, 90.0}) {
    const auto capped = WithFloor(stage.puppet(), settings);
    capped->Observe(MadeSignal(Resource::kMemory, 0, 10, owner));
    EXPECT_EQ(*capped->Recommend(WindowId{kWindowsPerDay}), std::max(owner, 100.0));
    Reason reason;
    capped->Explain(reason);
    EXPECT_THAT(reason.limit, Optional(std::max(owner, 100.0)));
    EXPECT_EQ(reason.steps.back().kind, owner > 100 ? "young" : "");
  }
}

TEST(FloorWrapper, AStateWithoutAnAgeIsOfAnOldJob) {
  Stage stage;
  FloorSettings settings;
  settings.young_margin = 0.4;
  *stage.says = 100;
  const auto before = WithFloor(stage.puppet(), settings);
  before->Observe(MadeSignal(Resource::kMemory, 0, 10));
  std::string state;
  ByteWriter out(&state);
  before->Save(out);
  // Loads the formats from before the margin of young jobs and from before provisional limits.
  state.resize(state.size() - sizeof(int32_t) - sizeof(float) - sizeof(int32_t));
  const auto r = WithFloor(stage.puppet(), settings);
  ByteReader in(state);
  ASSERT_TRUE(r->Load(in).ok());
  r->Observe(MadeSignal(Resource::kMemory, kWindowsPerDay - 1, 10));
  EXPECT_EQ(*r->Recommend(WindowId{kWindowsPerDay}), 100);
}

// A provisional limit based on fewer windows is wider, by the square root of (windows of a day / observed
// windows).
TEST(FloorWrapper, WithoutHistoryThereIsAProvisionalLimitThatNarrows) {
  Stage stage;
  FloorSettings settings;
  settings.min_history_s = kDaySeconds;
  const auto r = WithFloor(stage.puppet(), settings);
  EXPECT_FALSE(r->Provisional(WindowId{100}).has_value()) << "nothing was measured";
  for (int32_t w = 0; w < 2 * kWindowsPerDay; ++w) {
    r->Observe(MadeSignal(Resource::kMemory, 100 + w, w == 0 ? 2 : 1));
    const std::optional<ProvisionalLimit> early = r->Provisional(WindowId{101 + w});
    ASSERT_TRUE(early.has_value());
    EXPECT_EQ(early->peak, 2);
    EXPECT_EQ(early->windows, w + 1);
    EXPECT_DOUBLE_EQ(early->limit, 2 * std::sqrt(std::max(1.0, double{kWindowsPerDay} / (w + 1))));
    EXPECT_EQ(early->first_limit.index, std::max(100 + kWindowsPerDay, 101 + w));
    EXPECT_FALSE(r->Recommend(WindowId{101 + w}).has_value()) << "it is no recommendation";
  }
}

TEST(FloorWrapper, AProvisionalLimitIsHeldToAnOwnersThatHoldsThePeak) {
  Stage stage;
  FloorSettings settings;
  settings.min_history_s = kDaySeconds;
  const auto limit_of = [&](double peak, double owner) {
    const auto r =
        WithBounds(WithFloor(stage.puppet(), settings), {.lower = 1.0, .upper = 90.0, .granularity = 8});
    r->Observe(MadeSignal(Resource::kMemory, 0, peak, owner));
    return r->Provisional(WindowId{1})->limit;
  };
  EXPECT_EQ(limit_of(10, 64), 64) << "17 times the peak is more than the owner's";
  EXPECT_EQ(limit_of(70, 64), 72) << "the owner's does not hold the peak; rounded";
  EXPECT_EQ(limit_of(10, 200), 90) << "the bound";
}

TEST(FloorWrapper, AProvisionalLimitSurvivesARestartAndWhoAsksForNoHistoryHasNone) {
  Stage stage;
  FloorSettings settings;
  settings.min_history_s = kDaySeconds;
  const auto before = WithFloor(stage.puppet(), settings);
  for (int32_t w = 0; w < 12; ++w) before->Observe(MadeSignal(Resource::kMemory, w, 10));
  std::string state;
  ByteWriter out(&state);
  before->Save(out);
  const auto loaded = [&](std::string_view bytes) {
    auto r = WithFloor(stage.puppet(), settings);
    ByteReader in(bytes);
    EXPECT_TRUE(r->Load(in).ok());
    return r;
  };
  EXPECT_EQ(loaded(state)->Provisional(WindowId{12})->limit, before->Provisional(WindowId{12})->limit);
  EXPECT_EQ(before->Clone()->Provisional(WindowId{12})->windows, 12);
  // The checkpoint is older than provisional limits: windows count from the restart on.
  const auto older =
      loaded(std::string_view(state).substr(0, state.size() - sizeof(float) - sizeof(int32_t)));
  EXPECT_FALSE(older->Provisional(WindowId{12}).has_value());
  older->Observe(MadeSignal(Resource::kMemory, 12, 10));
  EXPECT_EQ(older->Provisional(WindowId{13})->windows, 1);
  EXPECT_EQ(older->Provisional(WindowId{13})->first_limit.index, kWindowsPerDay) << "its age is known";
  const auto at_once = WithFloor(stage.puppet(), FloorSettings());
  at_once->Observe(MadeSignal(Resource::kMemory, 0, 10));
  EXPECT_FALSE(at_once->Provisional(WindowId{1}).has_value());
}

constexpr FloorSettings kFloor{.least = 32 * kMiB, .keep_start = true};

TEST(FloorWrapper, HoldsTheLeastAndWhatAStartNeededButNotAboveTheOwner) {
  Stage stage;
  const auto r = WithFloor(stage.puppet(), kFloor);
  *stage.says = 2 * kMiB;
  EXPECT_EQ(*r->Recommend(WindowId{0}), 32 * kMiB);
  // The start uses 700 MiB; afterwards the program is idle.
  for (int32_t w = 0; w < 50; ++w) {
    r->Observe(MadeSignal(Resource::kMemory, w, (w == 1 ? 700 : w > 10 ? 1 : 300) * kMiB, 4096 * kMiB));
  }
  EXPECT_EQ(*r->Recommend(WindowId{50}), 700 * kMiB);
  Reason reason;
  r->Explain(reason);
  EXPECT_THAT(reason.limit, Optional(700 * kMiB));
  EXPECT_EQ(reason.steps.back().kind, "start");
  EXPECT_EQ(reason.steps.back().before, 2 * kMiB);
  EXPECT_EQ(reason.steps.back().after, 700 * kMiB);
  // After two later starts with lower usage, the first start no longer counts.
  r->Observe(MadeSignal(Resource::kMemory, 60, 100 * kMiB, 4096 * kMiB));
  EXPECT_EQ(*r->Recommend(WindowId{61}), 700 * kMiB) << "the last two starts count";
  r->Observe(MadeSignal(Resource::kMemory, 70, 200 * kMiB, 4096 * kMiB));
  EXPECT_EQ(*r->Recommend(WindowId{71}), 200 * kMiB);
  // The state survives a restart.
  std::string bytes;
  ByteWriter out(&bytes);
  r->Save(out);
  const auto loaded = WithFloor(stage.puppet(), kFloor);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded->Load(in).ok());
  EXPECT_EQ(*loaded->Recommend(WindowId{72}), 200 * kMiB);
  // The floor does not exceed the owner's limit.
  r->Observe(MadeSignal(Resource::kMemory, 71, kMiB, 16 * kMiB));
  EXPECT_EQ(*r->Recommend(WindowId{72}), 16 * kMiB);
  *stage.says = std::nullopt;
  EXPECT_FALSE(r->Recommend(WindowId{73}).has_value());
}

TEST(FloorWrapper, ReadsACheckpointOfAVersionWithoutFloors) {
  const Stage stage;
  const auto r = WithFloor(stage.puppet(), kFloor);
  ByteReader old("");
  EXPECT_TRUE(r->Load(old).ok());
}

// The explanation refers to the limit after the outermost wrapper.
TEST(Wrappers, TheExplanationIsAboutTheLimitAfterTheLastStep) {
  Stage stage;
  *stage.says = 100.5 * kMiB;
  const auto r = WithBounds(WithOomFloor(stage.puppet(), OomSettings()),
                            {.lower = 1.0, .upper = 150 * kMiB, .granularity = kMiB});
  (void)r->Recommend(WindowId{0});
  Reason rounded;
  r->Explain(rounded);
  EXPECT_THAT(rounded.limit, Optional(101 * kMiB));
  EXPECT_EQ(rounded.steps.back().kind, "rounding");
  r->ObserveOom({WindowId{0}, 0, 100 * kMiB});
  const double limit = *r->Recommend(WindowId{1});
  EXPECT_EQ(limit, 150 * kMiB);
  Reason bounded;
  r->Explain(bounded);
  EXPECT_THAT(bounded.limit, Optional(limit));
  std::vector<std::string> kinds;
  for (const ReasonStep& s : bounded.steps) kinds.push_back(s.kind);
  EXPECT_THAT(kinds, ElementsAre("", "oom_floor", "upper_bound"));
}

}  // namespace
}  // namespace taut::brain
