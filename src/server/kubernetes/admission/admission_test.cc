#include "server/kubernetes/admission/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "common/base/strings.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/namespace_rules.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Review(std::string_view metadata, std::string_view resources) {
  return StrCat(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1",
    "kind":{"group":"","version":"v1","kind":"Pod"},"operation":"CREATE","namespace":"shop","object":{
    "metadata":{"generateName":"web-5d4f8c7b9d-",)",
                metadata,
                R"("ownerReferences":[{"kind":"ReplicaSet","name":"web-5d4f8c7b9d","controller":true}]},
    "spec":{"initContainers":[{"name":"setup","resources":{}},
                              {"name":"proxy","restartPolicy":"Always","resources":{"requests":{"cpu":"10m"}}}],
            "containers":[{"name":"app","resources":)",
                resources, "}]}}}}");
}

constexpr std::string_view kResources =
    R"({"requests":{"cpu":"100m","memory":"32Mi"},"limits":{"cpu":"200m","memory":"64Mi"}})";

// Returns the operations of the patch; "" if there is no patch.
std::string PatchOf(const PodAdmission& admission) {
  const size_t begin = admission.answer.find(R"("patch":")");
  if (begin == std::string::npos) return "";
  const size_t from = begin + 9;
  std::string out;
  absl::Base64Unescape(admission.answer.substr(from, admission.answer.find('"', from) - from), &out);
  return out;
}

PodOrder Order(std::string container, Resource resource, double amount) {
  return {std::move(container), resource, amount, {}};
}

TEST(Admission, ANewPodGetsWhatHoldsForItsWorkload) {
  const auto review = ParsePodReview(Review("", kResources));
  ASSERT_TRUE(review.ok()) << review.status();
  Cluster cluster(ClusterNaming{"", KubernetesJobs::kContainers});
  EXPECT_EQ(WorkloadKey(cluster.pods().WorkloadOf(review->pod)), "shop/deployment/web")
      << "by its name, before its owner is seen";
  const std::vector<PodOrder> orders = {
      Order("app", Resource::kMemory, 100 * kMebibyte), Order("app", Resource::kCpu, 0.3),
      Order("proxy", Resource::kCpu, 0.02), Order("gone", Resource::kCpu, 1)};
  const PodAdmission admission = AdmitPod(*review, orders, {4, 8192 * kMebibyte}, {});
  EXPECT_TRUE(admission.changed);
  EXPECT_THAT(admission.answer, HasSubstr(R"("uid":"u-1","allowed":true,"patchType":"JSONPatch")"));
  EXPECT_EQ(
      PatchOf(admission),
      R"([{"op":"add","path":"/spec/containers/0/resources/requests/memory","value":"50Mi"},)"
      R"({"op":"add","path":"/spec/containers/0/resources/limits/memory","value":"100Mi"},)"
      R"({"op":"add","path":"/spec/containers/0/resources/requests/cpu","value":"150m"},)"
      R"({"op":"add","path":"/spec/containers/0/resources/limits/cpu","value":"300m"},)"
      R"({"op":"add","path":"/spec/initContainers/1/resources/requests/cpu","value":"20m"},)"
      R"({"op":"add","path":"/metadata/annotations","value":{"tautline.dev/owner-resources":)"
      R"("{\"proxy\":{\"requests\":{\"cpu\":\"10m\"},\"limits\":{}},)"
      R"(\"app\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"32Mi\"},\"limits\":{\"cpu\":\"200m\",\"memory\":\"64Mi\"}}}"}}])");
}

TEST(Admission, WhatWasNotedIsTheOwnersAgain) {
  const std::string noted =
      R"("annotations":{"a":"b","tautline.dev/owner-resources":"{\"app\":{\"requests\":{\"cpu\":\"50m\"},\"limits\":{\"cpu\":\"200m\"}}}"},)";
  const auto review = ParsePodReview(Review(noted, kResources));
  ASSERT_TRUE(review.ok());
  EXPECT_TRUE(review->pod.resized_by_us);
  const ContainerState& app = review->pod.containers[1];
  EXPECT_EQ(app.owner_requests, (Amounts{0.05, std::nullopt}));
  Cluster cluster(ClusterNaming{"", KubernetesJobs::kContainers});
  Pod pod = review->pod;
  pod.name = "web-5d4f8c7b9d-aaaaa";
  cluster.pods().Replace({pod});
  cluster.pods().SetOwnersAmounts({"shop", "ReplicaSet", "web-5d4f8c7b9d"},
                                  nullptr);  // null: the template is unknown
  EXPECT_EQ(cluster.pods().Of({"shop", "deployment", "web", "app"})[0]->containers[1].owner_limits,
            (Amounts{0.2, std::nullopt}));
  // A quarter is the owner's ratio, so the annotation does not change.
  const std::vector<PodOrder> orders = {Order("app", Resource::kCpu, 0.8)};
  const std::string patch = PatchOf(AdmitPod(*review, orders, {}, {}));
  EXPECT_THAT(patch, HasSubstr(R"(requests/cpu","value":"200m")"));
  EXPECT_THAT(patch, HasSubstr(R"("path":"/metadata/annotations/tautline.dev~1owner-resources")"));
  EXPECT_THAT(patch, HasSubstr(R"(\"app\":{\"requests\":{\"cpu\":\"50m\"},\"limits\":{\"cpu\":\"200m\"}})"));
}

