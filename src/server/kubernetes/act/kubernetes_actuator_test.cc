#include "server/kubernetes/act/kubernetes_actuator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Actuator : public testing::Test {
 protected:
  Actuator() {
    owners_.ReplaceHpas({});
    owners_.ReplaceVpas({});
    owners_.ReplaceScaledObjects({});
    actuator_ = Make();
  }
  std::unique_ptr<KubernetesActuator> Make() {
    KubernetesActuator::Options options;
    options.scale = true;
    options.why_not = [this] { return why_not_; };
    options.terms = [this](const std::string& /*job*/, Resource /*resource*/) { return terms_; };
    options.owners = &owners_;
    options.kernel = &kernel_;
    options.kernel_low = [this](const WorkloadName& /*workload*/, const Pod& /*pod*/,
                                const std::string& text) { low_.push_back(text); };
    KubernetesActuator::Eviction eviction;
    eviction.evicted = [](const WorkloadName&, const Pod&, const std::string&) {};
    if (evicts_) options.eviction = std::move(eviction);
    options.rules = [this](const std::string& /*namespace_name*/) { return rules_; };
    options.unix_s = [this] { return static_cast<int64_t>(now_s_) + 900; };
    options.steady_s = [this] { return now_s_; };
    return std::make_unique<KubernetesActuator>(std::move(options), &cluster_,
                                                std::make_unique<ScriptedWriter>(&script_));
  }
  static TargetOrder Memory(uint64_t decision, std::optional<double> mebibytes) {
    TargetOrder out;
    out.decision = decision;
    out.job = kJob;
    out.workload = InKubernetes(out.job);
    out.target = Resource::kMemory;
    if (mebibytes.has_value()) out.value = *mebibytes * kMebibyte;
    return out;
  }
  void Order(const TargetOrder& order) { actuator_->Apply({&order, 1}, 1000); }
  std::vector<std::string> Asked() { return std::exchange(script_.asked, {}); }
  // Returns the outcomes since the last call, such as "7 applied set on 1 pod".
  std::vector<std::string> Outcomes() { return OutcomesOf(*actuator_); }
  // Returns a pod whose patch the API server accepted and, if `by_kubelet`, the kubelet carried out.
  static Pod Resized(const char* name, double limit_mebibytes, bool by_kubelet = true) {
    Pod pod = TestPod(name);
    pod.resized_by_us = true;
    ContainerState& c = pod.containers[0];
    c.limits.memory = limit_mebibytes * kMebibyte;
    c.requests.memory = limit_mebibytes / 2 * kMebibyte;
    if (by_kubelet) c.actual_limits = c.limits;
    if (by_kubelet) c.actual_requests = c.requests;
    return pod;
  }

  double now_s_ = 100;
  std::string why_not_;
  std::optional<PodTerms> terms_ = PodTerms();
  ScriptedWriter::Script script_;
  std::vector<NamespaceRule> rules_;
  KernelLimits kernel_;
  std::vector<std::string> low_;
  bool evicts_ = false;
  FieldOwners owners_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  std::unique_ptr<KubernetesActuator> actuator_;
};

TEST_F(Actuator, SetsALimitOnEveryPodAndSaysSo) {
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "before the pods are known";
  cluster_.pods().Replace({TestPod(kPodA), TestPod(kPodB)});
  actuator_->Step();
  const auto patch = [](const char* pod) {
    return StrCat(
        "resize shop/", pod,
        R"( {"spec":{"containers":[{"name":"app","resources":{"requests":{"memory":"50Mi"},"limits":{"memory":"100Mi"}}}]}})");
  };
  EXPECT_THAT(Asked(), ElementsAre(patch(kPodA), patch(kPodB)));
  EXPECT_THAT(Outcomes(), ElementsAre(StrCat("7 pending set on 0 of 2 pods; pod shop/", kPodA,
                                             ": the kubelet has not taken it yet")));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "patched, but not seen yet";
  cluster_.pods().Put(Resized(kPodA, 100));
  cluster_.pods().Put(Resized(kPodB, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(), ElementsAre("7 applied set on 2 pods"));
  EXPECT_EQ(actuator_->counts().resizes, 2U);
}

TEST_F(Actuator, APodThatComesLaterGetsItTooAlsoAfterARestart) {
  Order(Memory(7, 100));
  cluster_.pods().Replace({Resized(kPodA, 100)});
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre("7 applied set on 1 pod"));
  const std::string state = actuator_->SaveState();
  actuator_ = Make();
  actuator_->LoadState(state);
  cluster_.pods().Put(TestPod(kPodB));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(StrCat("resize shop/", kPodB))));
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("7 pending set on 1 of 2 pods")));
  cluster_.pods().Put(Resized(kPodB, 100));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre("7 applied set on 2 pods"));
}

TEST_F(Actuator, RaisesGoFirstAlsoThoseThatComeMeanwhile) {
  Pod other = TestPod("api-5d4f8c7b9d-ccccc");
  other.owner_name = "api-5d4f8c7b9d";
  cluster_.pods().Replace({TestPod(kPodA), other});
  const auto cpu = [](uint64_t decision, std::string job, double cores) {
    TargetOrder out;
    out.decision = decision;
    out.job = std::move(job);
    out.workload = InKubernetes(out.job);
    out.target = Resource::kCpu;
    out.value = cores;
    return out;
  };
  const auto memory_of = [](const char* mebibytes) {
    return AllOf(HasSubstr(kPodA), HasSubstr(StrCat(R"("limits":{"memory":")", mebibytes, R"(Mi"})")));
  };
  const auto cpu_of = [](const std::string& pod, const char* cores) {
    return AllOf(HasSubstr(pod), HasSubstr(StrCat(R"("limits":{"cpu":")", cores, R"("})")));
  };
  Order(cpu(1, kJob, 0.15));
  Order(cpu(2, "shop/deployment/api/app", 0.15));
  Order(Memory(3, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(memory_of("100"), cpu_of(other.name, "150m"), cpu_of(kPodA, "150m")));

  actuator_ = Make();
  Order(cpu(4, kJob, 0.1));
  Order(cpu(5, "shop/deployment/api/app", 0.1));
  script_.on_resize = [&] {
    script_.on_resize = {};
    Order(Memory(6, 128));
    Order(cpu(7, kJob, 0.12));
  };
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(cpu_of(other.name, "100m"), memory_of("128"), cpu_of(kPodA, "120m")))
      << "and what a newer order has replaced is not set";
}

