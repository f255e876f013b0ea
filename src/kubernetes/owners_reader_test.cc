#include "kubernetes/owners_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubernetes/pod_fixture.h"

namespace taut {
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
  // As it is found after a restart.
  static Pod Resized(const char* name = "web-5d4f8c7b9d-aaaaa") {
    Pod pod = TestPod(name);
    pod.resized = pod.resized_by_us = true;
    pod.containers[0].limits.memory = 20 * kMebibyte;
    return pod;
  }
  ContainerState Container() {
    return cluster_.PodsOf({"shop", "deployment", "web", "app"}).front()->containers[0];
  }

  double now_s_ = 0;
  absl::StatusOr<std::string> answer_ = std::string(kReplicaSet);
  std::vector<std::string> asked_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  OwnersReader reader_{Options(), &cluster_};
};

TEST_F(Owners, AmountsOfPodsThatWereResizedBeforeAreThoseOfTheTemplate) {
  cluster_.ReplacePods({Resized("web-5d4f8c7b9d-aaaaa"), Resized("web-5d4f8c7b9d-bbbbb")});
  (void)cluster_.TakeChangedPods();
  EXPECT_THAT(Step(), ElementsAre("/apis/apps/v1/namespaces/shop/replicasets?fieldSelector=metadata.name%3D"
                                  "web-5d4f8c7b9d"))
      << "once for both";
  EXPECT_EQ(Container().owner_limits, (Amounts{0.2, 64 * kMebibyte}));
  EXPECT_EQ(Container().owner_requests, (Amounts{0.1, 64 * kMebibyte}))
      << "a limit alone is the request, too";
  EXPECT_EQ(Container().limits.memory, 20 * kMebibyte);
  EXPECT_EQ(cluster_.TakeChangedPods().size(), 2U) << "their series are others now";
  cluster_.PutPod(Resized());
  EXPECT_EQ(Container().owner_limits.memory, 64 * kMebibyte) << "also after the pod has changed";
  EXPECT_THAT(Step(), IsEmpty());
}

TEST_F(Owners, NobodyIsAskedForWhatIsKnown) {
  Pod noted = Resized("web-5d4f8c7b9d-bbbbb");
  noted.admitted_by_us = true;
  Pod alone = Resized("web-5d4f8c7b9d-ccccc");
  alone.owner_kind.clear();
  Pod other = Resized("web-5d4f8c7b9d-ddddd");
  other.owner_kind = "Workflow";
  cluster_.ReplacePods({TestPod(), noted, alone, other});
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_EQ(reader_.last_error(), "");
}

TEST_F(Owners, ErrorsThatMayPassAreTriedAgain) {
  answer_ = absl::UnavailableError("503");
  cluster_.ReplacePods({Resized()});
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(reader_.last_error(), "the template of ReplicaSet shop/web-5d4f8c7b9d: 503");
  cluster_.PutPod(Resized());
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
  cluster_.PutPod(Resized());
  EXPECT_EQ(Step().size(), 1U);
  EXPECT_EQ(reader_.last_error(), "");
  EXPECT_EQ(Container().owner_limits.memory, 64 * kMebibyte);
}

}  // namespace
}  // namespace taut
