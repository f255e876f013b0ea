#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ActuatorTemplates : public testing::Test {
 protected:
  ActuatorTemplates() {
    owners_.ReplaceHpas({});
    owners_.ReplaceVpas({});
    terms_.in_template = true;
    Workload(R"("cpu":"100m","memory":"32Mi")", R"("cpu":"200m","memory":"64Mi")", false);
    KubernetesActuator::Options options;
    options.terms = [this](const std::string& /*job*/, Resource /*resource*/) { return terms_; };
    options.owners = &owners_;
    options.unix_s = [this] { return static_cast<int64_t>(now_s_) + 1'764'072'000; };
    options.steady_s = [this] { return now_s_; };
    actuator_ = std::make_unique<KubernetesActuator>(std::move(options), &cluster_,
                                                     std::make_unique<ScriptedWriter>(&script_));
    cluster_.pods().Replace({TestPod(kPodA), TestPod(kPodB)});
  }
  // Sets the workload. If `rolls`, its rollout has just begun, else its rollout is complete.
  void Workload(const std::string& requests, const std::string& limits, bool rolls) {
    script_.workload = StrCat(
        R"({"metadata":{"resourceVersion":"7","generation":2},"spec":{"replicas":2,"template":{"spec":{)",
        R"("containers":[{"name":"app","resources":{"requests":{)", requests, R"(},"limits":{)", limits,
        R"(}}}]}}},"status":{"observedGeneration":)", rolls ? 1 : 2,
        R"(,"replicas":2,"updatedReplicas":2,"availableReplicas":2}})");
  }
  void Order(uint64_t decision, Resource resource, std::optional<double> value,
             std::optional<std::vector<std::string>> tasks = {}) {
    TargetOrder order;
    order.decision = decision;
    order.job = kJob;
    order.workload = InKubernetes(order.job);
    order.target = resource;
    order.value = value;
    order.tasks = std::move(tasks);
    actuator_->Apply({&order, 1}, 1000);
  }
  std::vector<std::string> Asked() { return std::exchange(script_.asked, {}); }
  std::vector<std::string> Outcomes() { return OutcomesOf(*actuator_); }

  double now_s_ = 100;
  PodTerms terms_;
  ScriptedWriter::Script script_;
  FieldOwners owners_;
  Cluster cluster_{ClusterNaming{"", KubernetesJobs::kContainers}};
  std::unique_ptr<KubernetesActuator> actuator_;
};

TEST_F(ActuatorTemplates, SetsBothResourcesByOneApplyAndIsAppliedWhenItHasRolledOut) {
  Order(7, Resource::kMemory, 100 * kMebibyte);
  Order(8, Resource::kCpu, 0.4);
  actuator_->Step();
  EXPECT_THAT(Asked(),
              ElementsAre(HasSubstr(
                  R"("requests":{"cpu":"200m","memory":"50Mi"},"limits":{"cpu":"400m","memory":"100Mi"})")));
  EXPECT_THAT(Outcomes(), ElementsAre("8 pending set on 0 of 2 pods; the template is set, and rolls out",
                                      "7 pending set on 0 of 2 pods; the template is set, and rolls out"));
  EXPECT_EQ(actuator_->counts().templates, 1U);
  EXPECT_THAT(actuator_->OrdersFor(TestPod("new")), IsEmpty()) << "the template has it";
  Workload(R"("cpu":"200m","memory":"50Mi")", R"("cpu":"400m","memory":"100Mi")", true);
  now_s_ += 6;
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("8 pending"), HasSubstr("has not seen the last change yet")));
  Workload(R"("cpu":"200m","memory":"50Mi")", R"("cpu":"400m","memory":"100Mi")", false);
  now_s_ += 6;
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre("8 applied set on 2 pods", "7 applied set on 2 pods"));
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(ActuatorTemplates, RefusesATrial) {
  Order(7, Resource::kMemory, 48 * kMebibyte, std::vector<std::string>{kPodA});
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("7 failed set on 0 of 1 pod; a trial is of some pods")));
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(ActuatorTemplates, TriesAgainAfterAConflictAndNotSoonAfterARefusal) {
  script_.apply = absl::AbortedError("the object has been modified");
  Order(7, Resource::kMemory, 100 * kMebibyte);
  actuator_->Step();
  EXPECT_THAT(Outcomes(),
              ElementsAre(HasSubstr("7 pending set on 0 of 2 pods; the template: the object has been")));
  EXPECT_EQ(Asked().size(), 1U);
  script_.apply = absl::PermissionDeniedError("cannot patch resource deployments");
  now_s_ += 6;
  actuator_->Step();
  EXPECT_EQ(Asked().size(), 1U);
  EXPECT_THAT(Outcomes(), ElementsAre(HasSubstr("7 failed")));
  now_s_ += 60;
  actuator_->Step();
  EXPECT_THAT(Asked(), IsEmpty());
  now_s_ += 600;
  actuator_->Step();
  EXPECT_EQ(Asked().size(), 1U);
  EXPECT_EQ(actuator_->counts().failed, 3U);
}

TEST_F(ActuatorTemplates, AReleasedOrderIsForgotten) {
  Order(7, Resource::kMemory, std::nullopt);
  actuator_->Step();
  EXPECT_THAT(Outcomes(), ElementsAre("7 applied set on 2 pods"));
  EXPECT_EQ(actuator_->counts().orders, 0U);
  EXPECT_THAT(Asked(), IsEmpty()) << "its template was never set";
}

}  // namespace
}  // namespace taut::server