TEST(Admission, ARequestThatAnAutoscalerScalesByIsTheTemplates) {
  const auto review = ParsePodReview(Review("", kResources));
  ASSERT_TRUE(review.ok());
  PodOrder order = Order("app", Resource::kCpu, 0.4);
  order.scaled_by = "the HorizontalPodAutoscaler shop/web";
  const std::string patch = PatchOf(AdmitPod(*review, {&order, 1}, {}, {}));
  EXPECT_THAT(patch, HasSubstr(R"(limits/cpu","value":"400m")"));
  EXPECT_THAT(patch, testing::Not(HasSubstr("requests/cpu\"")));
}

TEST(Admission, WhatCannotBeIsLeftAsItIs) {
  const auto review = ParsePodReview(Review("", kResources));
  ASSERT_TRUE(review.ok());
  const auto changed = [&](const PodOrder& order) {
    return AdmitPod(*review, {&order, 1}, {4, 8192 * kMebibyte}, {}).changed;
  };
  EXPECT_FALSE(changed(Order("app", Resource::kCpu, 5))) << "no node has 5 cores: it could not be scheduled";
  EXPECT_FALSE(changed(Order("", Resource::kCpu, 0.3))) << "the pod has two containers";
  EXPECT_FALSE(changed(Order("app", Resource::kCpu, 0.2))) << "it has it";
  EXPECT_FALSE(changed(Order("proxy", Resource::kMemory, 1e6))) << "neither request nor limit";
  const PodAdmission none = AdmitPod(*review, {}, {}, {});
  EXPECT_EQ(
      none.answer,
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true}})");
}

// The scheduler counts the requests of all containers: the request of proxy, and half of app's limit.
TEST(Admission, APodThatNoNodeHasRoomForIsLeftAsItIs) {
  const auto review = ParsePodReview(Review("", kResources));
  ASSERT_TRUE(review.ok());
  const auto given = [&](double proxy, double app, const Amounts& largest_node) {
    const std::vector<PodOrder> orders = {Order("proxy", Resource::kCpu, proxy),
                                          Order("app", Resource::kCpu, app)};
    const std::string patch = PatchOf(AdmitPod(*review, orders, largest_node, {}));
    return StrCat(patch.find("initContainers/1") != std::string::npos ? "proxy " : "",
                  patch.find("/containers/0/resources/limits/cpu") != std::string::npos ? "app" : "");
  };
  EXPECT_EQ(given(1, 2, {2, std::nullopt}), "proxy app") << "two cores together";
  EXPECT_EQ(given(1.5, 2, {2, std::nullopt}), "proxy ") << "a half more";
  EXPECT_EQ(given(1.5, 2, {}), "proxy app") << "no node is known";
  EXPECT_EQ(given(0.005, 0.19, {0.1, std::nullopt}), "proxy ")
      << "less than its template, which has more than the node";
  Pod pod = review->pod;
  pod.name = "web-5d4f8c7b9d-aaaaa";
  const std::vector<PodOrder> orders = {Order("proxy", Resource::kCpu, 1.5), Order("app", Resource::kCpu, 2)};
  EXPECT_EQ(WhyNotGiven(pod, "app", Resource::kCpu, orders, {2, std::nullopt}, {}),
            "the containers of a new pod would request 2500m of cpu together, more than any node that it may "
            "run on has (2)");
  EXPECT_EQ(WhyNotGiven(pod, "app", Resource::kCpu, orders, {2.5, std::nullopt}, {}), "");
}