TEST_F(Actuator, ChangesNothingWhileAnotherHoldsTheLease) {
  cluster_.pods().Replace({TestPod(kPodA)});
  why_not_ = "tautd-1 holds the lease";
  Order(Memory(7, 100));
  TargetOrder replicas = Memory(8, std::nullopt);
  replicas.target = Target::Replicas();
  replicas.value = 3;
  Order(replicas);
  actuator_->Step();
  now_s_ += 60;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(), ElementsAre("7 pending set on 0 of 1 pod; tautd-1 holds the lease",
                                      "8 pending tautd-1 holds the lease"));
  why_not_ = "";
  now_s_ += 60;
  actuator_->Step();
  EXPECT_THAT(Asked(), testing::Contains(HasSubstr("resize shop/")));
  cluster_.pods().Put(Resized(kPodA, 100));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), testing::Contains("7 applied set on 1 pod"));

  // The tautd that holds the lease may set another limit. This tautd does not step back from such a change.
  why_not_ = "tautd-1 holds the lease";
  cluster_.pods().Put(Resized(kPodA, 140));
  actuator_->Step();
  (void)Asked();
  why_not_ = "";
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"100Mi"})")));
  EXPECT_EQ(actuator_->counts().stepped_back, 0U);
}

TEST_F(Actuator, ARequestAloneFollowsEachOrder) {
  const auto with = [](double mebibytes) {
    Pod pod = TestPod(kPodA);
    ContainerState& c = pod.containers[0];
    pod.resized_by_us = true;
    c.limits.memory.reset();
    c.actual_limits.memory.reset();
    c.requests.memory = c.actual_requests.memory = mebibytes * kMebibyte;
    return pod;
  };
  cluster_.pods().Replace({with(32)});
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("resources":{"requests":{"memory":"100Mi"}})")));
  cluster_.pods().Put(with(100));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), testing::Contains("7 applied set on 1 pod"));
  Order(Memory(8, 60));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"({"memory":"60Mi"})")))
      << "a new order is no change by another";
  cluster_.pods().Put(with(60));
  actuator_->Step();
  cluster_.pods().Put(with(300));
  actuator_->Step();
  EXPECT_EQ(actuator_->counts().stepped_back, 1U);
}

TEST_F(Actuator, NothingIsLoweredWhileAPodStarts) {
  Pod young = TestPod(kPodA);
  young.started_s = 950;  // 50 s before the current time
  cluster_.pods().Replace({young});
  Order(Memory(7, 40));
  actuator_->Step();
  EXPECT_THAT(Asked(), testing::IsEmpty());
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("7 pending"), HasSubstr("for another 250 s"))));
  Order(Memory(8, 900));  // a raise, as after an OOM kill
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(kPodA)));
  Pod raised = Resized(kPodA, 900);
  raised.started_s = 950;
  cluster_.pods().Put(raised);
  Order(Memory(9, 40));
  actuator_->Step();
  EXPECT_THAT(Asked(), testing::IsEmpty());
  now_s_ += 251;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(kPodA)));
}

TEST_F(Actuator, TheGraceIsThatOfTheJobAndAChangeOfItCountsForWhatWaits) {
  terms_->startup_grace_s = 60;
  Pod young = TestPod(kPodA);
  young.started_s = 970;  // 30 s before the current time
  cluster_.pods().Replace({young});
  Order(Memory(7, 40));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("for another 30 s (startup_grace)")));
  terms_->startup_grace_s = 600;
  now_s_ += 40;
  actuator_->Step();
  EXPECT_THAT(Asked(), testing::IsEmpty());
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("for another 530 s")));
  terms_->startup_grace_s = 0;
  now_s_ += 10;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(kPodA)));
}

TEST_F(Actuator, AContainerThatHasJustRestartedStartsToo) {
  Pod pod = TestPod(kPodA);
  pod.started_s = 100;  // 900 s before the current time
  pod.containers[0].started_s = 900;
  cluster_.pods().Replace({pod});
  Order(Memory(7, 40));
  actuator_->Step();
  EXPECT_THAT(Asked(), testing::IsEmpty());
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("for another 200 s")));
  now_s_ += 201;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(kPodA)));
}

TEST_F(Actuator, ATrialIsOfSomePodsOnly) {
  cluster_.pods().Replace({Resized(kPodA, 100), Resized(kPodB, 100)});
  Order(Memory(7, 100));
  actuator_->Step();
  (void)Outcomes();
  TargetOrder trial = Memory(8, 80);
  trial.tasks = {kPodB};
  Order(trial);
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(kPodB)));
  cluster_.pods().Put(Resized(kPodB, 80));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), testing::Contains("8 applied set on 1 pod"));
  Order(Memory(9, 80));  // an order for all pods
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(kPodA)));
}

