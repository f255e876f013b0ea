// Orders and outcomes as values: no server, no agents, no clock.
#include "server/agents/order_book.h"

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

// The only outcome since the last call.
OutcomeUpdate Only(OrderBook& book) {
  const std::vector<OutcomeUpdate> all = book.TakeOutcomes();
  EXPECT_EQ(all.size(), 1U);
  return all.empty() ? OutcomeUpdate() : all.back();
}

TEST(OrderBook, AnOrderIsAppliedWhenAllItsTasksAre) {
  OrderBook book(false);
  EXPECT_THAT(book.Take(OrderOf(5), std::vector{kFirst, kSecond}, 10), ElementsAre("a/1", "a/2"));
  book.TakeOutcome({5, "a/1", Result::kApplied, "", {}}, 10.5);
  EXPECT_THAT(book.TakeOutcomes(), IsEmpty());
  book.TakeOutcome({5, "a/2", Result::kApplied, "", {}}, 11.5);
  const OutcomeUpdate update = Only(book);
  EXPECT_EQ(update.id, 5U);
  EXPECT_EQ(update.outcome, Outcome::kApplied);
  EXPECT_EQ(update.text, "on 2 of 2 tasks");
  EXPECT_DOUBLE_EQ(book.slowest_ms(), 1500);
  EXPECT_DOUBLE_EQ(book.mean_ms(), 1000);
}

TEST(OrderBook, ADisconnectedTaskGetsTheLatestOrderLater) {
  OrderBook book(false);
  EXPECT_THAT(book.Take(OrderOf(5), std::vector{kFirst, kDisconnected}, 10), ElementsAre("a/1"));
  EXPECT_EQ(Only(book).outcome, Outcome::kPending);
  ASSERT_NE(book.OrderFor("shop/web", Resource::kMemory, "b/1"), nullptr);
  EXPECT_EQ(book.OrderFor("shop/web", Resource::kMemory, "b/1")->decision, 5U);
  EXPECT_EQ(book.OrderFor("shop/web", Resource::kCpu, "b/1"), nullptr);
  book.SentTo("shop/web", Resource::kMemory, "b/1");
  book.TakeOutcome({5, "b/1", Result::kApplied, "", {}}, 500);
  EXPECT_EQ(book.slowest_ms(), 0) << "the time of a task that was disconnected does not count";
  book.TakeOutcome({5, "a/1", Result::kApplied, "", {}}, 12);
  EXPECT_EQ(Only(book).outcome, Outcome::kApplied);
}

TEST(OrderBook, ANewDecisionReplacesAndTheSameOneExtends) {
  OrderBook book(false);
  const std::vector<OrderTask> tasks = {kFirst, kSecond};
  EXPECT_THAT(book.Take(OrderOf(5, 1e8, Names{"a/1"}), tasks, 0), ElementsAre("a/1"));
  EXPECT_EQ(book.OrderFor("shop/web", Resource::kMemory, "a/2"), nullptr);
  EXPECT_THAT(book.Take(OrderOf(5, 1e8, Names{"a/1", "a/2"}), tasks, 1), ElementsAre("a/2"));
  book.Take(OrderOf(6), tasks, 2);
  const OutcomeUpdate update = Only(book);
  EXPECT_EQ(update.id, 5U);
  EXPECT_EQ(update.outcome, Outcome::kSuperseded);
  book.TakeOutcome({5, "a/1", Result::kFailed, "late", {}}, 3);
  EXPECT_THAT(book.TakeOutcomes(), IsEmpty()) << "of an order that was replaced";
}

TEST(OrderBook, SaysWhyNothingWasSent) {
  const auto why = [](bool dry_run, const TargetOrder& order, const std::vector<OrderTask>& tasks) {
    OrderBook book(dry_run);
    EXPECT_THAT(book.Take(order, tasks, 0), IsEmpty());
    const OutcomeUpdate update = Only(book);
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

TEST(OrderBook, AFailureIsReportedAndTheHighestMinimum) {
  OrderBook book(false);
  book.Take(OrderOf(5), std::vector{kFirst, kSecond}, 0);
  book.TakeOutcome({5, "a/1", Result::kHeld, "usage is 2e8", 2e8}, 0);
  OutcomeUpdate update = Only(book);
  EXPECT_EQ(update.outcome, Outcome::kPending);
  EXPECT_EQ(update.text, "1 of 2 tasks: a/1: usage is 2e8");
  book.TakeOutcome({5, "a/2", Result::kFailed, "no cgroup", 1.5e8}, 0);
  update = Only(book);
  EXPECT_EQ(update.outcome, Outcome::kFailed);
  EXPECT_EQ(update.minimum, 2e8);
  EXPECT_EQ(update.job, "shop/web");
}

TEST(OrderBook, DoesNotWaitForATaskThatIsGone) {
  OrderBook book(false);
  book.Take(OrderOf(5), std::vector{kFirst, kSecond}, 0);
  book.TakeOutcome({5, "a/1", Result::kApplied, "", {}}, 0);
  book.DropTask("shop/web", "a/2");
  EXPECT_EQ(Only(book).outcome, Outcome::kApplied);
  book.Take(OrderOf(6), std::vector{kFirst}, 0);
  book.DropTask("shop/web", "a/1");
  EXPECT_EQ(Only(book).text, "its tasks are gone; the order is sent when they return");
}

}  // namespace
}  // namespace taut::server
