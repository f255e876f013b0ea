#include "server/kubernetes/watch/custom_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// An API server with Rollouts of Argo, and two kinds named Thing.
class CustomOwners : public testing::Test {
 protected:
  CustomOwners() {
    pages_["/apis"] = R"({"groups":[{"preferredVersion":{"groupVersion":"argoproj.io/v1alpha1"}},
        {"preferredVersion":{"groupVersion":"a.example/v1"}},{"preferredVersion":{"groupVersion":"b.example/v1"}}]})";
    pages_["/apis/argoproj.io/v1alpha1"] = R"({"resources":[
        {"name":"rollouts","kind":"Rollout","namespaced":true,"verbs":["get","list"]},
        {"name":"rollouts/status","kind":"Rollout","namespaced":true},
        {"name":"clusterrollouts","kind":"ClusterRollout","namespaced":false,"verbs":["list"]}]})";
    pages_["/apis/a.example/v1"] = pages_["/apis/b.example/v1"] =
        R"({"resources":[{"name":"things","kind":"Thing","namespaced":true,"verbs":["list"]}]})";
    pages_["/apis/argoproj.io/v1alpha1/rollouts?limit=500"] = List("web", "auto", "more");
    pages_["/apis/argoproj.io/v1alpha1/rollouts?limit=500&continue=more"] = List("api", "canary", "");
    CustomOwnersReader::Options options;
    options.get = options.list = [this](const std::string& path) -> absl::StatusOr<std::string> {
      asked_.push_back(path);
      if (path.find("rollouts") != std::string::npos && !refused_.ok()) return refused_;
      const auto it = pages_.find(path);
      if (it == pages_.end()) return absl::NotFoundError("404");
      return it->second;
    };
    options.kinds = [this] { return kinds_; };
    options.take = [this](const FoundKind& kind, std::vector<OwnedObject> all) {
      std::string text = StrCat(kind.api_version, " ", kind.kind);
      for (const OwnedObject& object : all)
        StrAppend(&text, " ", object.name, "=", object.steering.empty() ? "" : object.steering[0].second);
      taken_.push_back(text);
    };
    options.forget = [this](const FoundKind& kind) { forgotten_.push_back(kind.kind); };
    options.steady_s = [this] { return now_s_; };
    reader_ = std::make_unique<CustomOwnersReader>(std::move(options));
  }
  static std::string List(const std::string& name, const std::string& mode, const std::string& next) {
    return StrCat(R"({"kind":"PartialObjectMetadataList","metadata":{"continue":")", next,
                  R"("},"items":[{"metadata":{"namespace":"shop","name":")", name,
                  R"(","annotations":{"tautline.dev/mode":")", mode, R"("}}}]})");
  }
  void Step() {
    asked_.clear();
    taken_.clear();
    forgotten_.clear();
    reader_->Step([] { return false; });
  }

  double now_s_ = 100;
  absl::Status refused_;
  std::vector<std::string> kinds_ = {"deployment", "rollout", "workflow"};
  std::map<std::string, std::string> pages_;
  std::vector<std::string> asked_, taken_, forgotten_;
  std::unique_ptr<CustomOwnersReader> reader_;
};

TEST_F(CustomOwners, AreListedToTheEndAndAgainAfterAMinute) {
  EXPECT_FALSE(reader_->IsSettled("rollout"));
  EXPECT_TRUE(reader_->IsSettled("deployment"));
  Step();
  EXPECT_THAT(taken_, ElementsAre("argoproj.io/v1alpha1 Rollout web=auto api=canary"));
  EXPECT_TRUE(reader_->IsSettled("rollout"));
  EXPECT_EQ(reader_->last_error(), "");
  now_s_ += 59;
  Step();
  EXPECT_THAT(asked_, IsEmpty());
  now_s_ += 2;
  Step();
  EXPECT_THAT(asked_, ElementsAre(HasSubstr("rollouts?limit=500"), HasSubstr("continue=more")))
      << "discovery holds for longer";
}

// The pods of a new Rollout may arrive before the Rollout.
TEST_F(CustomOwners, AreListedSoonerWhereOneIsMissing) {
  EXPECT_FALSE(reader_->IsListed("rollout"));
  Step();
  EXPECT_TRUE(reader_->IsListed("rollout"));
  now_s_ += 2;
  reader_->ListSoon("rollout");
  Step();
  EXPECT_THAT(asked_, IsEmpty()) << "but not again at once";
  now_s_ += 4;
  Step();
  EXPECT_THAT(taken_, Contains(HasSubstr("web=auto")));
  refused_ = absl::PermissionDeniedError("forbidden");
  now_s_ += 61;
  Step();
  EXPECT_FALSE(reader_->IsListed("rollout"));
  reader_->ListSoon("rollout");
  now_s_ += 6;
  Step();
  EXPECT_THAT(asked_, IsEmpty()) << "a refusal stands";
}