TEST_F(Actuator, SaysWhatTheKubeletSays) {
  cluster_.pods().Replace({TestPod(kPodA)});
  Order(Memory(7, 100));
  actuator_->Step();
  (void)Outcomes();
  Pod pod = Resized(kPodA, 100, false);
  pod.resize = ResizeState::kDeferred;
  pod.resize_message = "Node didn't have enough resource: memory";
  cluster_.pods().Put(pod);
  actuator_->Step();
  EXPECT_THAT(Outcomes(),
              ElementsAre(AllOf(HasSubstr("7 pending"), HasSubstr("deferred by the kubelet: Node didn't"))));
  pod.resize = ResizeState::kInfeasible;
  cluster_.pods().Put(pod);
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("7 failed"), HasSubstr("infeasible"))));
  cluster_.pods().Put(Resized(kPodA, 100));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre("7 applied set on 1 pod"));
}

// While a resize is refused, the kubelet resizes nothing else in the pod, neither CPU nor other containers.
TEST_F(Actuator, ALowerMemoryLimitThatTheKubeletRefusesIsWithdrawn) {
  Pod pod = TestPod(kPodA);  // the pod runs with 64 MiB
  pod.containers[0].actual_limits = pod.containers[0].limits;
  pod.containers[0].actual_requests = pod.containers[0].requests;
  cluster_.pods().Replace({pod});
  Order(Memory(7, 40));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"40Mi"})")));
  Pod refused = pod;
  refused.resized_by_us = true;
  refused.containers[0].limits.memory = 40 * kMebibyte;
  refused.containers[0].requests.memory = 20 * kMebibyte;
  refused.resize = ResizeState::kError;
  refused.resize_message =
      "cannot decrease memory limits: attempting to set container \"log\" memory limit (9) below current "
      "usage (10)";
  cluster_.pods().Put(refused);
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "of another container";
  refused.resize_message =
      "cannot decrease memory limits: attempting to set container \"app\" memory limit (41943040) below "
      "current usage (50000000)";
  cluster_.pods().Put(refused);
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("requests":{"memory":"32Mi"},"limits":{"memory":"64Mi"})")));
  EXPECT_THAT(Outcomes(), testing::Contains(
                              AllOf(HasSubstr("7 pending"), HasSubstr("with the page cache is not below"))));
  pod.resized_by_us = true;
  cluster_.pods().Put(pod);
  now_s_ += 300;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "no other has changed it, and it is not tried at once";
  EXPECT_EQ(actuator_->counts().stepped_back, 0U);
  now_s_ += 301;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"40Mi"})"))) << "usage may have fallen";
  Order(Memory(7, 40));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(actuator_->counts().stepped_back, 0U)
      << "before the watch shows the retry, no other has changed it";
  cluster_.pods().Put(refused);
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"64Mi"})")));
  cluster_.pods().Put(pod);
  Order(Memory(8, 90));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"90Mi"})"))) << "a raise does not wait";
}

TEST_F(Actuator, ARefusedLimitWaitsAlsoAfterARestart) {
  Pod pod = TestPod(kPodA);
  pod.containers[0].actual_limits = pod.containers[0].limits;
  pod.containers[0].actual_requests = pod.containers[0].requests;
  pod.resized_by_us = true;
  Pod refused = pod;
  refused.containers[0].limits.memory = 40 * kMebibyte;
  refused.containers[0].requests.memory = 20 * kMebibyte;
  refused.resize = ResizeState::kError;
  refused.resize_message =
      "cannot decrease memory limits: attempting to set container \"app\" memory limit (1) below current "
      "usage (2)";
  Order(Memory(7, 40));
  cluster_.pods().Replace({refused});
  script_.resize = absl::PermissionDeniedError("exceeded quota");
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"64Mi"})")))
      << "the first look withdraws it";
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("7 failed"), HasSubstr("exceeded quota"))));
  now_s_ += 60;
  Order(Memory(7, 40));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), Not(testing::Contains(HasSubstr("7 pending"))))
      << "a withdrawal that fails is no wait";
  script_.resize = absl::OkStatus();
  now_s_ += 601;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"64Mi"})")));
  cluster_.pods().Put(pod);
  now_s_ += 300;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "it waits";
  now_s_ += 301;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"40Mi"})")));
}

TEST_F(Actuator, RetriesWhatMayPassAndWaitsLongerAfterARefusal) {
  cluster_.pods().Replace({TestPod(kPodA)});
  script_.resize = absl::UnavailableError("the API server answered 429");
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("7 pending")));
  EXPECT_EQ(Asked().size(), 1U);
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  now_s_ += 5;
  script_.resize = absl::PermissionDeniedError("the API server answered 403: pods/resize is forbidden");
  actuator_->Step();
  EXPECT_EQ(Asked().size(), 1U);
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("7 failed"), HasSubstr("pods/resize is forbidden"))));
  now_s_ += 60;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  now_s_ += 600;
  script_.resize = absl::OkStatus();
  actuator_->Step();
  EXPECT_EQ(Asked().size(), 1U);
  EXPECT_EQ(actuator_->counts().failed, 2U);
}

TEST_F(Actuator, WaitsAsLongAsTheServerAsks) {
  cluster_.pods().Replace({TestPod(kPodA)});
  script_.resize = absl::UnavailableError("the API server answered 429: too many requests");
  script_.retry_after_s = 30;
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_EQ(Asked().size(), 1U);
  now_s_ += 29;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  now_s_ += 1;
  actuator_->Step();
  EXPECT_EQ(Asked().size(), 1U);
}

TEST_F(Actuator, StepsBackWhenAnotherChangesIt) {
  cluster_.pods().Replace({Resized(kPodA, 100)});
  Order(Memory(7, 100));
  actuator_->Step();
  (void)Outcomes();
  cluster_.pods().Put(Resized(kPodA, 300));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(),
              ElementsAre(AllOf(HasSubstr("7 failed"), HasSubstr("another has changed the memory limit"))));
  EXPECT_EQ(actuator_->counts().stepped_back, 1U);
  now_s_ += 3601;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr("100Mi")));
}

