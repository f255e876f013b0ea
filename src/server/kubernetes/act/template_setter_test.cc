#include "server/kubernetes/act/template_setter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Did = TemplateSetter::Did;

constexpr int64_t kNow = 1'764'072'000;  // 2025-11-25T12:00:00Z

// Returns an entry of managedFields that owns the memory limit and request of container app.
std::string Manager(const char* name, const char* operation, const char* time) {
  return StrCat(R"({"manager":")", name, R"(","operation":")", operation, R"(","time":")", time,
                R"(","fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":)",
                R"({".":{},"f:resources":{"f:limits":{"f:memory":{}},"f:requests":{"f:memory":{}}}}}}}}}})");
}

class Template : public testing::Test {
 protected:
  // A Deployment with 2 pods from the current template.
  struct Object {
    std::string labels = "{}", annotations = "{}", managers, strategy = R"("replicas":2)";
    std::string noted;  // annotation of the pod template
    std::string requests = R"("cpu":"100m","memory":"32Mi")", limits = R"("cpu":"200m","memory":"64Mi")";
    std::string status = R"("observedGeneration":3,"replicas":2,"updatedReplicas":2,"availableReplicas":2)";
  };
  void Put(const Object& o) {
    const std::string note =
        o.noted.empty() ? "" : StrCat(R"("annotations":{"tautline.dev/owner-resources":")", o.noted, R"("})");
    script_.workload = StrCat(
        R"({"metadata":{"name":"web","namespace":"shop","resourceVersion":"41","generation":3,"labels":)",
        o.labels, R"(,"annotations":)", o.annotations, R"(,"managedFields":[)", o.managers, R"(]},"spec":{)",
        o.strategy, R"(,"template":{"metadata":{)", note,
        R"(},"spec":{"containers":[{"name":"app","resources":{"requests":{)", o.requests, R"(},"limits":{)",
        o.limits, R"(}}},{"name":"side","resources":{"requests":{"cpu":"50m"}}}]}}},)", R"("status":{)",
        o.status, "}}");
  }
  static TemplateWish Memory(std::optional<double> mebibytes) {
    TemplateWish out;
    out.container = "app";
    out.resource = Resource::kMemory;
    if (mebibytes.has_value()) out.amount = *mebibytes * kMebibyte;
    return out;
  }
  TemplateSetter::Results Set(const std::vector<TemplateWish>& wishes) {
    TemplateSetter::Options options;
    options.unix_s = [] { return kNow; };
    options.rules = [this](const std::string& /*name*/) { return rules_; };
    options.largest_node = [](const WorkloadName&) { return Amounts{8, 16'384 * kMebibyte}; };
    options.why_not = [this] { return why_not_; };
    ScriptedWriter writer(&script_);
    return TemplateSetter(std::move(options), &writer).Set(workload_, wishes);
  }
  std::vector<std::string> Asked() { return std::exchange(script_.asked, {}); }
  // Expects that nothing is set, for the reason `why`.
  void ExpectNot(const std::vector<TemplateWish>& wishes, Did did, const std::string& why) {
    const TemplateSetter::Results results = Set(wishes);
    EXPECT_EQ(results.of.at(0).did, did);
    EXPECT_THAT(results.of.at(0).text, HasSubstr(why));
    EXPECT_THAT(Asked(), IsEmpty());
  }

  WorkloadName workload_{"shop", "deployment", "web", ""};
  ScriptedWriter::Script script_;
  std::vector<NamespaceRule> rules_;
  std::string why_not_;
};

const char* const kOwners =
    R"({\"app\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"32Mi\"},\"limits\":{\"cpu\":\"200m\",\"memory\":\"64Mi\"}},\"side\":{\"requests\":{\"cpu\":\"50m\"},\"limits\":{}}})";

TEST_F(Template, AppliesAllThatIsWishedAtOnceAndNotesWhatTheOwnerWants) {
  Object o;
  o.managers = Manager("kubectl-client-side-apply", "Update", "2025-11-25T11:59:00Z");
  Put(o);
  TemplateWish cpu = Memory(std::nullopt);
  cpu.resource = Resource::kCpu;
  cpu.amount = 0.4;
  const TemplateSetter::Results results = Set({Memory(100), cpu});
  EXPECT_TRUE(results.was_set);
  EXPECT_EQ(results.of.at(0).did, Did::kWaits);
  EXPECT_EQ(results.of.at(1).text, "the template is set, and rolls out");
  EXPECT_GT(results.again_in_s, 0);
  EXPECT_EQ(
      Asked().at(0),
      StrCat(
          R"(apply shop/web {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop",)",
          R"("resourceVersion":"41"},"spec":{"template":{"metadata":{"annotations":{"tautline.dev/owner-resources":")",
          kOwners,
          R"("}},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"200m","memory":"50Mi"},)",
          R"("limits":{"cpu":"400m","memory":"100Mi"}}}]}}}})"));
}

