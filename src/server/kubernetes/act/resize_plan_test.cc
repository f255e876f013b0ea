#include "server/kubernetes/act/resize_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "common/base/strings.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

TEST(ResizePlan, TheRequestKeepsItsRatio) {
  const Pod pod = TestPod();
  const auto cpu = PlanResize(pod, pod.containers[0], {Resource::kCpu, 0.3}, std::nullopt);
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  EXPECT_DOUBLE_EQ(*cpu->limit, 0.3);
  EXPECT_DOUBLE_EQ(*cpu->request, 0.15);
  EXPECT_EQ(
      ResizePatch(pod.containers[0], Resource::kCpu, *cpu),
      R"({"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"150m"},"limits":{"cpu":"300m"}}}]}})");
  const auto memory = PlanResize(pod, pod.containers[0], {Resource::kMemory, 100 * kMebibyte}, std::nullopt);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(
      ResizePatch(pod.containers[0], Resource::kMemory, *memory),
      R"({"spec":{"containers":[{"name":"app","resources":{"requests":{"memory":"50Mi"},"limits":{"memory":"100Mi"}}}]}})");
}

TEST(ResizePlan, AGuaranteedPodStaysOne) {
  Pod pod = TestPod();
  pod.containers[0].requests = pod.containers[0].limits;
  const auto plan = PlanResize(pod, pod.containers[0], {Resource::kCpu, 0.1234}, std::nullopt);
  ASSERT_TRUE(plan.ok());
  EXPECT_DOUBLE_EQ(*plan->limit, 0.124);
  EXPECT_DOUBLE_EQ(*plan->request, 0.124);
}

TEST(ResizePlan, WithoutALimitTheRequestIsSet) {
  Pod pod = TestPod();
  pod.containers[0].limits.cpu.reset();
  const auto plan = PlanResize(pod, pod.containers[0], {Resource::kCpu, 0.3}, std::nullopt);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(*plan, (ContainerResources{0.3, std::nullopt}));
  EXPECT_EQ(ResizePatch(pod.containers[0], Resource::kCpu, *plan),
            R"({"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"300m"}}}]}})");
  ContainerState in_template = pod.containers[0];
  in_template.requests.cpu = 0.5;
  EXPECT_EQ(*PlanRelease(pod, pod.containers[0], Resource::kCpu, in_template),
            (ContainerResources{0.5, std::nullopt}));
}

TEST(ResizePlan, ASidecarIsAnInitContainer) {
  Pod pod = TestPod();
  pod.containers[0].is_sidecar = true;
  EXPECT_THAT(ResizePatch(pod.containers[0], Resource::kCpu, {std::nullopt, 1}),
              R"({"spec":{"initContainers":[{"name":"app","resources":{"limits":{"cpu":"1"}}}]}})");
}

TEST(ResizePlan, ARequestThatAnAutoscalerCountsOnStays) {
  constexpr std::string_view kHpa = "the HorizontalPodAutoscaler shop/web";
  Pod pod = TestPod();
  const auto plan = [&](const Allocation& allocation = {}) {
    return PlanResize(pod, pod.containers[0],
                      {Resource::kMemory, 100 * kMebibyte, allocation, std::string(kHpa)}, std::nullopt);
  };
  EXPECT_EQ(*plan(), (ContainerResources{std::nullopt, 100 * kMebibyte}));
  EXPECT_EQ(Message(plan({.applies_to = AppliesTo::kRequest, .request_share = {}}).status()),
            "container app of pod shop/web-5d4f8c7b9d-x2x4z: the HorizontalPodAutoscaler shop/web scales its "
            "workload by the memory utilization, a share of the request, which therefore stays; "
            "memory.applies_to is request: with limit the limit alone would be set");
  pod.containers[0].requests = pod.containers[0].limits;
  EXPECT_THAT(std::string(Message(plan().status())), HasSubstr("QoS class is Guaranteed"));
  pod.containers[0].limits.memory.reset();
  EXPECT_THAT(std::string(Message(plan().status())), HasSubstr("no limit to set"));
}