TEST_F(Actuator, AnotherAllocationHoldsForPodsThatThereAre) {
  cluster_.pods().Replace({Resized(kPodA, 100)});
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  terms_->allocation.applies_to = AppliesTo::kRequestOnly;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "looked at every 10 s";
  now_s_ += 11;
  actuator_->Step();
  EXPECT_THAT(Asked(),
              ElementsAre(HasSubstr(R"({"name":"app","resources":{"requests":{"memory":"100Mi"}}})")));
  EXPECT_EQ(actuator_->counts().stepped_back, 0U);
  Pod pod = Resized(kPodA, 100);
  pod.containers[0].requests.memory = pod.containers[0].actual_requests.memory = 100 * kMebibyte;
  cluster_.pods().Put(pod);
  actuator_->Step();
  pod.containers[0].requests.memory = 50 * kMebibyte;
  cluster_.pods().Put(pod);
  actuator_->Step();
  EXPECT_EQ(actuator_->counts().stepped_back, 1U) << "another has changed the request";
}

TEST_F(Actuator, AJobThatIsNotKnownIsLeftAloneUntilItIs) {
  terms_.reset();
  cluster_.pods().Replace({TestPod(kPodA)});
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  terms_.emplace();
  now_s_ += 11;
  actuator_->Step();
  EXPECT_EQ(Asked().size(), 1U);
}

TEST_F(Actuator, WhatHoldsForPodsToBeIsWhatWasOrderedForAll) {
  cluster_.pods().Replace({TestPod(kPodA)});
  Pod next = TestPod("");
  Order(Memory(7, 100));
  actuator_->Step();
  const std::vector<PodOrder> orders = actuator_->OrdersFor(next);
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].container, "app");
  EXPECT_EQ(orders[0].amount, 100 * kMebibyte);
  why_not_ = "another holds the lease";
  EXPECT_THAT(actuator_->OrdersFor(next), IsEmpty());
  why_not_ = "";
  next.namespace_name = "other";
  EXPECT_THAT(actuator_->OrdersFor(next), IsEmpty());
  next.namespace_name = "shop";
  Order(Memory(8, std::nullopt));
  actuator_->Step();
  EXPECT_THAT(actuator_->OrdersFor(next), IsEmpty()) << "the owner's again";
}

TEST_F(Actuator, ANewOrderEndsTheStepBack) {
  cluster_.pods().Replace({Resized(kPodA, 100)});
  Order(Memory(7, 100));
  actuator_->Step();
  cluster_.pods().Put(Resized(kPodA, 300));
  actuator_->Step();
  Order(Memory(8, 120));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr("120Mi")));
}

TEST_F(Actuator, GivesTheOwnersLimitBack) {
  cluster_.pods().Replace({Resized(kPodA, 100), TestPod(kPodB)});
  script_.containers = {TestContainer()};
  Order(Memory(9, std::nullopt));
  actuator_->Step();
  EXPECT_THAT(Asked(),
              ElementsAre("template shop/web",
                          AllOf(HasSubstr(kPodA),
                                HasSubstr(R"("requests":{"memory":"32Mi"},"limits":{"memory":"64Mi"})"))));
  EXPECT_EQ(actuator_->counts().orders, 1U);
  cluster_.pods().Put(Resized(kPodA, 64));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), testing::Contains("9 applied set on 2 pods"));
  EXPECT_EQ(actuator_->counts().orders, 0U);
}

// If tautd was killed, its stored state may be older than the decisions that are sent again.
TEST_F(Actuator, OrdersThatAreSentAgainHoldAndAreNotReportedAgain) {
  const std::string state = [&] {
    Order(Memory(7, 40));
    return actuator_->SaveState();
  }();
  const auto known = [](TargetOrder order, Outcome outcome) {
    order.known = outcome;
    return order;
  };
  actuator_ = Make();
  actuator_->LoadState(state);
  Order(known(Memory(8, 100), Outcome::kApplied));
  cluster_.pods().Replace({Resized(kPodA, 100)});
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(), ElementsAre("7 superseded replaced by a later decision", "8 applied set on 1 pod"));
  EXPECT_EQ(actuator_->OrdersFor(TestPod(""))[0].amount, 100 * kMebibyte);

  actuator_ = Make();
  actuator_->LoadState(state);
  Order(known(Memory(9, std::nullopt), Outcome::kApplied));
  script_.containers = {TestContainer()};
  cluster_.pods().Put(Resized(kPodA, 64));
  actuator_->Step();
  EXPECT_THAT(actuator_->OrdersFor(TestPod("")), IsEmpty());
  EXPECT_EQ(actuator_->counts().orders, 0U) << "released";
  Order(known(Memory(6, 50), Outcome::kApplied));
  Order(known(Memory(5, 40), Outcome::kApplied));
  actuator_->Step();
  EXPECT_EQ(actuator_->OrdersFor(TestPod(""))[0].amount, 50 * kMebibyte) << "an older one replaces none";
}

TEST_F(Actuator, ANumberOfReplicasThatWasSetIsNotSetAgainAfterAKill) {
  cluster_.pods().Replace({TestPod(kPodA)});
  TargetOrder replicas = Memory(8, std::nullopt);
  replicas.target = Target::Replicas();
  replicas.value = 3;
  replicas.known = Outcome::kApplied;
  Order(replicas);
  TargetOrder other = Memory(9, 100);
  other.job = "docker/web";
  other.workload = InKubernetes(other.job);
  other.known = Outcome::kFailed;
  Order(other);
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(), IsEmpty());
}