TEST_F(Template, IsDoneWhenTheRolloutIs) {
  Object o;
  o.noted = kOwners;
  o.requests = R"("cpu":"100m","memory":"50Mi")";
  o.limits = R"("cpu":"200m","memory":"100Mi")";
  o.managers = Manager("tautline", "Apply", "2025-11-25T11:59:00Z");
  o.status = R"("observedGeneration":2)";
  Put(o);
  ExpectNot({Memory(100)}, Did::kWaits, "rolls out: its controller has not seen the last change yet");
  o.status = R"("observedGeneration":3,"replicas":3,"updatedReplicas":1,"availableReplicas":3)";
  Put(o);
  ExpectNot({Memory(100)}, Did::kWaits, "rolls out: 1 of 2 pods are new");
  o.status =
      R"("observedGeneration":3,"replicas":3,"updatedReplicas":1,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}])";
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "ProgressDeadlineExceeded");
  o.status = Object().status;
  Put(o);
  ExpectNot({Memory(100)}, Did::kDone, "");
}

TEST_F(Template, NeverDuringARolloutAndNotMoreOftenThanChangePeriod) {
  Object o;
  o.status = R"("observedGeneration":3,"replicas":3,"updatedReplicas":1,"availableReplicas":3)";
  Put(o);
  ExpectNot({Memory(100)}, Did::kWaits, "a rollout of the template is under way: 1 of 2 pods are new");
  o = {};
  o.noted = kOwners;
  o.managers = Manager("tautline", "Apply", "2025-11-25T11:45:00Z");
  Put(o);
  ExpectNot({Memory(48)}, Did::kWaits, "set 15 min ago, and is set again after 60 min (change_period)");
  EXPECT_TRUE(Set({Memory(100)}).was_set) << "a raise waits for a sixth of it";
  (void)Asked();
  o.managers = Manager("tautline", "Apply", "2025-11-25T11:55:00Z");
  Put(o);
  ExpectNot({Memory(100)}, Did::kWaits, "(change_period)");
  o.managers = Manager("tautline", "Apply", "2025-11-25T10:55:00Z");
  Put(o);
  EXPECT_TRUE(Set({Memory(48)}).was_set);
}

// Failing pods are not a rollout, so a raise must not wait for them.
TEST_F(Template, PodsThatFailAreNoRollout) {
  Object o;
  o.status =
      R"("observedGeneration":3,"replicas":2,"updatedReplicas":2,"availableReplicas":0,"conditions":[{"type":"Progressing","reason":"NewReplicaSetAvailable"}])";
  Put(o);
  EXPECT_TRUE(Set({Memory(100)}).was_set);
}

TEST_F(Template, LeavesWhatAnotherApplies) {
  Object o;
  o.managers = Manager("helm", "Apply", "2025-11-01T00:00:00Z");
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "the field manager helm applies the memory of container app");
}

TEST_F(Template, StepsBackWhereAnotherHasChangedItAndTakesItOverLater) {
  Object o;
  o.noted = kOwners;
  o.limits = R"("cpu":"200m","memory":"300Mi")";
  o.managers =
      StrCat(R"({"manager":"tautline","operation":"Apply","time":"2025-11-25T10:00:00Z","fieldsV1":{}},)",
             Manager("kubectl-edit", "Update", "2025-11-25T11:30:00Z"));
  Put(o);
  EXPECT_TRUE(Set({Memory(100)}).stepped_back);
  ExpectNot({Memory(100)}, Did::kFailed, "the field manager kubectl-edit has changed the template");
  o.managers =
      StrCat(R"({"manager":"tautline","operation":"Apply","time":"2025-11-25T10:00:00Z","fieldsV1":{}},)",
             Manager("kubectl-edit", "Update", "2025-11-25T10:30:00Z"));
  Put(o);
  EXPECT_TRUE(Set({Memory(100)}).was_set);
  EXPECT_THAT(Asked().at(0), HasSubstr(R"(\"limits\":{\"cpu\":\"200m\",\"memory\":\"300Mi\"})"))
      << "what the other has set is what the owner wants";
}

