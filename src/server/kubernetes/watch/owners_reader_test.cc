#include "server/kubernetes/watch/owners_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kReplicaSet =
    R"({"kind":"ReplicaSetList","items":[{"spec":{"template":{"spec":{"containers":[
    {"name":"app","resources":{"requests":{"cpu":"100m"},"limits":{"cpu":"200m","memory":"64Mi"}}}]}}}}]})";

class Owners : public testing::Test {
 protected:
  OwnersReader::Options Options() {
    OwnersReader::Options out;
    out.get = [this](const std::string& path) {
      asked_.push_back(path);
      return answer_;
    };
    out.steady_s = [this] { return now_s_; };
    return out;
  }
  std::vector<std::string> Step() {
    reader_.Step([] { return false; });
    return std::exchange(asked_, {});
  }
  // Returns a resized pod as tautd finds it after a restart.
  static Pod Resized(const char* name = "web-5d4f8c7b9d-aaaaa") {
    Pod pod = TestPod(name);
    pod.resized = pod.resized_by_us = true;
    pod.containers[0].limits.memory = 20 * kMebibyte;
    return pod;
  }
  ContainerState Container() {
    return cluster_.pods().Of({"shop", "deployment", "web", "app"}).front()->containers[0];
  }

  double now_s_ = 0;
  absl::StatusOr<std::string> answer_ = std::string(kReplicaSet);
  std::vector<std::string> asked_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  OwnersReader reader_{Options(), &cluster_};
};

TEST_F(Owners, AmountsOfPodsThatWereResizedBeforeAreThoseOfTheTemplate) {
  cluster_.pods().Replace({Resized("web-5d4f8c7b9d-aaaaa"), Resized("web-5d4f8c7b9d-bbbbb")});
  (void)cluster_.changes().TakePods();
  EXPECT_THAT(Step(), ElementsAre("/apis/apps/v1/namespaces/shop/replicasets?fieldSelector=metadata.name%3D"
                                  "web-5d4f8c7b9d"))
      << "once for both";
  EXPECT_EQ(Container().owner_limits, (Amounts{0.2, 64 * kMebibyte}));
  EXPECT_EQ(Container().owner_requests, (Amounts{0.1, 64 * kMebibyte}))
      << "a limit alone is the request, too";
  EXPECT_EQ(Container().limits.memory, 20 * kMebibyte);
  EXPECT_EQ(cluster_.changes().TakePods().size(), 2U) << "their series are others now";
  cluster_.pods().Put(Resized());
  EXPECT_EQ(Container().owner_limits.memory, 64 * kMebibyte) << "also after the pod has changed";
  EXPECT_THAT(Step(), IsEmpty());
}

TEST_F(Owners, NobodyIsAskedForWhatIsKnown) {
  Pod alone = Resized("web-5d4f8c7b9d-ccccc");
  alone.owner_kind.clear();
  Pod other = Resized("web-5d4f8c7b9d-ddddd");
  other.owner_kind = "Workflow";
  cluster_.pods().Replace({TestPod(), alone, other});
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_EQ(reader_.last_error(), "");
}

// Anyone who may write the pod may write the annotation.
TEST_F(Owners, WhatIsNotedAtAPodIsComparedWithTheTemplate) {
  const auto noted = [](const char* name) {
    Pod pod = Resized(name);
    pod.admitted_by_us = true;
    pod.containers[0].noted_limits = {90, 900 * 1024 * kMebibyte};
    return pod;
  };
  cluster_.nodes().Replace({{.name = "node-1", .allocatable = {8, 32 * 1024 * kMebibyte}}});
  cluster_.pods().Replace({noted("web-5d4f8c7b9d-aaaaa")});
  EXPECT_FALSE(Container().knows_owner()) << "before it is compared";
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(Container().owner_limits, (Amounts{0.2, 64 * kMebibyte}));
  cluster_.pods().Put(noted("web-5d4f8c7b9d-aaaaa"));
  EXPECT_EQ(Container().owner_limits, (Amounts{0.2, 64 * kMebibyte}));

  // The amounts come from a LimitRange, so they are not in the template.
  answer_ = std::string(
      R"({"kind":"ReplicaSetList","items":[{"spec":{"template":{"spec":{"containers":[{"name":"app"}]}}}}]})");
  Pod given = noted("web-5d4f8c7b9d-aaaaa");
  given.uid = "another";
  given.containers[0].noted_limits = {2, 900 * 1024 * kMebibyte};
  cluster_.pods().Put(given);
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(Container().owner_limits, (Amounts{2, std::nullopt})) << "and no more than a node has";
}

TEST_F(Owners, WhatIsNotedInATemplateIsBelievedUpToWhatANodeHas) {
  cluster_.nodes().Replace({{.name = "node-1", .allocatable = {8, 32 * 1024 * kMebibyte}}});
  answer_ = std::string(
      R"({"kind":"ReplicaSetList","items":[{"spec":{"template":{"metadata":{"annotations":{)"
      R"("tautline.dev/owner-resources":"{\"app\":{\"limits\":{\"memory\":\"900Gi\",\"cpu\":\"2\"}}}"}},)"
      R"("spec":{"containers":[{"name":"app","resources":{"limits":{"memory":"64Mi"}}}]}}}}]})");
  cluster_.pods().Replace({Resized()});
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(Container().owner_limits, (Amounts{2, std::nullopt}));
}

TEST_F(Owners, WhatIsNotedAtPodsWithoutAKnownTemplateIsBelievedUpToWhatANodeHas) {
  cluster_.nodes().Replace({{.name = "node-1", .allocatable = {8, 32 * 1024 * kMebibyte}}});
  Pod alone = Resized();
  alone.admitted_by_us = true;
  alone.containers[0].noted_limits = {90, 64 * kMebibyte};
  alone.owner_kind.clear();
  Pod other = alone;
  other.name = "other";
  other.owner_kind = "Workflow";
  other.owner_name = "w";
  cluster_.pods().Replace({alone, other});
  EXPECT_THAT(Step(), IsEmpty());
  int pods = 0;
  cluster_.pods().ForEach([&](const PodPtr& pod, const WorkloadName& /*workload*/) {
    EXPECT_EQ(pod->containers[0].owner_limits, (Amounts{std::nullopt, 64 * kMebibyte})) << pod->name;
    ++pods;
  });
  EXPECT_EQ(pods, 2);
}

TEST_F(Owners, ErrorsThatMayPassAreTriedAgain) {
  answer_ = absl::UnavailableError("503");
  cluster_.pods().Replace({Resized()});
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(reader_.last_error(), "the template of ReplicaSet shop/web-5d4f8c7b9d: 503");
  cluster_.pods().Put(Resized());
  EXPECT_THAT(Step(), IsEmpty()) << "no sooner because the pod changes";
  now_s_ += 10;
  answer_ = absl::PermissionDeniedError("403");
  EXPECT_EQ(Step().size(), 1U);
  now_s_ += 100;
  EXPECT_THAT(Step(), IsEmpty());
  now_s_ += 500;
  answer_ = std::string(R"({"kind":"ReplicaSetList","items":[]})");
  EXPECT_EQ(Step().size(), 1U);
  now_s_ += 1000;
  EXPECT_THAT(Step(), IsEmpty()) << "it is gone";
  answer_ = std::string(kReplicaSet);
  cluster_.pods().Put(Resized());
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(reader_.last_error(), "");
  EXPECT_EQ(Container().owner_limits.memory, 64 * kMebibyte);
}

}  // namespace
}  // namespace taut::server