TEST_F(Actuator, AnOrderHoldsOnlyAsFarAsTheJobsModeAndBoundsLetIt) {
  script_.containers = {TestContainer()};
  Pod pod = Resized(kPodA, 100);
  cluster_.pods().Replace({pod});
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre("7 applied set on 1 pod"));
  for (const Mode mode : {Mode::kOff, Mode::kObserve}) {
    terms_->mode = mode;
    cluster_.pods().Put(Resized(kPodA, 100));
    actuator_->Step();
    EXPECT_THAT(Asked(), ElementsAre("template shop/web", HasSubstr(R"("limits":{"memory":"64Mi"})")));
    EXPECT_THAT(actuator_->OrdersFor(TestPod("")), IsEmpty());
    cluster_.pods().Put(Resized(kPodA, 64));
    actuator_->Step();
    EXPECT_THAT(Asked(), ElementsAre("template shop/web"));
    EXPECT_THAT(Outcomes(), IsEmpty());
    terms_->mode = Mode::kAuto;
    now_s_ += 11;
    actuator_->Step();
    EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"100Mi"})")));
    cluster_.pods().Put(Resized(kPodA, 100));
    actuator_->Step();
    (void)Outcomes();
  }
  terms_->upper = 80 * kMebibyte;
  now_s_ += 11;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"80Mi"})")));
  EXPECT_EQ(actuator_->OrdersFor(TestPod(""))[0].amount, 80 * kMebibyte);
  cluster_.pods().Put(Resized(kPodA, 80));
  terms_->lower = 90 * kMebibyte;
  terms_->upper.reset();
  Order(Memory(8, 70));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"90Mi"})")));
  EXPECT_EQ(actuator_->counts().stepped_back, 0U);
}

// The pod's amounts were set by a tautd with another store, or by a tautd that no longer runs.
TEST_F(Actuator, APodOfAJobInModeOffGetsItsOwnersAmountsWithoutAnOrder) {
  script_.containers = {TestContainer()};
  terms_->mode = Mode::kOff;
  cluster_.pods().Replace({TestPod(kPodA)});
  Pod pod = Resized(kPodA, 100);
  pod.resized = true;
  cluster_.pods().Put(pod);
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre("template shop/web", HasSubstr(R"("limits":{"memory":"64Mi"})")));
  Pod back = Resized(kPodA, 64);
  back.resized = true;
  cluster_.pods().Put(back);
  actuator_->Step();
  (void)Asked();
  EXPECT_EQ(actuator_->counts().orders, 0U);
  EXPECT_THAT(Outcomes(), IsEmpty());
  now_s_ += 11;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "once";
  terms_->mode = Mode::kObserve;
  cluster_.pods().Put(pod);
  now_s_ += 11;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "who only observes may observe what another sets";
}

// The state in the watch is outdated. A patch planned from this state would make the pod Guaranteed.
TEST_F(Actuator, ASecondPatchIsPlannedFromWhatTheFirstLeft) {
  terms_->allocation.request_share = 1;
  cluster_.pods().Replace({TestPod(kPodA)});
  TargetOrder cpu = Memory(8, std::nullopt);
  cpu.target = Resource::kCpu;
  cpu.value = 0.3;
  Order(Memory(7, 100));
  Order(cpu);
  actuator_->Step();
  const std::vector<std::string> asked = Asked();
  ASSERT_EQ(asked.size(), 2U);
  int equal = 0;
  for (const std::string& patch : asked) {
    equal += patch.find(R"("requests":{"cpu":"300m"},"limits":{"cpu":"300m"})") != std::string::npos ? 1 : 0;
    equal += patch.find(R"("requests":{"memory":"100Mi"},"limits":{"memory":"100Mi"})") != std::string::npos
                 ? 1
                 : 0;
  }
  EXPECT_EQ(equal, 1) << asked[0] << " " << asked[1];
}

TEST_F(Actuator, WhatARuleOfTheNamespaceAllowsIsSet) {
  NamespaceRule rule{.namespace_name = "shop", .name = "small"};
  rule.container.max.memory = 80 * kMebibyte;
  rules_ = {rule};
  cluster_.pods().Replace({TestPod(kPodA)});
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"80Mi"})")));
  cluster_.pods().Put(Resized(kPodA, 80));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(),
              testing::Contains(AllOf(HasSubstr("7 failed"), HasSubstr("small: memory of container app"),
                                      HasSubstr("80Mi of 100Mi fit"))));
  rules_.clear();
  now_s_ += 601;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"100Mi"})"))) << "once it may";
  EXPECT_EQ(actuator_->counts().stepped_back, 0U);
}

TEST_F(Actuator, WhatAQuotaHasLeftIsSet) {
  NamespaceRule rule{.namespace_name = "shop", .name = "team"};
  rule.limits_left.memory = 16 * kMebibyte;  // room in addition to the pod's 64 MiB
  rules_ = {rule};
  cluster_.pods().Replace({TestPod(kPodA)});
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"80Mi"})")));
  rules_[0].limits_left.memory = 0;
  cluster_.pods().Put(Resized(kPodA, 80));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "nothing more fits";
  EXPECT_THAT(Outcomes(), testing::Contains(AllOf(HasSubstr("7 failed"), HasSubstr("80Mi of 100Mi fit"))));
  Order(Memory(8, 40));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"40Mi"})"))) << "less always fits";
}

