#include "server/kubernetes/act/evictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/act/event_writer.h"
#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/client/api_client.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kPodC = "web-5d4f8c7b9d-ccccc";

// An actuator that may evict, with an order of 100 MiB for pods that have 64 MiB.
class Eviction : public testing::Test {
 protected:
  Eviction() {
    owners_.ReplaceHpas({});
    owners_.ReplaceVpas({});
    Node node;
    node.name = "node-1";
    node.allocatable = {4, 8192 * kMebibyte};
    cluster_.nodes().Replace({node});
    KubernetesActuator::Options options;
    options.owners = &owners_;
    options.why_not = [this] { return why_not_; };
    options.unix_s = [this] { return static_cast<int64_t>(now_s_) + 900; };
    options.steady_s = [this] { return now_s_; };
    options.eviction = KubernetesActuator::Eviction();
    options.rules = [this](const std::string& /*name*/) { return rules_; };
    options.eviction->evicted = [this](const WorkloadName& workload, const Pod& pod, const std::string& why) {
      said_.push_back(EvictionEvent(workload, pod, why).message);
    };
    actuator_ = std::make_unique<KubernetesActuator>(std::move(options), &cluster_,
                                                     std::make_unique<ScriptedWriter>(&script_));
    Order(7, 100);
  }
  void Order(uint64_t decision, double mebibytes, std::optional<std::vector<std::string>> tasks = {}) {
    TargetOrder order;
    order.decision = decision;
    order.job = kJob;
    order.workload = InKubernetes(order.job);
    order.target = Resource::kMemory;
    order.value = mebibytes * kMebibyte;
    order.tasks = std::move(tasks);
    actuator_->Apply({&order, 1}, 1000);
  }
  // Returns a pod whose resize to 100 MiB the API server accepted. `state` is the kubelet's report about the
  // resize.
  static Pod Stuck(const char* name, ResizeState state = ResizeState::kInfeasible) {
    Pod pod = TestPod(name);
    ContainerState& c = pod.containers[0];
    c.owner_requests = c.requests;
    c.owner_limits = c.limits;
    c.limits.memory = 100 * kMebibyte;
    c.requests.memory = 50 * kMebibyte;
    pod.resized = pod.resized_by_us = true;
    pod.resize = state;
    pod.resize_message = "Node didn't have enough capacity";
    return pod;
  }
  // Returns a pod that the webhook created with the ordered amount.
  static Pod Given(const char* name) {
    Pod pod = Stuck(name, ResizeState::kNone);
    pod.resize_message.clear();
    ContainerState& c = pod.containers[0];
    c.actual_limits = c.limits;
    c.actual_requests = c.requests;
    pod.admitted_by_us = true;
    return pod;
  }
  // Advances the clock and returns the requests that follow.
  std::vector<std::string> After(double seconds) {
    now_s_ += seconds;
    actuator_->Step();
    return std::exchange(script_.asked, {});
  }
  // Returns the last outcome, such as "7 pending ..."; "" if there is none.
  std::string Outcome() {
    std::string out;
    for (const OutcomeUpdate& o : actuator_->TakeOutcomes())
      out = StrCat(o.id, " ", Name(o.outcome), " ", o.text);
    return out;
  }
  void End(Pod pod) {
    pod.is_deleted = true;
    cluster_.pods().Put(pod);
  }
  static std::string Evicts(const char* pod) { return StrCat("evict shop/", pod); }

  double now_s_ = 100;
  std::string why_not_;
  std::vector<NamespaceRule> rules_;
  std::vector<std::string> said_;
  ScriptedWriter::Script script_;
  FieldOwners owners_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  std::unique_ptr<KubernetesActuator> actuator_;
};

