// Tests of custom resources that own pods, from discovery and lists to the annotation tautline.dev/status.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/kubernetes/act/status_writer.h"
#include "server/kubernetes/watch/custom_owners.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// An API server with Rollouts and CloneSets, each with an annotation, and a tautd that can be restarted.
class CustomStatus : public ::testing::Test {
 protected:
  struct Object {
    std::string uid = "r-1";
    std::optional<std::string> status = {};
  };
  CustomStatus() { Start(); }

  void Start() {
    StatusWriter::Options writer;
    writer.of = [this](const WorkloadName& workload, bool reasons) {
      looked_at_.push_back(StrCat(workload.kind, "/", workload.name));
      ContainerStatus app{"app", Mode::kAuto, {}, {}};
      app.memory = {{std::nullopt, mebibytes_ * kMebibyte}, "set", reasons ? StrCat("seen at ", now_s_) : ""};
      return std::optional(std::vector<ContainerStatus>{app});
    };
    writer.send = [this](const std::string& path, const std::string& patch) { return Patch(path, patch); };
    writer.retry_after_s = [] { return 0.0; };
    writer.steady_s = [this] { return now_s_; };
    writer_ = std::make_unique<StatusWriter>(std::move(writer));
    CustomOwnersReader::Options reader;
    reader.get = reader.list = [this](const std::string& path) { return Get(path); };
    reader.kinds = [this] { return owning_; };
    reader.take = [this](const FoundKind& kind, const std::vector<OwnedObject>& all) {
      writer_->ReplaceCustom(kind, all);
    };
    reader.forget = [this](const FoundKind& kind) { writer_->ReplaceCustom(kind, {}); };
    reader.steady_s = [this] { return now_s_; };
    reader_ = std::make_unique<CustomOwnersReader>(std::move(reader));
  }
  static std::string Resource(const std::string& plural, const std::string& kind) {
    return StrCat(R"({"name":")", plural, R"(","kind":")", kind,
                  R"(","namespaced":true,"verbs":["get","list","patch"]})");
  }
  absl::StatusOr<std::string> Get(const std::string& path) {
    if (path == "/apis") {
      return std::string(R"({"groups":[{"preferredVersion":{"groupVersion":"argoproj.io/v1alpha1"}},
          {"preferredVersion":{"groupVersion":"apps.kruise.io/v1beta1"}}]})");
    }
    if (path == "/apis/argoproj.io/v1alpha1")
      return StrCat(R"({"resources":[)", has_crd_ ? Resource("rollouts", "Rollout") : "", "]}");
    if (path == "/apis/apps.kruise.io/v1beta1")
      return StrCat(R"({"resources":[)", Resource("clonesets", "CloneSet"), "]}");
    const bool rollouts = path.starts_with("/apis/argoproj.io/v1alpha1/rollouts?");
    if (rollouts && !has_crd_) return absl::NotFoundError("404 page not found");
    std::string items;
    for (const auto& [name, object] : objects_) {
      const size_t slash = name.find('/');
      if ((name.substr(0, slash) == "rollouts") != rollouts) continue;
      StrAppend(&items, items.empty() ? "" : ",", R"({"metadata":{"namespace":"shop","name":")",
                name.substr(slash + 1), R"(","uid":")", object.uid, R"(","annotations":{)",
                object.status ? StrCat(R"("tautline.dev/status":")", *object.status, "\"") : "", "}}}");
    }
    return StrCat(R"({"kind":"PartialObjectMetadataList","metadata":{},"items":[)", items, "]}");
  }
  absl::Status Patch(std::string path, const std::string& patch) {
    sent_.push_back(path);
    path = path.substr(0, path.find('?'));
    const std::string plural = path.find("/rollouts/") == std::string::npos ? "clonesets" : "rollouts";
    if (!may_patch_) {
      return absl::PermissionDeniedError(StrCat("the API server answered 403: ", plural, " is forbidden"));
    }
    const std::string group = plural == "rollouts" ? "argoproj.io/v1alpha1" : "apps.kruise.io/v1beta1";
    const std::string prefix = StrCat("/apis/", group, "/namespaces/shop/", plural, "/");
    const auto it = !path.starts_with(prefix) || (plural == "rollouts" && !has_crd_)
                        ? objects_.end()
                        : objects_.find(StrCat(plural, "/", path.substr(prefix.size())));
    if (it == objects_.end()) return absl::NotFoundError("the API server answered 404");
    JsonTree tree;
    EXPECT_TRUE(tree.Parse(patch).ok()) << patch;
    const JsonNode metadata = tree.root()["metadata"];
    if (metadata.Text("uid") != it->second.uid) return absl::AbortedError("the API server answered 409");
    it->second.status = metadata["annotations"].Text(kStatusAnnotation);
    return absl::OkStatus();
  }
  // Advances the clock by `seconds` with one step per second. Returns the requests in this time.
  std::vector<std::string> After(double seconds) {
    for (const double end = now_s_ + seconds; now_s_ < end;) {
      now_s_ += 1;
      reader_->Step([] { return false; });
      writer_->Step([] { return false; });
    }
    return std::exchange(sent_, {});
  }

  double now_s_ = 1000, mebibytes_ = 96;
  bool has_crd_ = true, may_patch_ = true;
  std::vector<std::string> owning_ = {"rollout"};
  std::map<std::string, Object> objects_ = {{"rollouts/web", {}}};  // objects by "plural/name"
  std::vector<std::string> sent_, looked_at_;
  std::unique_ptr<StatusWriter> writer_;
  std::unique_ptr<CustomOwnersReader> reader_;
};