// The state of a pod after a resize that coincided with a restart of its container.
TEST_F(Actuator, APodThatTheKernelHoldsToLessIsResizedOnceMoreAndThenEvicted) {
  evicts_ = true;
  actuator_ = Make();
  const auto reports = [this](double mebibytes) {
    kernel_.Take(
        StrCat(R"(container_spec_memory_limit_bytes{container="",id="/kubepods/burstable/poduid-)", kPodA,
               R"(",image="",name="",namespace="shop",pod=")", kPodA, R"("} )", mebibytes * kMebibyte),
        now_s_);
  };
  const auto step = [this](double seconds) {
    now_s_ += seconds;
    actuator_->Step();
    return Asked();
  };
  cluster_.pods().Replace({Resized(kPodA, 512), Resized(kPodB, 512)});
  Order(Memory(7, 512));
  reports(154);
  EXPECT_THAT(step(11), IsEmpty()) << "the report may be of before the resize";
  EXPECT_THAT(step(25), IsEmpty()) << "the same report confirms nothing";
  reports(154);
  const std::vector<std::string> once = step(11);
  EXPECT_THAT(once, ElementsAre(HasSubstr(R"("limits":{"memory":"536875008"})")));
  EXPECT_THAT(low_,
              ElementsAre(HasSubstr("the kernel holds it to 154Mi, and its containers run with 512Mi")));
  EXPECT_EQ(actuator_->counts().kernel_low, 1U);
  Pod again = Resized(kPodA, 512);
  ContainerState& c = again.containers[0];
  c.limits.memory = c.actual_limits.memory = 512 * kMebibyte + 4096;
  c.requests.memory = c.actual_requests.memory = 256 * kMebibyte + 2048;
  cluster_.pods().Put(again);
  reports(154);
  EXPECT_THAT(step(11), IsEmpty());
  reports(154);
  EXPECT_THAT(step(61), testing::Contains(HasSubstr(StrCat("evict shop/", kPodA))));
  EXPECT_EQ(actuator_->counts().kernel_low, 1U);
}

// A pod whose limit was released has no order.
TEST_F(Actuator, AReleasedPodThatTheKernelHoldsToLessIsResizedOnceMoreToo) {
  script_.containers = {TestContainer()};
  terms_->mode = Mode::kOff;
  Pod back = Resized(kPodA, 64);
  back.resized = true;
  cluster_.pods().Replace({TestPod(kPodA)});
  cluster_.pods().Put(back);
  const auto step = [this](double mebibytes) {
    kernel_.Take(
        StrCat(R"(container_spec_memory_limit_bytes{container="",id="/kubepods/burstable/poduid-)", kPodA,
               R"(",image="",namespace="shop",pod=")", kPodA, R"("} )", mebibytes * kMebibyte),
        now_s_);
    now_s_ += 11;
    actuator_->Step();
    return Asked();
  };
  EXPECT_THAT(step(32), IsEmpty());
  EXPECT_THAT(step(32), IsEmpty());
  EXPECT_THAT(step(32), ElementsAre("template shop/web", HasSubstr(R"("limits":{"memory":"67112960"})")));
  back.containers[0].limits.memory = back.containers[0].actual_limits.memory = 64 * kMebibyte + 4096;
  cluster_.pods().Put(back);
  (void)step(64 + 4096 / kMebibyte);
  for (int i = 0; i < 5; ++i) EXPECT_THAT(step(64 + 4096 / kMebibyte), IsEmpty()) << i;
  EXPECT_EQ(actuator_->counts().orders, 0U);
  EXPECT_EQ(actuator_->counts().kernel_low, 1U);
  EXPECT_THAT(Outcomes(), IsEmpty());
}

TEST_F(Actuator, APodThatTheKernelHoldsToItsLimitsIsLeftAlone) {
  cluster_.pods().Replace({Resized(kPodA, 512)});
  Order(Memory(7, 512));
  for (int i = 0; i < 20; ++i) {
    kernel_.Take(StrCat(R"(container_spec_memory_limit_bytes{container="",id="/kubepods/burstable/poduid-)",
                        kPodA, R"(",image="",namespace="shop",pod=")", kPodA, R"("} )", 512 * kMebibyte),
                 now_s_);
    now_s_ += 11;
    actuator_->Step();
  }
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(low_, IsEmpty());
}

TEST_F(Actuator, ResourcesOfAPodAreResizedWhereTheServerCan) {
  Pod pod = TestPod(kPodA);
  pod.containers[0].memory_of_pod = true;
  cluster_.pods().Replace({pod});
  script_.resize =
      absl::InvalidArgumentError("the API server answered 422: pod-level resources may not be updated");
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(),
              ElementsAre(HasSubstr(
                  R"({"spec":{"resources":{"requests":{"memory":"50Mi"},"limits":{"memory":"100Mi"}}}})")));
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("7 failed"), HasSubstr("may not be updated"),
                                            HasSubstr("InPlacePodLevelResourcesVerticalScaling"))));
  Pod several = TestPod(kPodA);
  several.containers.push_back(TestContainer("log"));
  several.containers[0].limits.memory = several.containers[0].requests.memory = std::nullopt;
  several.pod_limits.memory = 128 * kMebibyte;
  cluster_.pods().Put(several);
  now_s_ += 601;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(),
              ElementsAre(AllOf(HasSubstr("7 failed"), HasSubstr("that of the whole pod (spec.resources), "
                                                                 "which has 2 containers"))));
}

TEST_F(Actuator, ContainersThatShareTheLimitOfTheirPodNeverGetMoreTogether) {
  Pod pod = TestPod(kPodA);  // app and log have 64 MiB each and request 32
  pod.containers.push_back(TestContainer("log"));
  pod.pod_limits.memory = 160 * kMebibyte;
  cluster_.pods().Replace({pod});
  Order(Memory(7, 120));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"96Mi"})")));
  pod = Resized(kPodA, 96);
  pod.containers.push_back(TestContainer("log"));
  pod.pod_limits.memory = 160 * kMebibyte;
  cluster_.pods().Put(pod);
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(),
              testing::Contains(AllOf(HasSubstr("7 failed"), HasSubstr("96Mi of 120Mi fit"),
                                      HasSubstr("memory limits of its containers together above 160Mi, "
                                                "the limit of the whole pod (spec.resources)"))));
  Order(Memory(8, 40));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"40Mi"})"))) << "less always fits";
}