// An order must not violate a LimitRange, because the API server would then reject a pod whose template complies.
TEST(Admission, TheNamespacesRulesHold) {
  // With the sidecar, the pod's requests are 110m and 32Mi, and its limits are 200m and 64Mi.
  const auto review = ParsePodReview(Review("", kResources));
  ASSERT_TRUE(review.ok());
  const std::vector<PodOrder> orders = {Order("app", Resource::kMemory, 100 * kMebibyte),
                                        Order("app", Resource::kCpu, 0.1)};
  const auto changed = [&](NamespaceRule rule) {
    const std::string patch = PatchOf(AdmitPod(*review, orders, {}, {&rule, 1}));
    return StrCat(patch.find("memory\",") != std::string::npos ? "memory " : "",
                  patch.find("limits/cpu") != std::string::npos ? "cpu" : "");
  };
  EXPECT_EQ(changed({}), "memory cpu");
  EXPECT_EQ(changed({.container = {.max = {std::nullopt, 80 * kMebibyte}}}), "cpu");
  EXPECT_EQ(changed({.container = {.min = {0.06, std::nullopt}}}), "memory ") << "a request of 50m";
  EXPECT_EQ(changed({.container = {.min = {0.2, std::nullopt}}}), "memory cpu") << "it is broken already";
  EXPECT_EQ(changed({.pod = {.max = {std::nullopt, 99 * kMebibyte}}}), "cpu");
  EXPECT_EQ(changed({.requests_left = {std::nullopt, 40 * kMebibyte}}), "cpu");
  EXPECT_EQ(changed({.limits_left = {0.0, 90 * kMebibyte}}), "cpu") << "less is always taken";
  EXPECT_EQ(changed({.container = {.max_limit_request_ratio = {1.5, std::nullopt}}}), "memory cpu");
}

TEST(NamespaceRules, AreReadOfBothKinds) {
  const std::string list = R"({"kind":"LimitRangeList","metadata":{"resourceVersion":"7"},"items":[
    {"metadata":{"namespace":"shop","name":"small"},"spec":{"limits":[
      {"type":"Container","max":{"memory":"512Mi"},"min":{"cpu":"10m"},"maxLimitRequestRatio":{"cpu":"4"}},
      {"type":"PersistentVolumeClaim","max":{"storage":"1Gi"}}]}},
    {"metadata":{"namespace":"shop","name":"team"},"status":{
      "hard":{"requests.cpu":"2","cpu":"3","limits.memory":"4Gi"},"used":{"requests.cpu":"500m","cpu":"2500m"}}}]})";
  ObjectParser parser;
  ListMeta meta;
  std::vector<NamespaceRule> all;
  ASSERT_TRUE(
      parser.ParseList<NamespaceRule>(list, meta, [&](NamespaceRule&& r) { all.push_back(std::move(r)); })
          .ok());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].container.max, (Amounts{std::nullopt, 512 * kMebibyte}));
  EXPECT_EQ(all[0].container.max_limit_request_ratio, (Amounts{4, std::nullopt}));
  EXPECT_EQ(all[1].requests_left, (Amounts{0.5, std::nullopt})) << "of two bounds the nearer one";
  EXPECT_EQ(all[1].limits_left, (Amounts{std::nullopt, 4096 * kMebibyte}));
  const LargestNode node{{8, 16384 * kMebibyte}, {"", "n3"}, {}};
  EXPECT_EQ(AllowedRangeText(Resource::kMemory, AllowedBy(all, node, {}, Resource::kMemory)),
            "..512MiB by LimitRange small");
  EXPECT_EQ(AllowedRangeText(Resource::kMemory, AllowedBy(all, node, {.of_pods = true}, Resource::kMemory)),
            "..16GiB by the largest node (n3)")
      << "the rule is of containers";
  EXPECT_EQ(AllowedRangeText(Resource::kCpu, AllowedBy(all, node, {}, Resource::kCpu)),
            "0.01 by LimitRange small..8 by the largest node");
  EXPECT_EQ(AllowedRangeText(Resource::kCpu, AllowedBy(all, node, {.share = 0.5}, Resource::kCpu)),
            "0.02 by LimitRange small..8 by the largest node")
      << "the request is half of it, and no limit is above the node";
  EXPECT_EQ(AllowedRangeText(Resource::kMemory,
                             AllowedBy(all, node, {.is_request = true, .share = 0.5}, Resource::kMemory)),
            "..256MiB by LimitRange small")
      << "the limit is twice of it";
  EXPECT_TRUE(AllowedBy({}, {}, {}, Resource::kCpu).empty());
  NamespaceRules rules;
  EXPECT_FALSE(rules.Knows("LimitRange"));
  rules.Replace("LimitRange", {all[0]});
  rules.Put("ResourceQuota", all[1]);
  EXPECT_EQ(rules.Of("shop").size(), 2U);
  EXPECT_EQ(rules.Of("other").size(), 0U);
  EXPECT_EQ(rules.version(), 1U) << "of LimitRanges alone: what a quota has left changes with each pod";
  rules.Replace("LimitRange", {});
  EXPECT_EQ(rules.version(), 2U);
  EXPECT_EQ(rules.Of("shop").size(), 1U);
  rules.Remove("ResourceQuota", all[1]);
  EXPECT_EQ(rules.Of("shop").size(), 0U);
  Pod before = TestPod(), after = TestPod();
  after.containers[0].limits.memory = 600 * kMebibyte;
  EXPECT_EQ(BrokenRule(before, after, all), "shop/small: memory of container app: limit above 512Mi");
}

