// Tests orders and outcomes as values, without a server, agents or a clock.
#include "server/agents/order_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/agents/order_fixture.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Result = TaskOutcome::Result;

const OrderTask kFirst{"a/1", true, true, false}, kSecond{"a/2", true, true, false};
const OrderTask kDisconnected{"b/1", true, false, false};

// Returns the only outcome since the last call.
OutcomeUpdate Only(OrderTable& table) {
  const std::vector<OutcomeUpdate> all = table.TakeOutcomes();
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? OutcomeUpdate() : all.back();
}

TEST(OrderTable, AnOrderIsAppliedWhenAllItsTasksAre) {
  OrderTable table(false);
  EXPECT_THAT(table.Take(OrderOf(5), std::vector{kFirst, kSecond}, 10), ElementsAre("a/1", "a/2"));
  table.TakeOutcome({5, "a/1", Result::kApplied, "", {}}, 10.5);
  EXPECT_THAT(table.TakeOutcomes(), IsEmpty());
  table.TakeOutcome({5, "a/2", Result::kApplied, "", {}}, 11.5);
  const OutcomeUpdate update = Only(table);
  EXPECT_EQ(update.id, 5U);
  EXPECT_EQ(update.outcome, Outcome::kApplied);
  EXPECT_EQ(update.text, "on 2 of 2 tasks");
  EXPECT_DOUBLE_EQ(table.slowest_ms(), 1500);
  EXPECT_DOUBLE_EQ(table.mean_ms(), 1000);
}

TEST(OrderTable, ADisconnectedTaskGetsTheLatestOrderLater) {
  OrderTable table(false);
  EXPECT_THAT(table.Take(OrderOf(5), std::vector{kFirst, kDisconnected}, 10), ElementsAre("a/1"));
  EXPECT_EQ(Only(table).outcome, Outcome::kPending);
  ASSERT_NE(table.OrderFor("shop/web", Resource::kMemory, "b/1"), nullptr);
  EXPECT_EQ(table.OrderFor("shop/web", Resource::kMemory, "b/1")->decision, 5U);
  EXPECT_EQ(table.OrderFor("shop/web", Resource::kCpu, "b/1"), nullptr);
  table.SentTo("shop/web", Resource::kMemory, "b/1");
  table.TakeOutcome({5, "b/1", Result::kApplied, "", {}}, 500);
  EXPECT_EQ(table.slowest_ms(), 0) << "the time of a task that was disconnected does not count";
  table.TakeOutcome({5, "a/1", Result::kApplied, "", {}}, 12);
  EXPECT_EQ(Only(table).outcome, Outcome::kApplied);
}

TEST(OrderTable, ANewDecisionReplacesAndTheSameOneExtends) {
  OrderTable table(false);
  const std::vector<OrderTask> tasks = {kFirst, kSecond};
  EXPECT_THAT(table.Take(OrderOf(5, 1e8, Names{"a/1"}), tasks, 0), ElementsAre("a/1"));
  EXPECT_EQ(table.OrderFor("shop/web", Resource::kMemory, "a/2"), nullptr);
  EXPECT_THAT(table.Take(OrderOf(5, 1e8, Names{"a/1", "a/2"}), tasks, 1), ElementsAre("a/2"));
  table.Take(OrderOf(6), tasks, 2);
  const OutcomeUpdate update = Only(table);
  EXPECT_EQ(update.id, 5U);
  EXPECT_EQ(update.outcome, Outcome::kSuperseded);
  table.TakeOutcome({5, "a/1", Result::kFailed, "late", {}}, 3);
  EXPECT_THAT(table.TakeOutcomes(), IsEmpty()) << "of an order that was replaced";
}

TargetOrder OrderOfJob(uint64_t decision, std::string job) {
  TargetOrder order = OrderOf(decision);
  order.job = std::move(job);
  return order;
}

