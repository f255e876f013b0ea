// Jobs that go to zero and back.
#include "replicas/activation.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "replicas/hpa.h"
#include "replicas/policies.h"

namespace taut {
namespace {

LoadSample At(int minute, std::optional<double> load, int ready) {
  return {Timestamp::FromSeconds(minute * 60), load, 1, ready, 0};
}

TEST(Activation, KedaGoesToZeroAfterTheCooldownAndBack) {
  ReplicaBounds bounds;
  bounds.min = 0;
  const auto keda = WithActivation(std::make_unique<HpaPolicy>(HpaSettings{}, InnerBounds(bounds)),
                                   Activation::kKeda, {}, bounds);
  EXPECT_EQ(keda->Decide(At(0, 1.6, 2)), 2);
  for (int m = 1; m < 5; ++m) EXPECT_GE(keda->Decide(At(m, 0, 2)), 1) << m;
  EXPECT_EQ(keda->Decide(At(5, 0, 1)), 0);
  EXPECT_EQ(keda->Decide(At(6, 0, 0)), 0);
  EXPECT_EQ(keda->Decide(At(7, std::nullopt, 0)), 0);
  EXPECT_EQ(keda->Decide(At(8, 0.1, 0)), 1);
}

ReplicaSettings ToZero() {
  ReplicaSettings s;
  s.bounds.min = 0;
  s.keda.activation = 0.5;
  s.keda.cooldown_s = 600;
  return s;
}

TEST(Activation, EveryPolicyGoesToZeroAndBack) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    const auto policy = NewReplicaPolicy(info, ToZero());
    int count = 6, minute = 0;
    const auto run = [&](double load, int minutes) {
      for (const int end = minute + minutes; minute < end; ++minute)
        count = policy->Decide(At(minute, load, count));
    };
    run(4, 30);
    EXPECT_GE(count, 4) << info.name;
    run(0.4, 9);
    EXPECT_GE(count, 1) << info.name << ": within the cool-down";
    run(0.4, 5);
    EXPECT_EQ(count, 0) << info.name;
    Reason reason;
    policy->Explain(reason);
    EXPECT_EQ(reason.recommender, info.name);
    EXPECT_EQ(reason.sentence, "The load is not above the activation threshold 0.5: no task runs.");
    count = policy->Decide(At(minute++, std::nullopt, count));
    EXPECT_EQ(count, 0) << info.name << ": an absent load starts nothing";
    run(4, 1);
    EXPECT_GE(count, 1) << info.name;
    run(4, 30);
    EXPECT_GE(count, 4) << info.name;
  }
}

TEST(Activation, ARestartChangesNoDecision) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    const ReplicaSettings s = ToZero();
    const auto run = [&](int restart) {
      std::unique_ptr<ReplicaPolicy> policy = NewReplicaPolicy(info, s);
      std::vector<int> out;
      int count = 3;
      for (int m = 0; m < 120; ++m) {
        if (m == restart) {
          auto loaded = LoadReplicaPolicy(SaveReplicaPolicy(info.name, *policy), s);
          EXPECT_TRUE(loaded.ok()) << info.name << loaded.status();
          policy = *std::move(loaded);
        }
        out.push_back(count = policy->Decide(At(m, m / 20 % 2 == 0 ? 3 : 0, count)));
      }
      return out;
    };
    const std::vector<int> straight = run(-1);
    EXPECT_NE(std::ranges::find(straight, 0), straight.end()) << info.name;
    for (const int restart : {1, 25, 30, 35, 41}) EXPECT_EQ(run(restart), straight) << info.name << restart;
  }
}

// What was learnt is not lost with the minimum.
TEST(Activation, AStateIsOfAnyMinimumAndOfEarlierVersions) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    ReplicaSettings zero = ToZero(), one = ToZero();
    one.bounds.min = 1;
    for (const auto& [from, to] : {std::pair(zero, one), std::pair(one, zero)}) {
      const auto policy = NewReplicaPolicy(info, from);
      int count = 3;
      for (int m = 0; m < 60; ++m) count = policy->Decide(At(m, 3, count));
      policy->TakeExternal(
          ExternalTasks{.count = 5, .until = Timestamp::FromSeconds(1 << 20), .why = "a sale"});
      const auto loaded = LoadReplicaPolicy(SaveReplicaPolicy(info.name, *policy), to);
      ASSERT_TRUE(loaded.ok()) << info.name << loaded.status();
      EXPECT_EQ((*loaded)->Decide(At(60, 3, count)), 5) << info.name << ": the answer is in the state";
    }
  }
}

}  // namespace
}  // namespace taut
