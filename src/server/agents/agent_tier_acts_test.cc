// Tests that each act of an agent's memory guard is stored once, even if the agent or the daemon stops in between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/agents/hub_fixture.h"

namespace taut::server {
namespace {

namespace pb = taut::agent::v1;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(AgentTierActs, AreStoredPublishedCountedAndThenAcknowledged) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.hub().OnMessage(a, HubCell::TierActOf(1, "a/1", HubCell::kStart));
  EXPECT_EQ(cell.server.Acked(a), 0U);
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(a), 1U);
  const std::vector<TierAct> stored = cell.StoredTierActs();
  ASSERT_THAT(stored, SizeIs(1));
  EXPECT_EQ(stored[0].machine, "a");
  EXPECT_EQ(stored[0].job, "shop/web");
  EXPECT_EQ(stored[0].task, "a/1");
  EXPECT_EQ(stored[0].kind, TierActKind::kKill);
  EXPECT_EQ(stored[0].tier, Tier::kBatch);
  EXPECT_EQ(stored[0].time_s, HubCell::kStart);
  EXPECT_EQ(stored[0].usage, 3e8);
  EXPECT_EQ(stored[0].request, std::nullopt) << "not reported is not 0";
  EXPECT_EQ(stored[0].free, 1e7);
  EXPECT_EQ(cell.published_tier_acts, 1U);
  const auto counts = cell.control().status().counts().tier_acts;
  EXPECT_EQ(counts[static_cast<size_t>(Tier::kBatch)][static_cast<size_t>(TierActKind::kKill)], 1U);
}

TEST(AgentTierActs, AKillByTheGuardIsNoOomKill) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.Tasks(a, {"a/1"});
  cell.Windows(a, 1, HubCell::Window(0), {"a/1"});
  ASSERT_TRUE(cell.TickPast(HubCell::Window(0)).ok());
  cell.hub().OnMessage(a, HubCell::TierActOf(2, "a/1", cell.now_s));
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_THAT(cell.StoredTierActs(), SizeIs(1));
  EXPECT_EQ(cell.StoredOoms(), 0U);
  EXPECT_EQ(cell.control().status().counts().ooms, 0U);
  EXPECT_EQ(cell.control().status().counts().decisions, 0U) << "no limit is raised for it";
}

TEST(AgentTierActs, AStoreThatFailsIsWaitedFor) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.failing.fail = true;
  cell.hub().OnMessage(a, HubCell::TierActOf(1, "a/1", HubCell::kStart));
  EXPECT_FALSE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(a), 0U);
  EXPECT_EQ(cell.published_tier_acts, 0U) << "what is not stored is not shown";
  const SessionId again = cell.Connect("a", 1, 1);
  cell.hub().OnMessage(again, HubCell::TierActOf(1, "a/1", HubCell::kStart));
  EXPECT_FALSE(cell.Tick().ok());
  cell.failing.fail = false;
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(again), 1U);
  EXPECT_THAT(cell.StoredTierActs(), SizeIs(1));
  EXPECT_EQ(cell.published_tier_acts, 1U);
}

TEST(AgentTierActs, StoredButNotAcknowledgedBeforeAKillTheyComeAgainAndCountOnce) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.hub().OnMessage(a, HubCell::TierActOf(1, "a/1", HubCell::kStart));
  ASSERT_TRUE(cell.Tick().ok());
  cell.Restart();
  const SessionId again = cell.Connect("a", 1, 1);
  cell.hub().OnMessage(again, HubCell::TierActOf(1, "a/1", HubCell::kStart));
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(again), 1U);
  EXPECT_THAT(cell.StoredTierActs(), SizeIs(1));
  EXPECT_EQ(cell.published_tier_acts, 1U);
}

TEST(AgentTierActs, TheSameActUnderTwoSequencesCountsOnce) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  cell.hub().OnMessage(a, HubCell::TierActOf(1, "a/1", HubCell::kStart));
  cell.hub().OnMessage(a, HubCell::TierActOf(2, "a/1", HubCell::kStart));
  cell.hub().OnMessage(a, HubCell::TierActOf(3, "a/1", HubCell::kStart + 1));
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(a), 3U);
  EXPECT_THAT(cell.StoredTierActs(), SizeIs(2));
}

TEST(AgentTierActs, OfAnotherAgentsTaskOrAboveTheMachinesSizeTheyAreNotBelieved) {
  HubCell cell;
  const SessionId a = cell.Connect("a"), b = cell.Connect("b");
  cell.Tasks(a, {"a/1"});
  ASSERT_TRUE(cell.Tick().ok());
  cell.hub().OnMessage(b, HubCell::TierActOf(1, "a/1", HubCell::kStart));
  pb::FromAgent impossible = HubCell::TierActOf(1, "a/1", HubCell::kStart);
  impossible.mutable_tier_act()->set_usage_bytes(1e18);
  cell.hub().OnMessage(a, impossible);
  ASSERT_TRUE(cell.Tick().ok());
  EXPECT_EQ(cell.server.Acked(a), 1U) << "it would come again for good";
  EXPECT_EQ(cell.server.Acked(b), 1U);
  EXPECT_THAT(cell.StoredTierActs(), IsEmpty());
  EXPECT_EQ(cell.hub().counts().not_believed, 2U);
}

TEST(AgentTierActs, OfAnAgentThatObservesAreStoredAndNotCounted) {
  HubCell cell;
  const SessionId a = cell.Connect("a");
  pb::FromAgent message = HubCell::TierActOf(1, "a/1", HubCell::kStart);
  message.mutable_tier_act()->set_observed(true);
  cell.hub().OnMessage(a, message);
  ASSERT_TRUE(cell.Tick().ok());
  ASSERT_THAT(cell.StoredTierActs(), SizeIs(1));
  EXPECT_TRUE(cell.StoredTierActs()[0].observed);
  for (const auto& tier : cell.control().status().counts().tier_acts) {
    for (const uint64_t count : tier) EXPECT_EQ(count, 0U);
  }
}

}  // namespace
}  // namespace taut::server
