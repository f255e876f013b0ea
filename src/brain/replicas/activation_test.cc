// Tests of jobs that are scaled to zero and back.
#include "brain/replicas/activation.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "brain/replicas/hpa.h"
#include "brain/replicas/policies.h"
#include "brain/replicas/reason_fixture.h"
#include "gtest/gtest.h"

namespace taut::brain {
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

// With a minimum of 1 the wrapper changes no decision and adds nothing to the policy's state.
TEST(Activation, WithAMinimumThePolicyDecidesAlone) {
  ReplicaBounds bounds{.min = 1, .max = 100};
  const auto alone = std::make_unique<HpaPolicy>(HpaSettings{}, bounds);
  const auto policy =
      WithActivation(std::make_unique<HpaPolicy>(HpaSettings{}, bounds), Activation::kOurs, {}, bounds);
  int count = 3;
  for (int m = 0; m < 60; ++m) {
    const LoadSample sample = At(m, m % 5 == 4 ? std::nullopt : std::optional(m < 30 ? 6.0 : 0.0), count);
    const int decided = policy->Decide(sample);
    ASSERT_EQ(decided, alone->Decide(sample)) << m;
    count = decided;
    std::string bytes, bytes_alone;
    ByteWriter out(&bytes), out_alone(&bytes_alone);
    policy->Save(out);
    alone->Save(out_alone);
    ASSERT_EQ(bytes, bytes_alone) << m;
  }
  EXPECT_EQ(count, 1);
  EXPECT_GT(policy->state_bytes(), alone->state_bytes());
}

// KEDA always reads the load. Our activation reads the load only if the minimum is 0.
TEST(Activation, ReadsTheLoadWhereItDecidesByIt) {
  ReplicaSettings of_cpu;
  ASSERT_TRUE(SetReplicaSetting("hpa.metrics", "only cpu 10", of_cpu).ok());
  for (const auto& [how, min, reads] : {std::tuple(Activation::kKeda, 0, true),
                                        {Activation::kKeda, 1, true},
                                        {Activation::kOurs, 0, true},
                                        {Activation::kOurs, 1, false}}) {
    ReplicaBounds bounds{.min = min, .max = 100};
    const auto policy =
        WithActivation(std::make_unique<HpaPolicy>(of_cpu.hpa, InnerBounds(bounds)), how, {}, bounds);
    EXPECT_EQ(policy->reads_load(), reads) << min;
  }
  EXPECT_EQ(InnerBounds({.min = 0, .max = 0}).min, 1);
  EXPECT_EQ(InnerBounds({.min = 0, .max = 0}).max, 1);
  EXPECT_EQ(InnerBounds({.min = 3, .max = 7}).min, 3);
  EXPECT_EQ(InnerBounds({.min = 3, .max = 7}).max, 7);
}

// KEDA does not call its policy while no task runs. Our activation observes the load as if one task ran, so that
// the policy decides the count as soon as there is a load.
TEST(Activation, OursStartsWithAsManyAsTheLoadTakes) {
  const ReplicaBounds bounds{.min = 0, .max = 100};
  for (const Activation how : {Activation::kKeda, Activation::kOurs}) {
    const auto policy =
        WithActivation(std::make_unique<HpaPolicy>(HpaSettings{}, InnerBounds(bounds)), how, {}, bounds);
    EXPECT_EQ(policy->Decide(At(0, 0, 0)), 0);
    const int started = policy->Decide(At(1, 40, 0));
    EXPECT_EQ(started > 1, how == Activation::kOurs) << started;
    EXPECT_GE(started, 1);
  }
}

// The saved states are: at zero, on the way to zero, activated, running, and without a load.
TEST(Activation, ACopyAndALoadedStateSayTheSameAndGoOn) {
  const auto load = [](int minute) {
    return minute % 7 == 6 ? std::nullopt : std::optional(minute / 20 % 2 == 0 ? 3.0 : 0.0);
  };
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    const ReplicaSettings s = ToZero();
    const std::unique_ptr<ReplicaPolicy> policy = NewReplicaPolicy(info, s);
    int count = 3;
    for (int m = 0; m < 70; ++m) {
      count = policy->Decide(At(m, load(m), count));
      const std::unique_ptr<ReplicaPolicy> copy = policy->Clone();
      auto loaded = LoadReplicaPolicy(SaveReplicaPolicy(info.name, *policy), s);
      ASSERT_TRUE(loaded.ok()) << info.name << loaded.status();
      for (const ReplicaPolicy* other : {copy.get(), loaded->get()})
        ASSERT_EQ(SentenceOf(*other), SentenceOf(*policy)) << info.name << " " << m;
      const int next = policy->Clone()->Decide(At(m + 1, load(m + 1), count));
      ASSERT_EQ(copy->Decide(At(m + 1, load(m + 1), count)), next) << info.name << " " << m;
      ASSERT_EQ((*loaded)->Decide(At(m + 1, load(m + 1), count)), next) << info.name << " " << m;
    }
  }
}

TEST(Activation, SaysThatItWaitsForALoadAndLacksOne) {
  for (const ReplicaPolicyInfo& info : ReplicaPolicies()) {
    for (const int min : {0, 1}) {
      ReplicaSettings s = ToZero();
      s.bounds.min = min;
      const std::unique_ptr<ReplicaPolicy> policy = NewReplicaPolicy(info, s);
      for (int m = 0; m < 30; ++m) (void)policy->Decide(At(m, 3, 3));
      EXPECT_EQ(SentenceOf(*policy).find("was not measured"), std::string::npos) << info.name << min;
      EXPECT_TRUE(policy->Missing(At(30, 3, 3)).empty()) << info.name << min;
      if (min > 0 && !policy->reads_load()) continue;
      const std::vector<std::string> missing = policy->Missing(At(30, std::nullopt, 3));
      EXPECT_EQ(std::ranges::count(missing, "the load"), 1) << info.name << min;
      if (min > 0) continue;
      (void)policy->Decide(At(30, 0, 0));
      EXPECT_EQ(policy->Decide(At(31, std::nullopt, 0)), 0) << info.name;
      EXPECT_EQ(SentenceOf(*policy), "The load was not measured, so the count stays 0.") << info.name;
    }
  }
}

// A state remains valid after a change of the minimum, and states of earlier versions can be loaded.
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
}  // namespace taut::brain