TEST_F(Template, LeavesWhatNoNodeHasRoomFor) {
  Put({});
  TemplateWish side, app;
  side.container = "side";
  app.container = "app";
  side.resource = app.resource = Resource::kCpu;
  side.amount = 5;
  app.amount = 7;  // the request is half of the limit and does not fit into the 8 cores
  const TemplateSetter::Results results = Set({side, app});
  EXPECT_EQ(results.of.at(0).did, Did::kWaits);
  EXPECT_EQ(results.of.at(1).did, Did::kFailed);
  EXPECT_EQ(results.of.at(1).text,
            "the containers of a new pod would request 8500m of cpu together, more than any node that it may "
            "run on has (8)");
  EXPECT_THAT(Asked().at(0), testing::Not(HasSubstr(R"("name":"app")")));
}

TEST_F(Template, LeavesWhatARepositorySays) {
  Object o;
  o.annotations = R"({"argocd.argoproj.io/tracking-id":"shop:apps/Deployment:shop/web"})";
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "Argo CD (argocd.argoproj.io/tracking-id) keeps the workload");
  o = {};
  o.labels = R"({"kustomize.toolkit.fluxcd.io/name":"shop"})";
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "Flux (kustomize.toolkit.fluxcd.io/name) keeps the workload");
  o = {};
  o.managers = Manager("argocd-controller", "Update", "2025-11-01T00:00:00Z");
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "Argo CD (field manager argocd-controller)");
}

TEST_F(Template, LeavesWhatWouldNotRollOut) {
  Object o;
  o.strategy = R"("replicas":2,"paused":true)";
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "it is paused");
  workload_.kind = "daemonset";
  o.strategy = R"("updateStrategy":{"type":"OnDelete"})";
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "its updateStrategy is OnDelete");
  workload_.kind = "statefulset";
  o.strategy = R"("replicas":2,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}})";
  Put(o);
  ExpectNot({Memory(100)}, Did::kFailed, "partition");
  workload_.kind = "cronjob";
  ExpectNot({Memory(100)}, Did::kFailed, "expected a deployment, statefulset or daemonset");
}

TEST_F(Template, LeavesWhatWouldNotBeCreatedAndWhatIsNotItsToChange) {
  Put({});
  NamespaceRule rule;
  rule.namespace_name = "shop";
  rule.name = "small";
  rule.container.max.memory = 80 * kMebibyte;
  rules_ = {rule};
  ExpectNot({Memory(100)}, Did::kFailed, "pods of the template would not be created: shop/small");
  rules_ = {};
  ExpectNot({Memory(20'000)}, Did::kFailed, "is more than node");
  TemplateWish wish = Memory(100);
  wish.set_by = "the VerticalPodAutoscaler shop/web";
  ExpectNot({wish}, Did::kFailed, "the VerticalPodAutoscaler shop/web sets the memory");
  why_not_ = "tautd-1 holds the lease";
  ExpectNot({Memory(100)}, Did::kWaits, "tautd-1 holds the lease");
  why_not_ = "";
  script_.workload = absl::PermissionDeniedError("deployments.apps is forbidden");
  ExpectNot({Memory(100)}, Did::kFailed, "deployments.apps is forbidden");
}

TEST_F(Template, ARequestThatAnAutoscalerCountsOnStays) {
  Put({});
  TemplateWish wish = Memory(100);
  wish.scaled_by = "the HorizontalPodAutoscaler shop/web";
  EXPECT_TRUE(Set({wish}).was_set);
  EXPECT_THAT(Asked().at(0), HasSubstr(R"("resources":{"limits":{"memory":"100Mi"}})"));
}

TEST_F(Template, ReleasesToTheOwnersAmountsWithoutTheNote) {
  Object o;
  o.noted = kOwners;
  o.requests = R"("cpu":"100m","memory":"50Mi")";
  o.limits = R"("cpu":"200m","memory":"100Mi")";
  o.managers = Manager("tautline", "Apply", "2025-11-25T10:00:00Z");
  Put(o);
  EXPECT_TRUE(Set({Memory(std::nullopt)}).was_set);
  EXPECT_THAT(
      Asked().at(0),
      HasSubstr(
          R"("template":{"spec":{"containers":[{"name":"app","resources":{"requests":{"memory":"32Mi"},"limits":{"memory":"64Mi"}}}]}})"));
  (void)Asked();
  // An order for another resource leaves memory unchanged.
  TemplateWish cpu = Memory(std::nullopt);
  cpu.resource = Resource::kCpu;
  cpu.amount = 0.4;
  EXPECT_TRUE(Set({cpu}).was_set);
  EXPECT_THAT(
      Asked().at(0),
      HasSubstr(R"("requests":{"cpu":"200m","memory":"50Mi"},"limits":{"cpu":"400m","memory":"100Mi"})"));
  o = {};
  o.managers = Manager("tautline", "Apply", "2025-11-25T11:59:00Z");
  Put(o);
  ExpectNot({Memory(std::nullopt)}, Did::kDone, "");
}

}  // namespace
}  // namespace taut::server