TEST(ResizePlan, ATemplateHasWhatItsOwnerWants) {
  Pod pod = TestPod();
  pod.containers.push_back(TestContainer("log"));
  pod.containers[1].requests = pod.containers[1].limits;
  TemplateContainer app = InTemplate(pod, pod.containers[0]);
  EXPECT_EQ(app.of(Resource::kCpu), (ContainerResources{0.1, 0.2})) << "never seen before it was resized";
  EXPECT_TRUE(app.rest_is_equal);
  EXPECT_FALSE(app.guaranteed);
  EXPECT_FALSE(app.is_init);
  pod.containers[0].owner_requests = {0.5, std::nullopt};
  pod.containers[1].is_sidecar = true;
  app = InTemplate(pod, pod.containers[0]);
  EXPECT_EQ(app.of(Resource::kCpu), (ContainerResources{0.5, std::nullopt}));
  EXPECT_EQ(app.of(Resource::kMemory), ContainerResources());
  const TemplateContainer log = InTemplate(pod, pod.containers[1]);
  EXPECT_TRUE(log.is_init);
  EXPECT_FALSE(log.rest_is_equal);
}

TEST(ResizePlan, SaysWhatForbidsIt) {
  const auto error = [](const auto& change, Resource resource = Resource::kMemory) {
    Pod pod = TestPod();
    change(pod);
    const Amounts node{4, 1024 * kMebibyte};
    return std::string(
        Message(PlanResize(pod, pod.containers[0], {resource, 2000 * kMebibyte}, node).status()));
  };
  EXPECT_EQ(error([](Pod& pod) { pod.is_static = true; }),
            "container app of pod shop/web-5d4f8c7b9d-x2x4z: static pods cannot be resized");
  EXPECT_THAT(error([](Pod& pod) {
                pod.containers[0].limits.memory.reset();
                pod.containers[0].requests.memory.reset();
              }),
              HasSubstr("it has neither a memory request nor a limit"));
  EXPECT_THAT(error([](Pod& pod) { pod.containers[0].limits.memory.reset(); }),
              HasSubstr("a memory request of 2000Mi is more than node node-1 has"));
  EXPECT_THAT(error([](Pod& pod) { pod.containers[0].restarts_for_memory = true; }),
              HasSubstr("resizePolicy for memory is RestartContainer"));
  EXPECT_THAT(
      error([](Pod& pod) { pod.containers[0].restarts_for_memory = pod.containers[0].crash_loops = true; }),
      HasSubstr("more than node node-1 has"))
      << "nothing runs";
  EXPECT_THAT(error([](Pod& /*pod*/) {}),
              HasSubstr("a memory limit of 2000Mi is more than node node-1 has (1024Mi allocatable)"));
}

TEST(ResizePlan, OneContainerNeedsNoName) {
  Pod pod = TestPod();
  EXPECT_EQ(ResizedContainer(pod, ""), &pod.containers[0]);
  pod.containers.push_back(TestContainer("log"));
  EXPECT_EQ(ResizedContainer(pod, ""), nullptr);
  EXPECT_EQ(ResizedContainer(pod, "log"), &pod.containers[1]);
  EXPECT_EQ(ResizedContainer(pod, "other"), nullptr);
}

TEST(ResizePlan, AReleaseTakesTheTemplate) {
  const Pod pod = TestPod();
  ContainerState in_template = TestContainer();
  in_template.requests.memory.reset();
  const auto plan = PlanRelease(pod, pod.containers[0], Resource::kMemory, in_template);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(*plan, (ContainerResources{64 * kMebibyte, 64 * kMebibyte}));
  in_template.limits.memory.reset();
  EXPECT_THAT(
      std::string(Message(PlanRelease(pod, pod.containers[0], Resource::kMemory, in_template).status())),
      HasSubstr("its template has no memory limit"));
}

Allocation As(AppliesTo applies_to, std::optional<double> share = std::nullopt) {
  return {applies_to, share};
}

TEST(ResizePlan, TheAmountMayBeTheRequest) {
  const Pod pod = TestPod();  // requests and limits: 100m of 200m, 32Mi of 64Mi
  const auto plan = [&](Resource resource, double amount, const Allocation& allocation) {
    return *PlanResize(pod, pod.containers[0], {resource, amount, allocation}, std::nullopt);
  };
  EXPECT_EQ(plan(Resource::kCpu, 0.15, As(AppliesTo::kRequest)), (ContainerResources{0.15, 0.3}));
  EXPECT_EQ(plan(Resource::kCpu, 0.15, As(AppliesTo::kRequestOnly)),
            (ContainerResources{0.15, std::nullopt}));
  EXPECT_EQ(plan(Resource::kCpu, 0.5, As(AppliesTo::kRequestOnly)), (ContainerResources{0.2, std::nullopt}))
      << "at most the limit";
  EXPECT_EQ(plan(Resource::kCpu, 0.15, As(AppliesTo::kLimit, 0.8)), (ContainerResources{0.12, 0.15}));
  EXPECT_EQ(plan(Resource::kMemory, 80 * kMebibyte, As(AppliesTo::kRequest, 0.8)),
            (ContainerResources{80 * kMebibyte, 100 * kMebibyte}));
}

