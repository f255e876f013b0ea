#include "server/kubernetes/watch/vpa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/act/vpa_writer.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Vpa TestVpa() {
  Vpa out;
  out.namespace_name = "shop";
  out.name = "web";
  out.recommender = "tautline";
  out.target_kind = "Deployment";
  out.target_name = "web";
  return out;
}

const Amounts kNode{4, 4096 * kMebibyte};

TEST(Vpa, IsReadAsTheServerSendsIt) {
  ObjectParser parser;
  WatchMeta meta;
  Vpa vpa;
  ASSERT_TRUE(parser
                  .ParseWatch<Vpa>(
                      R"({"type":"ADDED","object":{"metadata":{"name":"web","namespace":"shop"},"spec":{
                      "recommenders":[{"name":"tautline"}],"updatePolicy":{"updateMode":"Initial"},"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},
                      "resourcePolicy":{"containerPolicies":[{"containerName":"log","mode":"Off"},
                      {"containerName":"*","controlledResources":["memory"],"controlledValues":"RequestsOnly","minAllowed":{"memory":"100Mi"},"maxAllowed":{"memory":"1Gi"}}]}}}})",
                      meta, vpa)
                  .ok());
  EXPECT_EQ(vpa.recommender, "tautline");
  EXPECT_EQ(vpa.target_kind, "Deployment");
  EXPECT_EQ(vpa.update_mode, "Initial");
  EXPECT_FALSE(Controls(vpa, "log", Resource::kMemory));
  EXPECT_TRUE(Controls(vpa, "app", Resource::kMemory));
  EXPECT_FALSE(Controls(vpa, "app", Resource::kCpu));
  EXPECT_TRUE(Controls(Vpa(), "app", Resource::kCpu));
  EXPECT_TRUE(SetsRequestsOnly(vpa, "app"));
  EXPECT_FALSE(SetsRequestsOnly(vpa, "log"));
  ASSERT_EQ(vpa.policies.size(), 2U);
  EXPECT_TRUE(vpa.policies[0].is_off);
  EXPECT_TRUE(vpa.policies[0].controls_cpu);
  EXPECT_FALSE(vpa.policies[1].controls_cpu);
  EXPECT_EQ(vpa.policies[1].max_allowed.memory, 1024 * kMebibyte);
}

// The updater scales limits by the pod's ratio. If the limit were the target, the new limit would be twice as
// high.
TEST(Vpa, OfALimitTheTargetIsTheRequestsShare) {
  const auto share = [](const Pod& pod, const Allocation& allocation, std::string_view container = "app") {
    const PodPtr pods[] = {std::make_shared<const Pod>(pod)};
    return VpaTarget(1, pods, container, Resource::kMemory, allocation, false);
  };
  Pod pod = TestPod();
  pod.containers.push_back(TestContainer("log"));
  EXPECT_EQ(share(pod, {}), 0.5);
  EXPECT_EQ(share(pod, {.applies_to = AppliesTo::kLimit, .request_share = 0.8}), 0.8);
  EXPECT_EQ(share(pod, {.applies_to = AppliesTo::kLimit, .request_share = 0.2}), 0.5)
      << "else the limit would be lower than recommended";
  EXPECT_EQ(share(pod, {.applies_to = AppliesTo::kRequest, .request_share = {}}), 1);
  EXPECT_EQ(share(pod, {}, "none"), 1);
  pod.containers[0].limits = pod.containers[0].requests = {0.3, 96 * kMebibyte};
  pod.containers[0].owner_requests.memory = 16 * kMebibyte;
  pod.containers[0].owner_limits.memory = 64 * kMebibyte;
  EXPECT_EQ(share(pod, {}), 0.25) << "the owner's, whatever the pod has now";
  pod.containers[0].limits.memory.reset();
  EXPECT_EQ(share(pod, {}), 1) << "without a limit it is the request";
}

