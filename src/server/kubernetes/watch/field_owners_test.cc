#include "server/kubernetes/watch/field_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const WorkloadName kWebApp{"shop", "deployment", "web", "app"};

TEST(FieldOwners, AnAutoscalerOfAContainerCountsOnThatAlone) {
  FieldOwners owners;
  owners.ReplaceHpas({{"shop", "hpa", "Deployment", "web", {{Resource::kCpu, "app"}}},
                      {"shop", "other", "Deployment", "api", {{Resource::kMemory, ""}}},
                      {"shop", "rollout", "Rollout", "web", {{Resource::kMemory, ""}}}});
  EXPECT_EQ(owners.On(kWebApp, "app", Resource::kCpu).scaled_by, "the HorizontalPodAutoscaler shop/hpa");
  EXPECT_EQ(owners.On(kWebApp, "log", Resource::kCpu).scaled_by, "");
  EXPECT_EQ(owners.On(kWebApp, "app", Resource::kMemory).scaled_by, "");
  EXPECT_EQ(owners.ReplicasOwner(kWebApp), "the HorizontalPodAutoscaler shop/hpa");
  EXPECT_EQ(owners.ReplicasOwner({"shop", "deployment", "none", ""}), "");
  EXPECT_EQ(owners.NotListed(), "VerticalPodAutoscalers");
}

TEST(FieldOwners, SaysWhatChanged) {
  FieldOwners owners;
  Hpa hpa{"shop", "hpa", "Deployment", "web", {{Resource::kCpu, ""}}};
  owners.PutHpa(hpa);
  EXPECT_THAT(owners.TakeChanged(), ElementsAre("shop/deployment/web"));
  owners.PutHpa(hpa);
  EXPECT_THAT(owners.TakeChanged(), IsEmpty()) << "its status is no news";
  hpa.target_name = "api";
  owners.PutHpa(hpa);
  EXPECT_THAT(owners.TakeChanged(), ElementsAre("shop/deployment/api", "shop/deployment/web"));
  EXPECT_EQ(owners.ReplicasOwner(kWebApp), "");
  owners.ReplaceHpas({});
  EXPECT_THAT(owners.TakeChanged(), ElementsAre("shop/deployment/api"));
}

TEST(FieldOwners, AScaledObjectHoldsTheReplicasAlsoWhileItIsPaused) {
  FieldOwners owners;
  EXPECT_FALSE(owners.KnowsScaledObjects());
  owners.ReplaceScaledObjects({{"shop", "scaler", "Deployment", "web", ""}});
  EXPECT_TRUE(owners.KnowsScaledObjects());
  EXPECT_THAT(owners.TakeChanged(), ElementsAre("shop/deployment/web"));
  EXPECT_EQ(owners.ReplicasOwner(kWebApp), "the ScaledObject shop/scaler");
  EXPECT_EQ(owners.PausedScaling(kWebApp), "");
  EXPECT_EQ(owners.ReplicasOwner({"lab", "deployment", "web", ""}), "") << "another namespace";
  EXPECT_EQ(owners.ReplicasOwner({"shop", "statefulset", "web", ""}), "") << "another kind of this name";
  owners.PutHpa({"shop", "keda-hpa-scaler", "Deployment", "web", {}});
  EXPECT_EQ(owners.ReplicasOwner(kWebApp), "the HorizontalPodAutoscaler shop/keda-hpa-scaler");
  owners.PutScaledObject({"shop", "scaler", "Deployment", "web", "autoscaling.keda.sh/paused: true"});
  owners.PutScaledObject({"shop", "another", "Deployment", "web", ""});
  const char* paused = "the ScaledObject shop/scaler, which is paused (autoscaling.keda.sh/paused: true)";
  EXPECT_EQ(owners.ReplicasOwner(kWebApp), paused);
  EXPECT_EQ(owners.PausedScaling(kWebApp), paused);
  owners.RemoveHpa({"shop", "keda-hpa-scaler", "Deployment", "web", {}});
  EXPECT_EQ(owners.ReplicasOwner(kWebApp), paused) << "KEDA deletes it then";
  owners.RemoveScaledObject({"shop", "scaler", "Deployment", "web", ""});
  owners.RemoveScaledObject({"shop", "another", "Deployment", "web", ""});
  EXPECT_EQ(owners.ReplicasOwner(kWebApp), "");
}

TEST(FieldOwners, AVpaSetsWhatItsPolicySays) {
  FieldOwners owners;
  Vpa vpa;
  vpa.namespace_name = "shop";
  vpa.name = "vpa";
  vpa.target_kind = "Deployment";
  vpa.target_name = "web";
  vpa.update_mode = "Recreate";
  vpa.policies.resize(1);
  vpa.policies[0].controls_cpu = false;
  owners.PutVpa(vpa);
  EXPECT_EQ(owners.On(kWebApp, "app", Resource::kMemory).set_by,
            "the VerticalPodAutoscaler shop/vpa (recommender default, updateMode Recreate)");
  EXPECT_EQ(owners.On(kWebApp, "app", Resource::kCpu).set_by, "");
  vpa.recommender = "tautline";
  owners.PutVpa(vpa);
  EXPECT_EQ(owners.On(kWebApp, "app", Resource::kMemory).set_by, "");
  vpa.recommender = "other";
  vpa.update_mode = "Off";
  owners.PutVpa(vpa);
  EXPECT_EQ(owners.On(kWebApp, "app", Resource::kMemory).set_by, "");
}

}  // namespace
}  // namespace taut::server