TEST_F(CustomOwners, WithoutOneNothingIsAsked) {
  kinds_ = {"deployment", "job", ""};
  Step();
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(CustomOwners, WithoutTheRightTheySayNothing) {
  refused_ = absl::PermissionDeniedError("rollouts.argoproj.io is forbidden");
  Step();
  EXPECT_THAT(taken_, IsEmpty());
  EXPECT_TRUE(reader_->IsSettled("rollout"));
  EXPECT_EQ(reader_->last_error(), "rollout: rollouts.argoproj.io is forbidden");
  now_s_ += 61;
  Step();
  EXPECT_THAT(asked_, IsEmpty()) << "not again so soon";
  refused_ = absl::OkStatus();
  now_s_ += 600;
  Step();
  EXPECT_THAT(taken_, Contains(HasSubstr("web=auto")));
  EXPECT_EQ(reader_->last_error(), "");
}

TEST_F(CustomOwners, AnErrorThatMayPassKeepsWhatWasKnown) {
  refused_ = absl::UnavailableError("503");
  Step();
  EXPECT_FALSE(reader_->IsSettled("rollout"));
  EXPECT_EQ(reader_->last_error(), "rollout: 503");
  refused_ = absl::OkStatus();
  now_s_ += 61;
  Step();
  refused_ = absl::UnavailableError("503");
  now_s_ += 61;
  Step();
  EXPECT_THAT(forgotten_, IsEmpty());
}

TEST_F(CustomOwners, AreForgottenOnceWhenTheyCannotBeListedAnyMore) {
  for (const absl::Status& status : {absl::PermissionDeniedError("forbidden"), absl::NotFoundError("404")}) {
    refused_ = absl::OkStatus();
    Step();
    EXPECT_THAT(forgotten_, IsEmpty());
    refused_ = status;
    now_s_ += 61;
    Step();
    EXPECT_THAT(forgotten_, ElementsAre("Rollout")) << status;
    now_s_ += 601;
    Step();
    EXPECT_THAT(forgotten_, IsEmpty()) << status;
    now_s_ += 601;
  }
}

TEST_F(CustomOwners, AreForgottenWhenTheyHaveOwnedNoPodsForALongTime) {
  kinds_ = {"rollout", "thing"};
  Step();
  EXPECT_THAT(reader_->last_error(), HasSubstr("thing"));
  kinds_ = {"deployment"};
  now_s_ += 600;
  Step();
  EXPECT_THAT(forgotten_, IsEmpty()) << "such as those that are scaled to 0 for a while";
  now_s_ += 61;
  Step();
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_THAT(forgotten_, ElementsAre("Rollout"));
  now_s_ += 600;
  Step();
  EXPECT_EQ(reader_->last_error(), "") << "nor is a kind that nobody needs an error";
  EXPECT_THAT(forgotten_, IsEmpty());
  kinds_ = {"rollout"};
  Step();
  EXPECT_THAT(taken_, ElementsAre(HasSubstr("web=auto")));
}

TEST_F(CustomOwners, KindsBeyondTheMostAreSaidAndStayUnknown) {
  kinds_.clear();
  for (int i = 0; i < 256; ++i) kinds_.push_back(StrCat("kind", i));
  Step();
  EXPECT_THAT(reader_->last_error(), AllOf(Not(HasSubstr("at most")), HasSubstr("; and 248 more")));
  kinds_.push_back("rollout");
  kinds_.push_back("rollout");
  now_s_ += 601;
  Step();
  EXPECT_THAT(reader_->last_error(),
              HasSubstr("annotations of at most 256 kinds of custom resources are read, and "
                        "nothing is decided in modes auto and canary for jobs of rollout"));
  EXPECT_FALSE(reader_->IsSettled("rollout"));
}

// Anyone who may create a pod may write arbitrary ownerReferences.
TEST_F(CustomOwners, InventedKindsTakeNoPlaceOfOneThatIsListed) {
  Step();
  ASSERT_TRUE(reader_->IsListed("rollout"));
  for (int i = 0; i < 1000; ++i) kinds_.push_back(StrCat("a", i));
  now_s_ += 61;
  Step();
  EXPECT_THAT(taken_, ElementsAre(HasSubstr("web=auto"))) << "again";
  EXPECT_THAT(reader_->last_error(), HasSubstr(" and 737 more"));
  EXPECT_LT(reader_->last_error().size(), 4000U);
  kinds_ = {"rollout"};
  now_s_ += 1300;
  Step();
  EXPECT_EQ(reader_->last_error(), "") << "they are forgotten";
  EXPECT_FALSE(reader_->IsSettled("a1"));
}

TEST_F(CustomOwners, AKindOfTwoGroupsIsSaidAndNotRead) {
  kinds_ = {"thing", "unknown", "clusterrollout"};
  Step();
  EXPECT_THAT(taken_, IsEmpty());
  EXPECT_THAT(reader_->last_error(), HasSubstr("a.example/v1 things and b.example/v1 things"));
  EXPECT_THAT(reader_->last_error(), HasSubstr("no namespaced kind"));
  EXPECT_THAT(asked_, Not(Contains(HasSubstr("limit"))));
  EXPECT_TRUE(reader_->IsSettled("thing"));
}

}  // namespace
}  // namespace taut::server