TEST_F(CustomStatus, IsWrittenOnceAlsoAfterARestart) {
  EXPECT_THAT(After(60), ElementsAre("/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/"
                                     "web?fieldManager=tautline-status"));
  EXPECT_EQ(objects_["rollouts/web"].status,
            "app auto: cpu no recommendation yet, memory limit 96Mi set (seen at 1011)");
  EXPECT_THAT(After(3600), IsEmpty()) << "the lists show it";
  Start();
  EXPECT_THAT(After(3600), IsEmpty()) << "nor is the same text written by another tautd";
  mebibytes_ = 200;
  Start();
  EXPECT_EQ(After(60).size(), 1U) << "but what has changed meanwhile is";
  objects_["rollouts/web"].status = "what a person has written";
  EXPECT_THAT(After(400), IsEmpty()) << "not within ten minutes";
  EXPECT_EQ(After(400).size(), 1U);
  EXPECT_THAT(*objects_["rollouts/web"].status, HasSubstr("200Mi"));
}

TEST_F(CustomStatus, AMissingRightIsSaidOnceForEachKindWithTheWayOut) {
  may_patch_ = false;
  owning_ = {"cloneset", "rollout"};
  objects_["rollouts/api"] = {"r-2"};
  objects_["clonesets/web"] = {"c-1"};
  EXPECT_EQ(After(60).size(), 2U) << "one object stands for all of its kind";
  const std::string error = writer_->last_error();
  EXPECT_THAT(error,
              StartsWith("shop/cloneset/web: the API server answered 403: clonesets is forbidden: give the "
                         "right to patch clonesets of apps.kruise.io with packaging/kubernetes/observe/"
                         "custom_owners_status.yaml (Helm: status: true of this kind in annotatedKinds), "
                         "or set kubernetes.status_annotations: false; tried again every 10 minutes; "));
  EXPECT_THAT(error, HasSubstr("; shop/rollout/api: the API server answered 403: rollouts is forbidden: give "
                               "the right to patch rollouts of argoproj.io with "));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(After(600).size(), 2U);
    EXPECT_EQ(writer_->last_error(), error) << "the same text is logged once";
  }
  OwnedObject deployment;
  deployment.namespace_name = "shop";
  deployment.name = "web";
  deployment.uid = "d-1";
  writer_->Put("Deployment", deployment);
  (void)After(60);
  EXPECT_THAT(writer_->last_error(), HasSubstr("observe/status_annotations.yaml"))
      << "the right to patch Deployments is another one";
  writer_->Remove("Deployment", deployment);
  may_patch_ = true;
  EXPECT_EQ(After(1300).size(), 3U);
  EXPECT_EQ(writer_->last_error(), "");
}

TEST_F(CustomStatus, ARightThatIsGivenForOneKindEndsItsErrorAlone) {
  may_patch_ = false;
  owning_ = {"cloneset", "rollout"};
  objects_["clonesets/web"] = {"c-1"};
  (void)After(60);
  may_patch_ = true;
  objects_.erase("clonesets/web");
  EXPECT_EQ(After(650).size(), 1U);
  EXPECT_THAT(writer_->last_error(), AllOf(HasSubstr("clonesets"), Not(HasSubstr("rollouts"))));
  (void)After(700);
  EXPECT_EQ(writer_->last_error(), "") << "nor is a right missing for what is not there";
}

TEST_F(CustomStatus, AnOwnerThatIsDeletedOrReplacedIsNoFailure) {
  EXPECT_EQ(After(60).size(), 1U);
  objects_.clear();
  mebibytes_ = 200;
  EXPECT_LE(After(1300).size(), 1U) << "before the next list";
  objects_["rollouts/web"] = {"r-2"};
  EXPECT_EQ(After(130).size(), 1U) << "another of its name";
  EXPECT_THAT(*objects_["rollouts/web"].status, HasSubstr("200Mi"));
  objects_["rollouts/web"] = {"r-3"};
  mebibytes_ = 400;
  (void)After(1300);
  EXPECT_THAT(*objects_["rollouts/web"].status, HasSubstr("400Mi"));
  EXPECT_EQ(writer_->counts().failed, 0U);
  EXPECT_EQ(writer_->last_error(), "");
}

TEST_F(CustomStatus, ADefinitionThatIsDeletedIsForgottenAndComesBack) {
  EXPECT_EQ(After(60).size(), 1U);
  has_crd_ = false;
  mebibytes_ = 200;
  EXPECT_LE(After(70).size(), 1U);
  looked_at_.clear();
  EXPECT_THAT(After(3600), IsEmpty());
  EXPECT_THAT(looked_at_, IsEmpty()) << "its objects are no longer kept";
  EXPECT_EQ(writer_->counts().failed, 0U);
  has_crd_ = true;
  EXPECT_EQ(After(700).size(), 1U);
  // A kind without pods is no longer listed.
  owning_ = {};
  has_crd_ = false;
  (void)After(700);
  looked_at_.clear();
  EXPECT_THAT(After(600), IsEmpty());
  EXPECT_THAT(looked_at_, IsEmpty());
}

TEST_F(CustomStatus, ManyAreWrittenAtABoundedRateWithTheOthers) {
  objects_.clear();
  for (int i = 0; i < 400; ++i) objects_[StrCat("rollouts/w", i)] = {StrCat("u", i)};
  std::vector<OwnedObject> deployments(100);
  for (size_t i = 0; i < deployments.size(); ++i) {
    deployments[i].namespace_name = "shop";
    deployments[i].name = StrCat("d", i);
    deployments[i].uid = StrCat("d", i);
  }
  writer_->Replace("Deployment", deployments);
  const size_t sent = After(60).size();
  EXPECT_LE(sent, 10 + 60 * 5U);
  EXPECT_GE(sent, 200U);
  // The server has no Deployments.
  EXPECT_EQ(sent + After(200).size(), 500U);
}

}  // namespace
}  // namespace taut::server