TEST(OrderTable, AFullTableEndsTheOldestOrder) {
  OrderTable table(false, 2);
  table.Take(OrderOfJob(5, "a"), std::vector{kFirst}, 0);
  table.Take(OrderOfJob(6, "b"), std::vector{kFirst}, 0);
  table.Take(OrderOfJob(6, "b"), std::vector{kFirst, kSecond}, 0);
  EXPECT_THAT(table.TakeOutcomes(), IsEmpty()) << "an extended order takes no room";
  table.Take(OrderOfJob(7, "c"), std::vector{kFirst}, 0);
  const OutcomeUpdate forgotten = Only(table);
  EXPECT_EQ(forgotten.id, 5U);
  EXPECT_EQ(forgotten.outcome, Outcome::kFailed);
  EXPECT_THAT(forgotten.text, HasSubstr("only 2 orders are remembered"));
  EXPECT_EQ(table.OrderFor("a", Resource::kMemory, "a/1"), nullptr);
  for (const std::string task : {"a/1", "a/2"}) table.TakeOutcome({6, task, Result::kApplied, "", {}}, 1);
  EXPECT_EQ(Only(table).outcome, Outcome::kApplied);
  table.Take(OrderOfJob(8, "d"), std::vector{kFirst}, 0);
  EXPECT_THAT(table.TakeOutcomes(), IsEmpty()) << "its outcome was final";
}

TEST(OrderTable, SaysWhyNothingWasSent) {
  const auto why = [](bool dry_run, const TargetOrder& order, const std::vector<OrderTask>& tasks) {
    OrderTable table(dry_run);
    EXPECT_THAT(table.Take(order, tasks, 0), IsEmpty());
    const OutcomeUpdate update = Only(table);
    EXPECT_EQ(update.outcome, Outcome::kDryRun);
    return update.text;
  };
  EXPECT_EQ(why(false, OrderOf(5), {}), "no agent has this job");
  EXPECT_EQ(why(false, OrderOf(5, 1e8, Names{"x"}), {kFirst}), "no agent has its tasks");
  EXPECT_EQ(why(true, OrderOf(5), {kFirst}), "dry run (actuator.kind: dry_run)");
  EXPECT_THAT(why(false, OrderOf(5), {{"a/1", false, true, false}}), HasSubstr("manage: false"));
  EXPECT_THAT(why(false, OrderOf(5), {{"a/1", false, true, true}}), HasSubstr("--observe"));
  const TargetOrder replicas{5, "shop/web", Target::Replicas(), 7.0, std::nullopt};
  EXPECT_THAT(why(false, replicas, {kFirst}), HasSubstr("agents do not set replicas"));
  EXPECT_THAT(why(true, replicas, {kFirst}), HasSubstr("dry run"));
}

TEST(OrderTable, AFailureIsReportedAndTheHighestMinimum) {
  OrderTable table(false);
  table.Take(OrderOf(5), std::vector{kFirst, kSecond}, 0);
  table.TakeOutcome({5, "a/1", Result::kHeld, "usage is 2e8", 2e8}, 0);
  OutcomeUpdate update = Only(table);
  EXPECT_EQ(update.outcome, Outcome::kPending);
  EXPECT_EQ(update.text, "1 of 2 tasks: a/1: usage is 2e8");
  table.TakeOutcome({5, "a/2", Result::kFailed, "no cgroup", 1.5e8}, 0);
  update = Only(table);
  EXPECT_EQ(update.outcome, Outcome::kFailed);
  EXPECT_EQ(update.minimum, 2e8);
  EXPECT_EQ(update.job, "shop/web");
}

TEST(OrderTable, DoesNotWaitForATaskThatIsGone) {
  OrderTable table(false);
  table.Take(OrderOf(5), std::vector{kFirst, kSecond}, 0);
  table.TakeOutcome({5, "a/1", Result::kApplied, "", {}}, 0);
  table.DropTask("shop/web", "a/2");
  EXPECT_EQ(Only(table).outcome, Outcome::kApplied);
  table.Take(OrderOf(6), std::vector{kFirst}, 0);
  table.DropTask("shop/web", "a/1");
  EXPECT_EQ(Only(table).text, "its tasks are gone; the order is sent when they return");
}

}  // namespace
}  // namespace taut::server