TEST_F(Actuator, WhereAPodsLimitIsSharedOutNothingIsAskedFor) {
  Pod pod = TestPod(kPodA);
  pod.containers.push_back(TestContainer("log"));
  pod.pod_limits.memory = 128 * kMebibyte;
  cluster_.pods().Replace({pod});
  Order(Memory(7, 120));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "the API server would take it";
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("7 failed"), HasSubstr("64Mi of 120Mi fit"))));
  // The limit may be lowered even if the owner's containers together exceed the pod's limit.
  pod.pod_limits.memory = 100 * kMebibyte;
  cluster_.pods().Put(pod);
  Order(Memory(8, 50));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("limits":{"memory":"50Mi"})")));
}

TEST_F(Actuator, RequestsStayWithinThatOfTheWholePod) {
  Pod pod = TestPod(kPodA);
  pod.containers.push_back(TestContainer("log"));
  pod.pod_requests.memory = 72 * kMebibyte;
  pod.pod_limits.memory = 512 * kMebibyte;
  cluster_.pods().Replace({pod});
  Order(Memory(7, 120));
  actuator_->Step();
  EXPECT_THAT(Asked(),
              ElementsAre(HasSubstr(R"({"requests":{"memory":"40Mi"},"limits":{"memory":"80Mi"}})")));
}

TEST_F(Actuator, WhereTheOwnersKindHasNoKnownTemplateThePodSaysWhatItsOwnerWants) {
  script_.no_template = absl::InvalidArgumentError("the owner is a rollout, whose template is not known");
  cluster_.pods().Replace({TestPod(kPodA)});
  Pod pod = Resized(kPodA, 100);
  pod.resized = true;
  cluster_.pods().Put(pod);
  Order(Memory(8, std::nullopt));
  actuator_->Step();
  EXPECT_THAT(Asked(),
              ElementsAre(HasSubstr("template"),
                          HasSubstr(R"({"requests":{"memory":"32Mi"},"limits":{"memory":"64Mi"}})")));
}

TEST_F(Actuator, SeveralContainersNeedNames) {
  Cluster cluster(ClusterNaming{"", KubernetesJobs::kPods});
  KubernetesActuator::Options options;
  options.unix_s = [] { return int64_t{1}; };
  options.steady_s = [] { return 1.0; };
  KubernetesActuator actuator(std::move(options), &cluster, std::make_unique<ScriptedWriter>(&script_));
  Pod pod = TestPod(kPodA);
  pod.containers.push_back(TestContainer("log"));
  cluster.pods().Replace({pod});
  TargetOrder order = Memory(7, 100);
  order.job = "shop/deployment/web";
  order.workload = InKubernetes(order.job);
  actuator.Apply({&order, 1}, 1);
  actuator.Step();
  const auto outcomes = actuator.TakeOutcomes();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].outcome, Outcome::kFailed);
  EXPECT_THAT(outcomes[0].text, HasSubstr("ingest.kubernetes_jobs: containers"));
}

TEST_F(Actuator, ScalesUnlessAnAutoscalerDoes) {
  cluster_.pods().Replace({TestPod(kPodA)});
  TargetOrder order;
  order.decision = 7;
  order.job = kJob;
  order.workload = InKubernetes(order.job);
  order.target = Target::Replicas();
  order.value = 3;
  Order(order);
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre("scale shop/web 3"));
  EXPECT_THAT(Outcomes(), ElementsAre("7 applied the workload's scale was set"));
  owners_.PutHpa({"shop", "web-hpa", "Deployment", "web"});
  order.decision = 8;
  Order(order);
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(),
              ElementsAre(HasSubstr("8 failed the HorizontalPodAutoscaler shop/web-hpa sets the replicas")));
  owners_.RemoveHpa({"shop", "web-hpa"});
  owners_.PutScaledObject({"shop", "web", "Deployment", "web", "autoscaling.keda.sh/paused-replicas: 2"});
  Order(order);
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(
      Outcomes(),
      ElementsAre("8 failed the ScaledObject shop/web, which is paused (autoscaling.keda.sh/paused-replicas: "
                  "2) sets the replicas of this workload; delete it to let Tautline set them"));
  owners_.ReplaceScaledObjects({});
  script_.scale = absl::UnavailableError("the API server answered 503");
  order.decision = 9;
  Order(order);
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("9 pending")));
  EXPECT_EQ(Asked().size(), 1U);
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty()) << "not before the pause is over";
  now_s_ += 6;
  script_.scale = absl::OkStatus();
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre("9 applied the workload's scale was set"));
}

// A change of the request would change the utilization, and thereby the number of replicas.
TEST_F(Actuator, ARequestThatAnAutoscalerScalesByStays) {
  cluster_.pods().Replace({TestPod(kPodA)});
  owners_.PutHpa({"shop", "web", "Deployment", "web", {{Resource::kMemory, ""}}});
  Order(Memory(7, 100));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("resources":{"limits":{"memory":"100Mi"}})")));
  ASSERT_EQ(actuator_->OrdersFor(TestPod("")).size(), 1U);
  EXPECT_EQ(actuator_->OrdersFor(TestPod(""))[0].scaled_by, "the HorizontalPodAutoscaler shop/web");
  Pod pod = TestPod(kPodA);
  pod.resized = pod.resized_by_us = true;
  pod.containers[0].limits.memory = pod.containers[0].actual_limits.memory = 100 * kMebibyte;
  cluster_.pods().Put(pod);
  actuator_->Step();
  EXPECT_THAT(Outcomes(), testing::Contains("7 applied set on 1 pod"));
  terms_->allocation.applies_to = AppliesTo::kRequest;
  now_s_ += 11;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(), ElementsAre(AllOf(HasSubstr("7 failed"),
                                            HasSubstr("the HorizontalPodAutoscaler shop/web scales"))));
  terms_->allocation.applies_to = AppliesTo::kLimit;
  owners_.RemoveHpa({"shop", "web"});
  now_s_ += 11;
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(R"("requests":{"memory":"50Mi"})")));
  EXPECT_EQ(actuator_->counts().stepped_back, 0U) << "that was no change by another";
}