TEST(Vpa, WhereTheLimitStaysTheTargetIsTheAmountUpToThatLimit) {
  Pod pod = TestPod();
  pod.containers[0].limits.memory = 64 * kMebibyte;
  const PodPtr pods[] = {std::make_shared<const Pod>(pod)};
  const auto target = [&](double mebibytes, AppliesTo applies_to) {
    return VpaTarget(mebibytes * kMebibyte, pods, "app", Resource::kMemory,
                     {.applies_to = applies_to, .request_share = {}}, true) /
           kMebibyte;
  };
  EXPECT_EQ(target(48, AppliesTo::kLimit), 48) << "not the request's share of it";
  EXPECT_EQ(target(96, AppliesTo::kLimit), 64) << "a request above the limit is refused";
  EXPECT_EQ(target(96, AppliesTo::kRequest), 64);
}

TEST(Vpa, TheBoundsAreTheTarget) {
  const std::string patch =
      VpaStatusPatch(TestVpa(), {{{"app", {0.25, 96 * kMebibyte}}}, true, "", kNode}, "2026-01-01T00:00:00Z");
  EXPECT_EQ(
      patch,
      R"({"status":{"recommendation":{"containerRecommendations":[{"containerName":"app",)"
      R"("target":{"cpu":"250m","memory":"96Mi"},"lowerBound":{"cpu":"250m","memory":"96Mi"},)"
      R"("upperBound":{"cpu":"250m","memory":"96Mi"},"uncappedTarget":{"cpu":"250m","memory":"96Mi"}}]},)"
      R"("conditions":[{"type":"RecommendationProvided","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"","message":""}]}})");
}

TEST(Vpa, NoTargetIsLargerThanEveryNode) {
  const std::string patch = VpaStatusPatch(TestVpa(), {{{"app", {8, std::nullopt}}}, true, "", kNode}, "t");
  EXPECT_THAT(patch, HasSubstr(R"("target":{"cpu":"4"})"));
  EXPECT_THAT(patch, HasSubstr(R"("uncappedTarget":{"cpu":"8"})"));
}

TEST(Vpa, TheResourcePolicyHolds) {
  Vpa vpa = TestVpa();
  VpaContainerPolicy every, log;
  every.controls_cpu = false;
  every.min_allowed.memory = 100 * kMebibyte;
  every.max_allowed.memory = 200 * kMebibyte;
  log.container = "log";
  log.is_off = true;
  vpa.policies = {every, log};
  const auto patch = [&](double mebibytes) {
    return VpaStatusPatch(
        vpa, {{{"app", {1, mebibytes * kMebibyte}}, {"log", {1, kMebibyte}}}, true, "", kNode}, "t");
  };
  EXPECT_THAT(patch(50), HasSubstr(R"("target":{"memory":"100Mi"})"));
  EXPECT_THAT(patch(50), HasSubstr(R"("uncappedTarget":{"memory":"50Mi"})"));
  EXPECT_THAT(patch(500), HasSubstr(R"("target":{"memory":"200Mi"})"));
  EXPECT_THAT(patch(50), Not(HasSubstr("log")));
  EXPECT_THAT(patch(50), Not(HasSubstr("cpu")));
}

TEST(Vpa, SaysWhenThereIsNothing) {
  const std::string patch = VpaStatusPatch(TestVpa(), {{}, false, "", kNode}, "t");
  EXPECT_THAT(patch, Not(HasSubstr("containerRecommendations")));
  EXPECT_THAT(patch, HasSubstr(R"("type":"RecommendationProvided","status":"False")"));
  EXPECT_THAT(patch, HasSubstr(R"("type":"NoPodsMatched","status":"True")"));
}

class Writer : public testing::Test {
 protected:
  Writer() {
    cluster_.nodes().Replace({{"node-1", kNode, true}});
    cluster_.pods().Replace({TestPod()});
  }
  VpaWriter::Options Options() {
    VpaWriter::Options out;
    out.advice = [this](const WorkloadName& container, bool) {
      return container == WorkloadName{"shop", "deployment", "web", "app"} ? advice_ : Amounts();
    };
    out.send = [this](const std::string& path, const std::string& patch) {
      sent_.push_back(path + " " + patch);
      return answer_;
    };
    out.time = [] { return "t"; };
    out.steady_s = [this] { return now_s_; };
    return out;
  }
  std::vector<std::string> Step() {
    writer_.Step([] { return false; });
    return std::exchange(sent_, {});
  }