TEST_F(Eviction, OnePodAfterTheOtherIsReplaced) {
  cluster_.pods().Replace({Stuck(kPodA), Stuck(kPodB)});
  EXPECT_THAT(After(0), IsEmpty()) << "it may be of an older limit";
  EXPECT_THAT(Outcome(), HasSubstr("7 failed"));
  EXPECT_THAT(After(31), ElementsAre(Evicts(kPodA)));
  EXPECT_THAT(Outcome(),
              AllOf(HasSubstr("7 pending set on 0 of 2 pods; pod shop/web-5d4f8c7b9d-aaaaa: infeasible"),
                    HasSubstr("; evicting it, so that")));
  EXPECT_THAT(said_,
              ElementsAre(AllOf(HasSubstr(StrCat("pod ", kPodA, " is evicted")), HasSubstr("capacity"))));
  EXPECT_EQ(actuator_->counts().evicted, 1U);
  EXPECT_THAT(After(1), IsEmpty());
  End(Stuck(kPodA));
  EXPECT_THAT(After(1), IsEmpty());
  EXPECT_THAT(Outcome(),
              HasSubstr("evicted once the pod that replaces pod shop/web-5d4f8c7b9d-aaaaa is ready"));
  Pod next = Given(kPodC);
  next.is_ready = false;
  cluster_.pods().Put(next);
  EXPECT_THAT(After(1), IsEmpty());
  EXPECT_THAT(Outcome(), HasSubstr("evicted once pod shop/web-5d4f8c7b9d-ccccc, which came after"));
  cluster_.pods().Put(Given(kPodC));
  EXPECT_THAT(After(1), IsEmpty()) << "the first has not ended";
  EXPECT_THAT(Outcome(), HasSubstr("evicted once pod shop/web-5d4f8c7b9d-aaaaa has ended"));
  cluster_.pods().Remove(Stuck(kPodA));
  EXPECT_THAT(After(1), ElementsAre(Evicts(kPodB)));
  EXPECT_EQ(actuator_->counts().evicted, 2U);
}

TEST_F(Eviction, WhatIsDeferredGetsItsTime) {
  cluster_.pods().Replace({Stuck(kPodA, ResizeState::kDeferred), Given(kPodB)});
  EXPECT_THAT(After(0), IsEmpty());
  EXPECT_THAT(After(200), IsEmpty());
  cluster_.pods().Put(Given(kPodA));
  EXPECT_THAT(After(1), IsEmpty());
  cluster_.pods().Put(Stuck(kPodA, ResizeState::kDeferred));
  EXPECT_THAT(After(1), IsEmpty());
  EXPECT_THAT(After(200), IsEmpty()) << "it counts anew";
  EXPECT_THAT(After(101), ElementsAre(Evicts(kPodA)));
  Order(8, 100);
  cluster_.pods().Put(Stuck(kPodB, ResizeState::kInProgress));
  EXPECT_THAT(After(400), IsEmpty()) << "the kubelet is at work on it";
}

TEST_F(Eviction, WithoutPodsResizePodsAreReplaced) {
  script_.resize =
      absl::NotFoundError("the API server answered 404: the server could not find the requested resource");
  cluster_.pods().Replace({TestPod(kPodA), TestPod(kPodB)});
  EXPECT_THAT(After(0), ElementsAre(HasSubstr("resize"), HasSubstr("resize")));
  EXPECT_THAT(After(31), ElementsAre(Evicts(kPodA)));
  script_.resize = absl::NotFoundError("the API server answered 404: pods \"web\" not found");
  EXPECT_THAT(After(601), ElementsAre(HasSubstr("resize"), HasSubstr("resize")));
  EXPECT_THAT(After(100), IsEmpty()) << "pods that are gone";
}

TEST_F(Eviction, WhereALowerMemoryLimitCannotBeSetPodsAreReplaced) {
  script_.resize = absl::InvalidArgumentError(
      "the API server answered 422: spec.containers[0].resources.limits: Forbidden: memory limits cannot be "
      "decreased");
  cluster_.pods().Replace({TestPod(kPodA), TestPod(kPodB)});
  EXPECT_THAT(After(0), ElementsAre(HasSubstr("resize"), HasSubstr("resize")));
  EXPECT_THAT(After(31), ElementsAre(Evicts(kPodA)));
}