TEST(ResizePlan, TheRatioIsTheOwnersAlsoWhenItIsNoMoreThere) {
  Pod pod = TestPod();
  ContainerState& c = pod.containers[0];
  c.owner_requests = {0.05, 1};
  c.owner_limits = {0.2, 2};
  EXPECT_EQ(*PlanResize(pod, c, {Resource::kCpu, 0.4}, std::nullopt), (ContainerResources{0.1, 0.4}));
}

TEST(ResizePlan, ThePodKeepsItsQosClass) {
  Pod burstable = TestPod();
  ContainerState& c = burstable.containers[0];
  c.requests.memory = c.limits.memory;
  EXPECT_EQ(*PlanResize(burstable, c, {Resource::kCpu, 0.3, As(AppliesTo::kLimit, 1)}, std::nullopt),
            (ContainerResources{0.299, 0.3}));
  EXPECT_EQ(*PlanResize(burstable, c, {Resource::kCpu, 0.3, As(AppliesTo::kRequest, 1)}, std::nullopt),
            (ContainerResources{0.3, 0.301}));
  EXPECT_EQ(*PlanResize(burstable, c, {Resource::kCpu, 0.3, As(AppliesTo::kRequestOnly)}, std::nullopt),
            (ContainerResources{0.199, std::nullopt}));
  burstable.containers.push_back(TestContainer("log"));
  EXPECT_EQ(*PlanResize(burstable, burstable.containers[0], {Resource::kCpu, 0.3, As(AppliesTo::kLimit, 1)},
                        std::nullopt),
            (ContainerResources{0.3, 0.3}));
  Pod guaranteed = TestPod();
  guaranteed.containers[0].requests = guaranteed.containers[0].limits;
  EXPECT_EQ(*PlanResize(guaranteed, guaranteed.containers[0],
                        {Resource::kCpu, 0.3, As(AppliesTo::kLimit, 0.5)}, std::nullopt),
            (ContainerResources{0.3, 0.3}));
  EXPECT_THAT(std::string(Message(PlanResize(guaranteed, guaranteed.containers[0],
                                             {Resource::kCpu, 0.3, As(AppliesTo::kRequestOnly)}, std::nullopt)
                                      .status())),
              HasSubstr("cpu.applies_to is request_only"));
}

// For any amount, the API accepts the plan, the pod keeps its QoS class, and a second plan changes nothing.
RC_GTEST_PROP(ResizePlan, IsStable, ()) {
  Pod pod = TestPod();
  ContainerState& c = pod.containers[0];
  c.limits.cpu = *rc::gen::inRange(1, 64'000) / 1000.0;
  c.requests.cpu = *rc::gen::inRange(1, static_cast<int>(*c.limits.cpu * 1000) + 1) / 1000.0;
  if (*rc::gen::arbitrary<bool>()) c.requests.memory = c.limits.memory;
  const bool was_equal = *c.requests.cpu == *c.limits.cpu;
  const bool was_guaranteed = was_equal && c.requests.memory == c.limits.memory;
  for (int i = 0; i < 5; ++i) {
    const double amount = *rc::gen::inRange(1, 640'000) / 10'000.0;
    Allocation allocation = As(static_cast<AppliesTo>(*rc::gen::inRange(0, was_guaranteed ? 2 : 3)));
    if (allocation.applies_to != AppliesTo::kRequestOnly && *rc::gen::arbitrary<bool>())
      allocation.request_share = *rc::gen::inRange(1, 101) / 100.0;
    const auto plan = PlanResize(pod, c, {Resource::kCpu, amount, allocation}, std::nullopt);
    RC_ASSERT(plan.ok());
    if (allocation.applies_to == AppliesTo::kLimit) RC_ASSERT(*plan->limit >= amount - 1e-9);
    if (allocation.applies_to == AppliesTo::kRequest) RC_ASSERT(*plan->request >= amount - 1e-9);
    if (plan->limit.has_value()) c.limits.cpu = plan->limit;
    c.requests.cpu = plan->request;
    RC_ASSERT(*c.requests.cpu <= *c.limits.cpu + 1e-9);
    RC_ASSERT((c.requests.memory == c.limits.memory && std::abs(*c.requests.cpu - *c.limits.cpu) < 1e-9) ==
              was_guaranteed);
    const auto again = PlanResize(pod, c, {Resource::kCpu, amount, allocation}, std::nullopt);
    RC_ASSERT(again.ok());
    RC_ASSERT(SpecHas(c, Resource::kCpu, *again));
  }
}

}  // namespace
}  // namespace taut::server
