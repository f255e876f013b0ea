// Tests how a set distributes orders to two actuators in memory.
#include "server/agents/actuator_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Reports one outcome for each order, or the outcomes that the test sets later.
class InMemoryActuator final : public Actuator {
 public:
  InMemoryActuator(std::string name, std::set<std::string> claims)
      : jobs(std::move(claims)), name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  bool Claims(const TargetOrder& order) const override {
    return jobs.contains(order.job) && (order.target.is_limit() ? sets_limits : sets_replicas);
  }
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override {
    for (const TargetOrder& o : orders) {
      decisions.push_back(o.decision);
      if (outcome.has_value()) outcomes.push_back({o.decision, *outcome, text, now_s});
    }
  }
  std::vector<OutcomeUpdate> TakeOutcomes() override { return std::exchange(outcomes, {}); }
  std::string SaveState() const override { return state; }
  void LoadState(std::string_view bytes) override { state = bytes; }

  std::set<std::string> jobs;
  bool sets_limits = true, sets_replicas = true;
  std::optional<Outcome> outcome = Outcome::kApplied;
  std::string text, state;
  std::vector<uint64_t> decisions;
  std::vector<OutcomeUpdate> outcomes;

 private:
  const std::string name_;
};

struct Two {
  ActuatorSet set;
  InMemoryActuator* first = nullptr;
  InMemoryActuator* second = nullptr;

  Two() {
    first = Add("first", {"a"});
    second = Add("second", {"b"});
  }
  InMemoryActuator* Add(const std::string& name, std::set<std::string> jobs) {
    auto actuator = std::make_unique<InMemoryActuator>(name, std::move(jobs));
    InMemoryActuator* out = actuator.get();
    set.Add(name, std::move(actuator));
    return out;
  }
  void Apply(const std::vector<std::pair<uint64_t, std::string>>& orders) {
    std::vector<TargetOrder> all;
    for (const auto& [decision, job] : orders) {
      all.push_back({decision, job, Resource::kCpu, 2.0, std::nullopt});
    }
    set.Apply(all, 50);
  }
  // Returns a text such as "5 applied" for each outcome, in the order of the outcomes.
  std::vector<std::string> Outcomes() {
    std::vector<std::string> out;
    for (const OutcomeUpdate& o : set.TakeOutcomes()) {
      out.push_back(std::to_string(o.id) + " " + std::string(Name(o.outcome)));
    }
    return out;
  }
};

TEST(ActuatorSet, AnOrderGoesToTheOneThatClaimsItsJob) {
  Two two;
  two.Apply({{1, "a"}, {2, "b"}, {3, "a"}});
  EXPECT_THAT(two.first->decisions, ElementsAre(1, 3));
  EXPECT_THAT(two.second->decisions, ElementsAre(2));
  EXPECT_THAT(two.Outcomes(), ElementsAre("1 applied", "3 applied", "2 applied"));
  EXPECT_THAT(two.set.TakeConflicts(), IsEmpty());
  EXPECT_EQ(two.set.name(), "first, second");
  EXPECT_TRUE(two.set.Claims({.job = "b", .target = Resource::kCpu}));
  EXPECT_FALSE(two.set.Claims({.job = "c", .target = Resource::kCpu}));
}

// Agents set a job's limits, and a webhook sets the number of its tasks.
TEST(ActuatorSet, TheTargetsOfOneJobMayHaveTwoActuators) {
  Two two;
  two.second->jobs = {"a"};
  two.first->sets_replicas = two.second->sets_limits = false;
  two.set.Apply(std::vector{TargetOrder{1, "a", Resource::kCpu, 2.0, std::nullopt},
                            TargetOrder{2, "a", Target::Replicas(), 7.0, std::nullopt}},
                50);
  EXPECT_THAT(two.first->decisions, ElementsAre(1));
  EXPECT_THAT(two.second->decisions, ElementsAre(2));
  EXPECT_THAT(two.set.TakeConflicts(), IsEmpty());
}

TEST(ActuatorSet, JobsThatCameAndWentAreForgotten) {
  Two two;
  for (uint64_t decision = 1; decision <= 250'000; ++decision) {
    two.Apply({{decision, "pod-" + std::to_string(decision)}});
    if (decision % 1000 == 0) (void)two.Outcomes();
  }
  EXPECT_LE(two.set.remembered(), 101'000U);
}

TEST(ActuatorSet, WhatNoneClaimsGoesToTheFirstWhichSaysWhy) {
  Two two;
  two.first->outcome = Outcome::kDryRun;
  two.first->text = "no agent has this job";
  two.Apply({{1, "c"}});
  EXPECT_THAT(two.second->decisions, IsEmpty());
  const std::vector<OutcomeUpdate> outcomes = two.set.TakeOutcomes();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].outcome, Outcome::kDryRun);
  EXPECT_EQ(outcomes[0].text, "no agent has this job");
}

