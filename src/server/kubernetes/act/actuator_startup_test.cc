// Tests of start-up limits: a container has the limit in its first minutes, and the ordered limit afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Unix time is 10,000 s ahead of the steady clock, plus jump_s_.
class ActuatorStartup : public testing::Test {
 protected:
  ActuatorStartup() {
    owners_.ReplaceHpas({});
    owners_.ReplaceVpas({});
    terms_.startup_window_s = terms_.startup_grace_s = 300;
    terms_.startup_cores = 1;
    actuator_ = Make();
  }
  std::unique_ptr<KubernetesActuator> Make() {
    KubernetesActuator::Options options;
    options.terms = [this](const std::string& /*job*/, Resource /*resource*/) { return terms_; };
    options.owners = &owners_;
    options.unix_s = [this] { return Unix(); };
    options.steady_s = [this] { return now_s_; };
    KubernetesActuator::Eviction eviction;
    eviction.evicted = [](const WorkloadName&, const Pod&, const std::string&) {};
    options.eviction = eviction;
    return std::make_unique<KubernetesActuator>(std::move(options), &cluster_,
                                                std::make_unique<ScriptedWriter>(&script_));
  }
  int64_t Unix() const { return static_cast<int64_t>(now_s_) + 10'000 + jump_s_; }
  void Order(double cores, uint64_t decision = 7) {
    TargetOrder order;
    order.decision = decision;
    order.job = kJob;
    order.workload = InKubernetes(order.job);
    order.target = Resource::kCpu;
    order.value = cores;
    actuator_->Apply({&order, 1}, Unix());
  }
  // Returns a pod with this CPU limit, and half of this limit as request. `age_s` is the age of the pod in
  // seconds; negative: not started.
  Pod With(double cores, int64_t age_s, const char* name = kPodA) {
    Pod pod = TestPod(name);
    ContainerState& c = pod.containers[0];
    c.owner_limits = c.limits;
    c.owner_requests = c.requests;
    c.limits.cpu = c.actual_limits.cpu = cores;
    c.requests.cpu = c.actual_requests.cpu = cores / 2;
    c.running = age_s >= 0;
    if (age_s >= 0) c.started_s = pod.started_s = Unix() - age_s;
    if (age_s < 0) c.actual_limits = c.actual_requests = {};
    pod.resized_by_us = cores != 0.2;
    return pod;
  }
  // Returns the pod after a resize to `cores`.
  static Pod Now(Pod pod, double cores) {
    ContainerState& c = pod.containers[0];
    c.limits.cpu = c.actual_limits.cpu = cores;
    c.requests.cpu = c.actual_requests.cpu = cores / 2;
    pod.resized_by_us = true;
    return pod;
  }
  std::vector<std::string> Step(double seconds = 0) {
    now_s_ += seconds;
    actuator_->Step();
    return std::exchange(script_.asked, {});
  }
  std::string LastOutcome() {
    const std::vector<OutcomeUpdate> all = actuator_->TakeOutcomes();
    return all.empty() ? "" : StrCat(Name(all.back().outcome), " ", all.back().text);
  }
  static testing::Matcher<std::string> Limit(const char* quantity) {
    return HasSubstr(StrCat(R"("limits":{"cpu":")", quantity, R"("})"));
  }

  double now_s_ = 100;
  int64_t jump_s_ = 0;
  PodTerms terms_;
  ScriptedWriter::Script script_;
  FieldOwners owners_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  std::unique_ptr<KubernetesActuator> actuator_;
};

TEST_F(ActuatorStartup, AYoungContainerHasMoreAndOneResizeTakesItBack) {
  const Pod young = With(0.2, 30), old = With(0.2, 3600, kPodB);
  cluster_.pods().Replace({young, old});
  Order(0.4);
  EXPECT_THAT(Step(), testing::UnorderedElementsAre(AllOf(HasSubstr(kPodA), Limit("1")),
                                                    AllOf(HasSubstr(kPodB), Limit("400m"))));
  cluster_.pods().Put(Now(young, 1));
  cluster_.pods().Put(Now(old, 0.4));
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_EQ(LastOutcome(), "applied set on 2 pods");
  EXPECT_THAT(Step(260), IsEmpty()) << "290 s after its start";
  EXPECT_THAT(Step(16), ElementsAre(AllOf(HasSubstr(kPodA), Limit("400m"), HasSubstr(R"("cpu":"200m")"))));
  cluster_.pods().Put(Now(young, 0.4));
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_THAT(Step(3600), IsEmpty());
  EXPECT_EQ(LastOutcome(), "applied set on 2 pods");
  EXPECT_EQ(actuator_->counts().stepped_back, 0U) << "its own changes are none of another";
  EXPECT_EQ(actuator_->counts().startups, 1U);
}

TEST_F(ActuatorStartup, IsOffWithoutTheSetting) {
  terms_.startup_window_s = 0;
  cluster_.pods().Replace({With(0.2, 30)});
  Order(0.4);
  EXPECT_THAT(Step(), ElementsAre(Limit("400m")));
  EXPECT_EQ(actuator_->counts().startups, 0U);
}

TEST_F(ActuatorStartup, ANewPodGetsItFromTheWebhookAndKeepsItUntilItHasStarted) {
  Order(0.4);
  Pod pod = With(0.2, -1);
  cluster_.pods().Replace({With(0.4, 3600, kPodB)});
  (void)Step();
  const std::vector<PodOrder> orders = actuator_->OrdersFor(pod);
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(orders[0].amount, 0.4);
  EXPECT_EQ(orders[0].at_start, 1);
  pod = With(1, -1);
  pod.admitted_by_us = true;
  cluster_.pods().Put(pod);
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_THAT(Step(200), IsEmpty()) << "its image is pulled";
  Pod runs = With(1, 0);
  cluster_.pods().Put(runs);
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_THAT(Step(290), IsEmpty());
  EXPECT_THAT(Step(16), ElementsAre(Limit("400m")));
  EXPECT_EQ(actuator_->counts().startups, 1U);
}

TEST_F(ActuatorStartup, APodThatNoNodeHasRoomForGivesItUp) {
  Order(0.4);
  Pod pod = With(1, -1);
  pod.admitted_by_us = true;
  pod.node.clear();
  cluster_.pods().Replace({pod});
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_THAT(Step(66), ElementsAre(Limit("400m")));
}

TEST_F(ActuatorStartup, ARestartOfTautdInTheMiddleChangesNothing) {
  const Pod young = With(1, 100);
  cluster_.pods().Replace({young});
  Order(0.4);
  EXPECT_THAT(Step(), IsEmpty());
  const std::string state = actuator_->SaveState();
  actuator_ = Make();
  actuator_->LoadState(state);
  EXPECT_THAT(Step(20), IsEmpty());
  EXPECT_THAT(Step(186), ElementsAre(Limit("400m")));
}

TEST_F(ActuatorStartup, AContainerThatIsRestartedStartsAgain) {
  Pod pod = With(0.4, 3600);
  cluster_.pods().Replace({pod});
  Order(0.4);
  EXPECT_THAT(Step(), IsEmpty());
  pod.containers[0].started_s = Unix();
  pod.containers[0].restarts = 1;
  cluster_.pods().Put(pod);
  EXPECT_THAT(Step(), ElementsAre(Limit("1")));
  cluster_.pods().Put(Now(pod, 1));
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_THAT(Step(306), ElementsAre(Limit("400m")));
}

TEST_F(ActuatorStartup, AContainerThatEndsAgainAndAgainHasItThreeTimes) {
  Order(0.4);
  size_t boosts = 0;
  Pod pod = With(0.4, 0);
  for (int i = 0; i < 8; ++i) {
    pod.containers[0].started_s = Unix();
    cluster_.pods().Put(pod);
    if (i == 0) cluster_.pods().Replace({pod});
    for (const std::string& asked : Step()) {
      const bool more = asked.find(R"("limits":{"cpu":"1"})") != std::string::npos;
      boosts += more ? 1 : 0;
      pod = Now(pod, more ? 1 : 0.4);
      cluster_.pods().Put(pod);
    }
    EXPECT_THAT(Step(), IsEmpty());
    now_s_ += 60;
  }
  EXPECT_EQ(actuator_->counts().startups, 3U);
  EXPECT_EQ(pod.containers[0].limits.cpu, 0.4);
  EXPECT_EQ(boosts, 1U) << "it kept it over its first restarts";
}

TEST_F(ActuatorStartup, ANodeThatHasLessGivesNone) {
  cluster_.nodes().Put({"node-1", {0.8, std::nullopt}, true});
  cluster_.pods().Replace({With(0.2, 10)});
  Order(0.4);
  EXPECT_THAT(Step(), ElementsAre(Limit("400m")));
  EXPECT_EQ(actuator_->counts().startups, 0U);
}

TEST_F(ActuatorStartup, WhatIsInfeasibleIsGivenUpAndNoReasonToEvict) {
  Pod pod = With(0.2, 10);
  cluster_.pods().Replace({pod});
  Order(0.4);
  EXPECT_THAT(Step(), ElementsAre(Limit("1")));
  pod = Now(pod, 1);
  pod.containers[0].actual_limits.cpu = 0.2;
  pod.resize = ResizeState::kInfeasible;
  cluster_.pods().Put(pod);
  (void)Step();
  EXPECT_THAT(Step(), ElementsAre(Limit("400m")));
  pod = Now(pod, 0.4);
  pod.resize = ResizeState::kNone;
  cluster_.pods().Put(pod);
  EXPECT_THAT(Step(600), IsEmpty());
  EXPECT_EQ(actuator_->counts().evicted + actuator_->counts().not_evicted, 0U);
}

TEST_F(ActuatorStartup, ADeferredOneWaitsForTheEndOfTheWindow) {
  Pod pod = With(0.2, 10);
  cluster_.pods().Replace({pod});
  Order(0.4);
  EXPECT_THAT(Step(), SizeIs(1));
  pod = Now(pod, 1);
  pod.containers[0].actual_limits.cpu = 0.2;
  pod.resize = ResizeState::kDeferred;
  cluster_.pods().Put(pod);
  EXPECT_THAT(Step(250), IsEmpty());
  EXPECT_EQ(actuator_->counts().evicted + actuator_->counts().not_evicted, 0U);
  EXPECT_THAT(Step(50), ElementsAre(Limit("400m")));
}

TEST_F(ActuatorStartup, WhatTheApiServerRefusesIsGivenUpAndTheOrderIsSet) {
  script_.resize = absl::PermissionDeniedError("exceeded quota");
  cluster_.pods().Replace({With(0.2, 10)});
  Order(0.4);
  EXPECT_THAT(Step(), ElementsAre(Limit("1")));
  EXPECT_THAT(LastOutcome(), HasSubstr("exceeded quota"));
  script_.resize = absl::OkStatus();
  EXPECT_THAT(Step(), ElementsAre(Limit("400m")));
}

TEST_F(ActuatorStartup, WithoutPodsResizeNewPodsStartWithTheOrder) {
  cluster_.pods().Replace({With(0.2, 10)});
  Order(0.4);
  script_.resize = absl::NotFoundError("the server could not find the requested resource");
  (void)Step();
  const std::vector<PodOrder> orders = actuator_->OrdersFor(With(0.2, -1, kPodB));
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(orders[0].at_start, std::nullopt) << "nothing could take it back";
}

TEST_F(ActuatorStartup, ALowerMemoryLimitThatCannotBeSaysNothingOfCpu) {
  script_.resize =
      absl::InvalidArgumentError("the API server answered 422: Forbidden: memory limits cannot be decreased");
  cluster_.pods().Replace({With(0.2, 10)});
  TargetOrder memory;
  memory.decision = 9;
  memory.job = kJob;
  memory.workload = InKubernetes(memory.job);
  memory.target = Resource::kMemory;
  memory.value = 40 * kMebibyte;
  actuator_->Apply({&memory, 1}, 1000);
  (void)Step();
  Order(0.4);
  (void)Step();
  const std::vector<PodOrder> orders = actuator_->OrdersFor(With(0.2, -1, kPodB));
  ASSERT_FALSE(orders.empty());
  EXPECT_TRUE(std::ranges::any_of(orders, [](const PodOrder& o) { return o.at_start.has_value(); }));
}

TEST_F(ActuatorStartup, ARefusalOfAnotherResourceIsNoReasonToGiveItUp) {
  Pod pod = With(0.2, 10);
  cluster_.pods().Replace({pod});
  Order(0.4);
  EXPECT_THAT(Step(), ElementsAre(Limit("1")));
  pod = Now(pod, 1);
  pod.containers[0].actual_limits = pod.containers[0].limits;
  pod.containers[0].actual_requests = pod.containers[0].requests;
  pod.resize = ResizeState::kError;
  pod.resize_message =
      "cannot decrease memory limits: attempting to set container \"log\" memory limit (1) below current "
      "usage (2)";
  cluster_.pods().Put(pod);
  EXPECT_THAT(Step(100), IsEmpty()) << "the container runs with its start-up limit";
}

TEST_F(ActuatorStartup, AClockThatJumpsEndsItOrLeavesItForAWindowAtMost) {
  const Pod young = With(0.2, 10);
  cluster_.pods().Replace({young});
  Order(0.4);
  EXPECT_THAT(Step(), ElementsAre(Limit("1")));
  cluster_.pods().Put(Now(young, 1));
  jump_s_ = -86'400;  // the pod's start is now in the future
  EXPECT_THAT(Step(), ElementsAre(Limit("400m")));
  cluster_.pods().Put(Now(young, 0.4));
  jump_s_ = 86'400;
  EXPECT_THAT(Step(), IsEmpty());
}

TEST_F(ActuatorStartup, AHigherOrderHoldsAndItsOwnAmountStaysForOneStart) {
  const Pod young = With(0.2, 10);
  cluster_.pods().Replace({young});
  Order(0.4);
  EXPECT_THAT(Step(), ElementsAre(Limit("1")));
  cluster_.pods().Put(Now(young, 1));
  terms_.startup_cores = 1.3;
  EXPECT_THAT(Step(11), IsEmpty()) << "no further change of a pod that has it";
  Order(2, 8);
  EXPECT_THAT(Step(), ElementsAre(Limit("2")));
}

TEST_F(ActuatorStartup, AnothersChangeOfItIsRespected) {
  const Pod young = With(0.2, 10);
  cluster_.pods().Replace({young});
  Order(0.4);
  EXPECT_THAT(Step(), SizeIs(1));
  cluster_.pods().Put(Now(young, 1));
  EXPECT_THAT(Step(), IsEmpty());
  cluster_.pods().Put(Now(young, 1.5));
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_EQ(actuator_->counts().stepped_back, 1U);
  EXPECT_THAT(Step(400), IsEmpty()) << "also after its window";
  EXPECT_THAT(Step(3600), ElementsAre(Limit("400m")));
}

TEST_F(ActuatorStartup, TenThousandThatStartAtOnceAreLookedAtTogether) {
  std::vector<Pod> pods;
  constexpr int kPods = 10'000;
  for (int i = 0; i < kPods; ++i) pods.push_back(With(1, i % 5, StrCat("web-5d4f8c7b9d-", i).c_str()));
  cluster_.pods().Replace(std::vector<Pod>(pods));
  Order(0.4);
  EXPECT_THAT(Step(), IsEmpty());
  size_t steps = 0, asked = 0;
  for (int s = 0; s < 320; ++s) {
    const std::vector<std::string> patches = Step(1);
    EXPECT_THAT(patches, Each(Limit("400m")));
    steps += patches.empty() ? 0 : 1;
    asked += patches.size();
  }
  EXPECT_EQ(asked, size_t{kPods}) << "one each";
  EXPECT_LE(steps, 2U);
}

}  // namespace
}  // namespace taut::server