TEST_F(Eviction, APodWhoseNodeIsTooSmallMayGoToALargerOne) {
  Node small;
  small.name = "node-1";
  small.allocatable = {4, 80 * kMebibyte};
  cluster_.nodes().Put(small);
  cluster_.pods().Replace({TestPod(kPodA), TestPod(kPodB)});
  EXPECT_THAT(After(0), IsEmpty());
  EXPECT_THAT(After(31), IsEmpty()) << "no node is large enough";
  Node large = small;
  large.name = "node-2";
  large.allocatable.memory = 8192 * kMebibyte;
  cluster_.nodes().Put(large);
  cluster_.pods().Put(TestPod(kPodA));
  EXPECT_THAT(After(31), IsEmpty());
  EXPECT_THAT(After(31), ElementsAre(Evicts(kPodA)));
  // The scheduler only considers requests, and may choose the small node again.
  cluster_.pods().Remove(TestPod(kPodA));
  cluster_.pods().Put(Given(kPodC));
  EXPECT_THAT(After(31), ElementsAre(Evicts(kPodB)));
  cluster_.pods().Remove(TestPod(kPodB));
  Pod last = Given(kPodC);
  last.name = "web-5d4f8c7b9d-ddddd";
  last.uid = "uid-d";
  cluster_.pods().Put(last);
  (void)Outcome();
  EXPECT_THAT(After(31), IsEmpty());
  EXPECT_THAT(After(3600), IsEmpty()) << "no pod that has the limit is evicted for it";
}

TEST_F(Eviction, OnlyPodsThatAreReplacedAreEvicted) {
  const auto with = [&](const char* kind) {
    std::vector<Pod> pods = {Stuck(kPodA), Stuck(kPodB)};
    for (Pod& pod : pods) pod.owner_kind = kind;
    return pods;
  };
  WorkloadName workload{"shop", "deployment", "web", "app"};
  Evictor evictor({}, &cluster_, nullptr);
  const auto text = [&](const Pod& pod) {
    return evictor
        .Evict(
            workload, pod, [] { return std::string("asked"); }, now_s_)
        .text;
  };
  for (const char* kind : {"DaemonSet", "Job", "Workflow"})
    EXPECT_THAT(text(with(kind)[0]), HasSubstr(StrCat("not evicted: its controller is a ", kind)));
  EXPECT_THAT(text(with("")[0]), HasSubstr("no controller"));
  Pod of_node = Stuck(kPodA);
  of_node.is_static = true;
  EXPECT_THAT(text(of_node), HasSubstr("static pod"));
  cluster_.pods().Replace({Stuck(kPodA)});
  EXPECT_THAT(text(Stuck(kPodA)), HasSubstr("fewer than 2 ready pods"));
  Pod starting = Stuck(kPodB);
  starting.is_ready = false;
  cluster_.pods().Put(starting);
  EXPECT_EQ(text(Stuck(kPodA)), StrCat("evicted once pod shop/", kPodB, " is ready"));
  EXPECT_THAT(text(starting), HasSubstr("fewer than 2 ready pods"))
      << "the other is the only one that serves";
  cluster_.pods().Put(Given(kPodC));
  EXPECT_EQ(text(starting), "not evicted: asked") << "it does not serve now";
}

TEST_F(Eviction, NoPodIsEvictedThatWouldNotStartWithTheLimit) {
  cluster_.pods().Replace({Stuck(kPodA), Stuck(kPodB)});
  script_.reviewed = absl::FailedPreconditionError("the webhook is not asked about pods of this namespace");
  (void)After(0);
  EXPECT_THAT(After(31), IsEmpty());
  EXPECT_THAT(Outcome(), AllOf(HasSubstr("7 failed"), HasSubstr("not evicted: the webhook is not asked")));
  script_.reviewed = absl::OkStatus();
  NamespaceRule rule;
  rule.namespace_name = "shop";
  rule.name = "small";
  rule.container.max.memory = 80 * kMebibyte;
  rules_ = {rule};
  EXPECT_THAT(After(601), IsEmpty());
  EXPECT_THAT(Outcome(), HasSubstr("not evicted: shop/small: memory"));
  rules_ = {};
  Order(8, 120, std::vector<std::string>{kPodA});
  (void)After(0);
  for (const char* name : {kPodA, kPodB}) {
    Pod pod = Stuck(name);
    pod.containers[0].limits.memory = (name == kPodA ? 120 : 100) * kMebibyte;
    pod.containers[0].requests.memory = (name == kPodA ? 60 : 50) * kMebibyte;
    cluster_.pods().Put(pod);
  }
  (void)After(1);
  EXPECT_THAT(After(31), IsEmpty());
  EXPECT_THAT(Outcome(), HasSubstr("during a trial no pod is evicted"));
  Order(9, 100);
  cluster_.pods().Put(Stuck(kPodA));
  why_not_ = "tautd-1 holds the lease";
  EXPECT_THAT(After(40), IsEmpty());
  why_not_ = "";
  (void)After(1);
  EXPECT_THAT(After(31), ElementsAre(Evicts(kPodA)));
}