TEST(ActuatorSet, OfTwoThatClaimTheFirstGetsItAndItIsSaidOnce) {
  Two two;
  two.second->jobs.insert("a");
  two.Apply({{1, "a"}, {2, "a"}});
  EXPECT_THAT(two.first->decisions, ElementsAre(1, 2));
  EXPECT_THAT(two.second->decisions, IsEmpty());
  EXPECT_THAT(two.set.TakeConflicts(),
              ElementsAre("job a is claimed by the actuators first and second; first sets its cpu limit"));
  two.Apply({{3, "a"}});
  EXPECT_THAT(two.set.TakeConflicts(), IsEmpty());
}

TEST(ActuatorSet, OneThatFailsDoesNotHoldUpTheOther) {
  Two two;
  two.first->outcome = Outcome::kFailed;
  two.Apply({{1, "a"}, {2, "b"}});
  EXPECT_THAT(two.Outcomes(), ElementsAre("1 failed", "2 applied"));
  two.first->outcome.reset();  // the actuator never reports an outcome
  two.Apply({{3, "a"}, {4, "b"}});
  EXPECT_THAT(two.Outcomes(), ElementsAre("4 applied"));
}

TEST(ActuatorSet, AJobThatMovesHasOneOrderInForce) {
  Two two;
  two.first->outcome = Outcome::kPending;
  two.Apply({{1, "a"}});
  EXPECT_THAT(two.Outcomes(), ElementsAre("1 pending"));
  two.first->jobs.clear();
  two.second->jobs.insert("a");
  two.Apply({{1, "a"}});
  EXPECT_THAT(two.first->decisions, ElementsAre(1, 1)) << "the same decision stays where it is";
  two.set.TakeOutcomes();
  two.Apply({{2, "a"}});
  EXPECT_THAT(two.second->decisions, ElementsAre(2));
  EXPECT_THAT(two.Outcomes(), ElementsAre("2 applied", "1 superseded"));
  two.first->outcomes.push_back({1, Outcome::kFailed, "late", 60});
  EXPECT_THAT(two.Outcomes(), IsEmpty()) << "of an order that was replaced";
}

TEST(ActuatorSet, AnAppliedOrderStaysAppliedWhenItsJobMoves) {
  Two two;
  two.Apply({{1, "a"}});
  two.set.TakeOutcomes();
  two.first->jobs.clear();
  two.second->jobs.insert("a");
  two.Apply({{2, "a"}});
  EXPECT_THAT(two.Outcomes(), ElementsAre("2 applied"));
}

TEST(ActuatorSet, EachGetsItsOwnStateBack) {
  Two two;
  two.first->state = "one";
  two.second->state = std::string("\0two", 4);
  const std::string state = two.set.SaveState();
  Two again;
  again.set.LoadState(state);
  EXPECT_EQ(again.first->state, "one");
  EXPECT_EQ(again.second->state, std::string("\0two", 4));
  // A set passes the state of a single actuator to its first member. A set with one member stores that member's
  // state unchanged.
  Two from_one;
  from_one.set.LoadState("\1old");
  EXPECT_EQ(from_one.first->state, "\1old");
  EXPECT_THAT(from_one.second->state, IsEmpty());
  ActuatorSet single;
  auto only = std::make_unique<InMemoryActuator>("second", std::set<std::string>());
  InMemoryActuator* actuator = only.get();
  single.Add("second", std::move(only));
  single.LoadState(state);
  EXPECT_EQ(actuator->state, std::string("\0two", 4));
  EXPECT_EQ(single.SaveState(), actuator->state);
  single.LoadState(
      "\xFF\x30"
      "cut");
  EXPECT_EQ(actuator->state, std::string("\0two", 4)) << "what cannot be read is ignored";
}

TEST(ActuatorSet, ASingleOneGetsAllOrdersClaimedOrNot) {
  ActuatorSet set;
  auto only = std::make_unique<InMemoryActuator>("only", std::set<std::string>());
  InMemoryActuator* actuator = only.get();
  set.Add("only", std::move(only));
  set.Apply(std::vector{TargetOrder{1, "x", Resource::kCpu, 2.0, std::nullopt}}, 50);
  EXPECT_THAT(actuator->decisions, ElementsAre(1));
  EXPECT_EQ(set.TakeOutcomes().size(), 1U);
  EXPECT_EQ(set.name(), "only");
}

}  // namespace
}  // namespace taut::server