  double now_s_ = 0;
  Amounts advice_{0.25, std::nullopt};
  absl::Status answer_;
  std::vector<std::string> sent_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  VpaWriter writer_{Options(), &cluster_};
};

TEST_F(Writer, WritesWhatHasChanged) {
  Vpa other = TestVpa();
  other.name = "other";
  other.recommender = "";
  writer_.Replace({TestVpa(), other});
  EXPECT_THAT(Step(),
              ElementsAre(AllOf(
                  HasSubstr("/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers/web/status "),
                  HasSubstr(R"("target":{"cpu":"250m"})"))));
  EXPECT_THAT(Step(), IsEmpty());
  advice_.cpu = 0.5;
  EXPECT_THAT(Step(), ElementsAre(HasSubstr("500m")));
  now_s_ += 601;
  EXPECT_THAT(Step(), ElementsAre(HasSubstr("500m"))) << "should another have changed it";
  EXPECT_EQ(writer_.counts().vpas, 1U);
  EXPECT_EQ(writer_.counts().written, 3U);
}

TEST_F(Writer, ARequestByWhichAnAutoscalerScalesHasNoTarget) {
  FieldOwners owners;
  VpaWriter::Options options = Options();
  options.owners = &owners;
  VpaWriter writer(options, &cluster_);
  const auto step = [&] {
    writer.Step([] { return false; });
    return std::exchange(sent_, {});
  };
  advice_.memory = 96 * kMebibyte;
  writer.Put(TestVpa());
  EXPECT_THAT(step(), IsEmpty()) << "one may be there";
  EXPECT_THAT(writer.last_error(), HasSubstr("HorizontalPodAutoscalers of the cluster are known"));
  Hpa hpa;
  hpa.namespace_name = "shop";
  hpa.name = "web";
  hpa.target_kind = "Deployment";
  hpa.target_name = "web";
  hpa.metrics = {{Resource::kCpu, ""}};
  owners.ReplaceHpas({hpa});
  const char* cpu =
      "the cpu request of container app stays: the HorizontalPodAutoscaler shop/web scales the workload by "
      "its use";
  EXPECT_THAT(step(), ElementsAre(AllOf(HasSubstr(R"("target":{"memory":"96Mi"})"), HasSubstr(cpu))));
  EXPECT_EQ(writer.last_error(), "");
  hpa.metrics.push_back({Resource::kMemory, "app"});
  owners.PutHpa(hpa);
  EXPECT_THAT(step(), ElementsAre(AllOf(HasSubstr(R"({"status":{"recommendation":null,)"), HasSubstr(cpu),
                                        HasSubstr("the memory request of container app stays"),
                                        HasSubstr(R"("status":"False")"))))
      << "an earlier target holds no more";
  Vpa memory_only = TestVpa();
  VpaContainerPolicy every;
  every.controls_cpu = false;
  memory_only.policies = {every};
  writer.Put(memory_only);
  EXPECT_THAT(step(), ElementsAre(Not(HasSubstr("cpu")))) << "the VPA does not set it anyway";
  owners.ReplaceHpas({});
  writer.Put(TestVpa());
  EXPECT_THAT(step(), ElementsAre(HasSubstr(R"("target":{"cpu":"250m","memory":"96Mi"})")));
}

TEST_F(Writer, RetriesAfterAPause) {
  answer_ = absl::UnavailableError("503");
  writer_.Put(TestVpa());
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(writer_.last_error(), "shop/web: 503");
  EXPECT_THAT(Step(), IsEmpty());
  now_s_ += 31;
  answer_ = absl::OkStatus();
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(writer_.last_error(), "");
}

TEST_F(Writer, FollowsTheObjects) {
  writer_.Put(TestVpa());
  (void)Step();
  Vpa vpa = TestVpa();
  vpa.recommender = "default";
  writer_.Put(vpa);
  EXPECT_EQ(writer_.counts().vpas, 0U) << "it names another recommender now";
  writer_.Put(TestVpa());
  EXPECT_EQ(Step().size(), 1U);
  writer_.Remove(TestVpa());
  EXPECT_THAT(Step(), IsEmpty());
  writer_.Put(TestVpa());
  writer_.Replace({});
  EXPECT_EQ(writer_.counts().vpas, 0U);
}

}  // namespace
}  // namespace taut::server