// The whole order would exceed the resources of the whole pod, so the API server would reject the order. A pod
// with such resources is not resized later, so the pod receives the part of the order that fits.
TEST(Admission, ANewPodGetsWhatFitsInTheResourcesOfTheWholePod) {
  auto review = ParsePodReview(Review("", kResources));
  ASSERT_TRUE(review.ok());
  review->pod.containers[0].requests.memory = 16 * kMebibyte;
  review->pod.pod_requests.memory = 64 * kMebibyte;
  review->pod.pod_limits.memory = 256 * kMebibyte;
  const PodOrder order = Order("app", Resource::kMemory, 200 * kMebibyte);
  EXPECT_THAT(
      PatchOf(AdmitPod(*review, {&order, 1}, {}, {})),
      AllOf(HasSubstr(R"(requests/memory","value":"48Mi")"), HasSubstr(R"(limits/memory","value":"96Mi")")));
  review->pod.pod_requests.memory = 48 * kMebibyte;
  EXPECT_EQ(PatchOf(AdmitPod(*review, {&order, 1}, {}, {})), "") << "nothing is left";
  const PodOrder less = Order("app", Resource::kMemory, 40 * kMebibyte);
  EXPECT_THAT(PatchOf(AdmitPod(*review, {&less, 1}, {}, {})), HasSubstr(R"(limits/memory","value":"40Mi")"));
}

TEST(Admission, ANewPodStartsWithMoreWhereItMayAndElseWithTheOrder) {
  const auto review = ParsePodReview(Review("", kResources));
  ASSERT_TRUE(review.ok());
  PodOrder order = Order("app", Resource::kCpu, 0.3);
  order.at_start = 1;
  EXPECT_THAT(PatchOf(AdmitPod(*review, {&order, 1}, {4, std::nullopt}, {})),
              AllOf(HasSubstr(R"(limits/cpu","value":"1")"), HasSubstr(R"(requests/cpu","value":"500m")")));
  // The order exceeds the largest node in the first case, and a LimitRange in the second.
  EXPECT_THAT(PatchOf(AdmitPod(*review, {&order, 1}, {0.8, std::nullopt}, {})),
              HasSubstr(R"(limits/cpu","value":"300m")"));
  const NamespaceRule rule{
      .namespace_name = "shop", .name = "small", .container = {.max = {0.5, std::nullopt}}};
  EXPECT_THAT(PatchOf(AdmitPod(*review, {&order, 1}, {4, std::nullopt}, {&rule, 1})),
              HasSubstr(R"(limits/cpu","value":"300m")"));
}

TEST(Admission, NonsenseIsRefused) {
  for (const char* body :
       {"", "[]", "{}", R"({"request":{}})", R"({"request":{"uid":"u","object":{}}})",
        R"({"request":{"uid":"u","operation":"DELETE","kind":{"kind":"Pod"},"object":{"metadata":{}}}})",
        R"({"request":{"uid":"u","operation":"CREATE","kind":{"kind":"Node"},"object":{"metadata":{}}}})"}) {
    EXPECT_FALSE(ParsePodReview(body).ok()) << body;
  }
  const auto review =
      ParsePodReview(Review(R"("annotations":{"tautline.dev/owner-resources":"[1"},)", kResources));
  ASSERT_TRUE(review.ok());
  EXPECT_FALSE(review->pod.resized_by_us) << "an annotation that cannot be read";
}

}  // namespace
}  // namespace taut::server
