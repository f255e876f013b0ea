// Tests of the time at which a limit takes effect: a decision in window w applies from window w + 1 on.
#include "brain/fleet/lane.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "brain/fleet/scribe_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;

Signal At(int32_t window) {
  return {.window = WindowId{window}, .buckets = {}, .tasks = {}, .owner_limit = {}};
}

TEST(Lane, ADecisionRulesFromTheNextWindow) {
  std::vector<std::string> log;
  Lane lane(std::make_unique<Scribe>(&log, Answers::kWindow));
  EXPECT_FALSE(lane.LimitInForce(std::nullopt).has_value())
      << "no owner's limit and nothing recommended: unlimited";
  EXPECT_EQ(lane.LimitInForce(7), 7);
  lane.StartDay(2);
  EXPECT_EQ(lane.LimitInForce(7), 2 * kWindowsPerDay);
  lane.CloseWindow(At(580));
  EXPECT_EQ(lane.LimitInForce(7), 581);
  lane.Oom({WindowId{580}, 0, 1});
  EXPECT_EQ(lane.LimitInForce(7), 581);
  FleetRows rows;
  lane.EndDay(2, rows);
  EXPECT_THAT(log, ElementsAre("start 2", "recommend 576", "observe 580", "recommend 581", "oom 580",
                               "recommend 581", "end 2"));
}

TEST(Lane, ACappedOneIsNeverAboveTheOwners) {
  std::vector<std::string> log;
  Lane lane(std::make_unique<Scribe>(&log, Answers::kWindow), /*cap_at_owner=*/true);
  lane.StartDay(0);
  lane.CloseWindow(At(9));
  EXPECT_EQ(lane.LimitInForce(7), 7);
  EXPECT_EQ(lane.LimitInForce(12), 10);
  EXPECT_EQ(lane.LimitInForce(std::nullopt), 10) << "no owner's limit, nothing to cap at";
}

TEST(Lane, TheOwnersLimitStaysWhileNothingIsRecommended) {
  std::vector<std::string> log;
  Lane lane(std::make_unique<Scribe>(&log, Answers::kNothing));
  lane.StartDay(0);
  lane.CloseWindow(At(0));
  EXPECT_EQ(lane.LimitInForce(7), 7);
  EXPECT_FALSE(lane.LimitInForce(std::nullopt).has_value());
}

}  // namespace
}  // namespace taut::brain
