#include "common/model/rollout.h"

#include <set>

#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(DecisionKindRow, EveryKindHasWordsOfItsOwn) {
  std::set<std::string_view> names, actions, events;
  for (int i = 0; i < kNumDecisionKinds; ++i) {
    const DecisionKindRow& row = RowOf(static_cast<DecisionKind>(i));
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(actions.insert(row.action).second) << row.action;
    EXPECT_TRUE(events.insert(row.event).second) << row.event;
    EXPECT_FALSE(row.name.empty() || row.event.empty()) << i;
    EXPECT_EQ(row.action.empty(), static_cast<DecisionKind>(i) == DecisionKind::kWouldSet) << row.name;
  }
}

TEST(DecisionKindRow, TheLimitOfAllTasks) {
  EXPECT_TRUE(RowOf(DecisionKind::kSet).sets_all_tasks);
  EXPECT_TRUE(RowOf(DecisionKind::kPromote).sets_all_tasks);
  EXPECT_TRUE(RowOf(DecisionKind::kOomRaise).sets_all_tasks);
  EXPECT_FALSE(RowOf(DecisionKind::kTry).sets_all_tasks) << "of some tasks alone";
  EXPECT_FALSE(RowOf(DecisionKind::kRollBack).sets_all_tasks) << "the others never left theirs";
  EXPECT_FALSE(RowOf(DecisionKind::kWouldSet).sets_all_tasks);
  EXPECT_TRUE(RowOf(DecisionKind::kRelease).sets_all_tasks);
  EXPECT_FALSE(RowOf(DecisionKind::kRelease).shows_recommendation) << "the owner's limit is none";
}

TEST(DecisionKindNames, IsAListForPeople) {
  EXPECT_EQ(DecisionKindNames(), "would_set, set, try, promote, roll_back, oom_raise or release");
}

}  // namespace
}  // namespace taut