TEST_F(Eviction, ADisruptionBudgetIsWaitedForLongerAndLonger) {
  cluster_.pods().Replace({Stuck(kPodA), Stuck(kPodB)});
  script_.evict =
      absl::ResourceExhaustedError("The disruption budget web needs 2 healthy pods and has 2 currently");
  (void)After(0);
  EXPECT_EQ(After(31).size(), 1U) << "not each pod of it";
  EXPECT_THAT(Outcome(),
              AllOf(HasSubstr("7 pending"), HasSubstr("is refused by PodDisruptionBudget web (The")));
  EXPECT_THAT(After(9), IsEmpty());
  EXPECT_EQ(After(1).size(), 1U);
  EXPECT_THAT(After(19), IsEmpty());
  script_.retry_after_s = 100;
  EXPECT_EQ(After(1).size(), 1U);
  EXPECT_THAT(After(99), IsEmpty());
  EXPECT_EQ(Outcome(), "") << "no news";
  EXPECT_EQ(actuator_->counts().not_evicted, 3U);
  script_.evict = absl::OkStatus();
  EXPECT_THAT(After(1), ElementsAre(Evicts(kPodA)));
}

TEST_F(Eviction, RefusalsAreForgottenADayAfterTheirPause) {
  const Pod first = Stuck(kPodA);
  cluster_.pods().Replace({first, Stuck(kPodB)});
  script_.evict = absl::ResourceExhaustedError("The disruption budget web needs 2");
  ScriptedWriter writer(&script_);
  Evictor evictor({}, &cluster_, &writer);
  const std::optional<WorkloadName> workload = cluster_.naming().Of(InKubernetes(kJob));
  ASSERT_TRUE(workload.has_value());
  const auto pause = [&](double now_s) {
    return evictor
               .Evict(
                   *workload, first, [] { return std::string(); }, now_s)
               .again_at_s -
           now_s;
  };
  EXPECT_EQ(pause(0), 10);
  EXPECT_EQ(pause(10), 20);
  evictor.Forget(30 + 86'399);
  EXPECT_EQ(pause(100'000), 40) << "it is remembered";
  evictor.Forget(100'040 + 86'400);
  EXPECT_EQ(pause(200'000), 10);
}

TEST(ApiStatus, ADisruptionBudgetIsNotAServerThatIsBusy) {
  HttpResponse response;
  response.status = 429;
  response.body =
      R"({"kind":"Status","message":"Cannot evict pod","details":{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget web needs 2"}]}})";
  EXPECT_EQ(ApiStatus(response), absl::ResourceExhaustedError("The disruption budget web needs 2"));
  response.body = R"({"kind":"Status","message":"too many requests","details":{"retryAfterSeconds":1}})";
  EXPECT_EQ(ApiStatus(response), absl::UnavailableError("the API server answered 429: too many requests"));
}

TEST_F(Eviction, ARefusalIsAFailure) {
  cluster_.pods().Replace({Stuck(kPodA, ResizeState::kDeferred), Stuck(kPodB, ResizeState::kDeferred)});
  script_.evict = absl::PermissionDeniedError("the API server answered 403: pods/eviction is forbidden");
  (void)After(0);
  EXPECT_EQ(After(301).size(), 1U);
  EXPECT_THAT(Outcome(), AllOf(HasSubstr("7 failed"), HasSubstr("pods/eviction is forbidden")));
  EXPECT_THAT(After(500), IsEmpty());
  EXPECT_EQ(After(101).size(), 1U);
}

TEST_F(Eviction, AWebhookThatDoesNotAnswerCostsOnePod) {
  cluster_.pods().Replace({Stuck(kPodA), Stuck(kPodB)});
  (void)After(0);
  EXPECT_THAT(After(31), ElementsAre(Evicts(kPodA)));
  cluster_.pods().Remove(Stuck(kPodA));
  // pod created from the template, and then resized in place without success
  cluster_.pods().Put(Stuck(kPodC));
  (void)After(1);
  EXPECT_THAT(After(600), IsEmpty());
  EXPECT_THAT(Outcome(), AllOf(HasSubstr("7 failed"), HasSubstr("did not get what is set from the webhook")));
  EXPECT_THAT(After(85'000), IsEmpty());
  EXPECT_THAT(After(1000), Contains(HasSubstr("evict")));
}

}  // namespace
}  // namespace taut::server