TEST_F(Actuator, WhatAnotherRecommendersVpaSetsIsLeftToIt) {
  Vpa vpa;
  vpa.namespace_name = "shop";
  vpa.name = vpa.target_name = "web";
  vpa.target_kind = "Deployment";
  cluster_.pods().Replace({Resized(kPodA, 100)});
  Order(Memory(7, 100));
  actuator_->Step();
  (void)Outcomes();
  owners_.PutVpa(vpa);
  cluster_.pods().Put(Resized(kPodA, 300));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(Outcomes(),
              ElementsAre(AllOf(HasSubstr("7 failed"),
                                HasSubstr("the VerticalPodAutoscaler shop/web (recommender default, "
                                          "updateMode not set) sets the memory of container app"))));
  EXPECT_THAT(actuator_->OrdersFor(TestPod("")), IsEmpty());
  vpa.update_mode = "Off";
  owners_.PutVpa(vpa);
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr("100Mi"))) << "it only recommends";
  vpa.update_mode = "Auto";
  vpa.recommender = "tautline";
  owners_.PutVpa(vpa);
  actuator_->Step();
  EXPECT_THAT(Outcomes(), testing::Not(testing::Contains(HasSubstr("failed")))) << "it is Tautline's own";
  EXPECT_EQ(actuator_->counts().stepped_back, 0U);
}

TEST_F(Actuator, ChangesNothingBeforeTheAutoscalersAreKnown) {
  FieldOwners owners;
  KubernetesActuator::Options options;
  options.owners = &owners;
  options.unix_s = [] { return int64_t{1}; };
  options.steady_s = [] { return 1.0; };
  KubernetesActuator actuator(std::move(options), &cluster_, std::make_unique<ScriptedWriter>(&script_));
  cluster_.pods().Replace({TestPod(kPodA)});
  const TargetOrder order = Memory(7, 100);
  actuator.Apply({&order, 1}, 1);
  actuator.Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(
      actuator.TakeOutcomes().at(0).text,
      HasSubstr("the HorizontalPodAutoscalers and VerticalPodAutoscalers of the cluster are not known"));
  owners.ReplaceHpas({});
  owners.ReplaceVpas({});
  actuator.Step();
  EXPECT_EQ(Asked().size(), 1U);
}

TEST_F(Actuator, SetsNoReplicasBeforeScaledObjectsAreKnown) {
  FieldOwners owners;
  owners.ReplaceHpas({});
  owners.ReplaceVpas({});
  KubernetesActuator::Options options;
  options.scale = true;
  options.owners = &owners;
  options.unix_s = [] { return int64_t{1}; };
  options.steady_s = [this] { return now_s_; };
  KubernetesActuator actuator(std::move(options), &cluster_, std::make_unique<ScriptedWriter>(&script_));
  cluster_.pods().Replace({TestPod(kPodA)});
  TargetOrder order;
  order.decision = 7;
  order.job = kJob;
  order.workload = InKubernetes(order.job);
  order.target = Target::Replicas();
  order.value = 3;
  actuator.Apply({&order, 1}, 1);
  actuator.Step();
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_THAT(actuator.TakeOutcomes().at(0).text,
              HasSubstr("ScaledObjects of the cluster are not known yet"));
  owners.ReplaceScaledObjects({});  // the cluster has no KEDA
  now_s_ += 6;
  actuator.Step();
  EXPECT_THAT(Asked(), ElementsAre("scale shop/web 3"));
}

TEST_F(Actuator, ClaimsJobsByTheirNames) {
  const auto claims = [this](std::string_view job) {
    TargetOrder order;
    order.job = job;
    order.workload = InKubernetes(job);
    return actuator_->Claims(order);
  };
  EXPECT_TRUE(claims(kJob));
  EXPECT_FALSE(claims("shop/deployment/web"));
  EXPECT_FALSE(claims("docker/project/service/x"));
  EXPECT_FALSE(claims("web"));
  TargetOrder order = Memory(7, 100);
  order.job = "web";
  order.workload = InKubernetes(order.job);
  Order(order);
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("7 dry_run not applied")));
}

TEST_F(Actuator, ForgetsOrdersOfJobsThatAreGone) {
  cluster_.pods().Replace({Resized(kPodA, 100)});
  Order(Memory(7, 100));
  actuator_->Step();
  cluster_.pods().Remove(TestPod(kPodA));
  actuator_->Step();
  now_s_ += 27 * 86400;
  actuator_->Step();
  EXPECT_EQ(actuator_->counts().orders, 1U);
  now_s_ += 2 * 86400;
  actuator_->Step();
  EXPECT_EQ(actuator_->counts().orders, 0U);
  cluster_.pods().Put(TestPod(kPodB));
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(Actuator, AJobThatComesBackIsNotForgotten) {
  cluster_.pods().Replace({Resized(kPodA, 100)});
  Order(Memory(7, 100));
  actuator_->Step();
  cluster_.pods().Remove(TestPod(kPodA));
  actuator_->Step();
  now_s_ += 20 * 86400;
  cluster_.pods().Put(TestPod(kPodB));
  actuator_->Step();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr(kPodB)));
  now_s_ += 20 * 86400;
  actuator_->Step();
  EXPECT_EQ(actuator_->counts().orders, 1U);
}

TEST_F(Actuator, DamagedStateIsNone) {
  Order(Memory(7, 100));
  const std::string state = actuator_->SaveState();
  for (size_t i = 0; i < state.size(); ++i) {
    actuator_ = Make();
    actuator_->LoadState(std::string_view(state).substr(0, i));
    EXPECT_EQ(actuator_->counts().orders, 0U) << i;
  }
  actuator_->LoadState(state);
  EXPECT_EQ(actuator_->counts().orders, 1U);
}

}  // namespace
}  // namespace taut::server
