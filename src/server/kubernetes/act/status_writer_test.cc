#include "server/kubernetes/act/status_writer.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

OwnedObject Workload(std::string name = "web", std::string uid = "u-1",
                     std::optional<std::string> status = {}) {
  OwnedObject out;
  out.namespace_name = "shop";
  out.name = std::move(name);
  out.uid = std::move(uid);
  out.status = std::move(status);
  return out;
}

// An API server with one annotation per path, and the writer that maintains the annotations.
class StatusWriterTest : public ::testing::Test {
 protected:
  StatusWriter::Options Options() {
    StatusWriter::Options out;
    out.of = [this](const WorkloadName& workload, bool reasons) {
      ++looks_;
      std::optional<std::vector<ContainerStatus>> containers;
      if (!known_) return containers;
      containers.emplace();
      if (off_) return containers;
      ContainerStatus app{"app", Mode::kAuto, {}, {}};
      app.cpu = {{std::nullopt, 0.25}, "set", reasons ? StrCat("seen at ", now_s_) : ""};
      app.memory = {{std::nullopt, mebibytes_ * kMebibyte}, "set", ""};
      containers->push_back(app);
      workloads_.push_back(workload);
      return containers;
    };
    out.send = [this](const std::string& path, const std::string& patch) {
      sent_.push_back(StrCat(path, " ", patch));
      return answer_;
    };
    out.retry_after_s = [this] { return retry_after_s_; };
    out.steady_s = [this] { return now_s_; };
    return out;
  }
  // Advances the clock by `seconds` with one step per second. Returns the requests in this time.
  std::vector<std::string> After(double seconds) {
    for (const double end = now_s_ + seconds; now_s_ < end;) {
      now_s_ += 1;
      writer_.Step([] { return false; });
    }
    return std::exchange(sent_, {});
  }

  double now_s_ = 1000, mebibytes_ = 96, retry_after_s_ = 0;
  bool known_ = true, off_ = false;
  int looks_ = 0;
  std::vector<WorkloadName> workloads_;
  absl::Status answer_;
  std::vector<std::string> sent_;
  StatusWriter writer_{Options()};
};

TEST_F(StatusWriterTest, WritesWhatIsRecommendedOnce) {
  writer_.Replace("Deployment", {Workload()});
  EXPECT_THAT(After(9), IsEmpty()) << "its pods and settings may not be known yet";
  EXPECT_THAT(
      After(10),
      ElementsAre(
          "/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=tautline-status "
          R"({"metadata":{"uid":"u-1","annotations":{"tautline.dev/status":"app auto: cpu limit 250m set (seen at 1010), memory limit 96Mi set"}}})"));
  EXPECT_THAT(After(7200), IsEmpty()) << "the reason alone is no news";
  EXPECT_EQ(writer_.counts().written, 1U);
  EXPECT_EQ(workloads_.front(), (WorkloadName{"shop", "deployment", "web", ""}));
}

TEST_F(StatusWriterTest, WritesAgainWhenAmountsMoveButOnceInTenMinutes) {
  writer_.Put("StatefulSet", Workload());
  EXPECT_EQ(After(20).size(), 1U);
  mebibytes_ = 100;
  EXPECT_THAT(After(3600), IsEmpty()) << "not by a tenth";
  mebibytes_ = 200;
  EXPECT_THAT(After(61), ElementsAre(HasSubstr("limit 200Mi")));
  mebibytes_ = 400;
  EXPECT_THAT(After(530), IsEmpty());
  EXPECT_THAT(After(131), ElementsAre(HasSubstr("/statefulsets/web")));
}

TEST_F(StatusWriterTest, AfterARestartComparesWithWhatTheObjectHas) {
  writer_.Replace("Deployment",
                  {Workload("web", "u-1", "app auto: cpu limit 251m set (long ago), memory limit 95Mi set"),
                   Workload("api", "u-2", "what a person has written")});
  EXPECT_THAT(After(3600), ElementsAre(HasSubstr("/deployments/api")));
}

TEST_F(StatusWriterTest, TakesTheAnnotationAwayWhereNothingIsRecommended) {
  off_ = true;
  writer_.Replace("Deployment", {Workload("web", "u-1", "app auto: cpu limit 251m"), Workload("api", "u-2")});
  const char* gone = R"({"metadata":{"uid":"u-1","annotations":{"tautline.dev/status":null}}})";
  EXPECT_THAT(After(3600), ElementsAre(HasSubstr(gone)));
  off_ = false;
  EXPECT_EQ(After(700).size(), 2U);
  off_ = true;
  EXPECT_THAT(After(61).size(), 2U) << "this does not wait for ten minutes";
}

TEST_F(StatusWriterTest, KeepsItWhileNothingIsKnown) {
  known_ = false;
  writer_.Put("Deployment", Workload("web", "u-1", "app auto: cpu limit 2"));
  EXPECT_THAT(After(3600), IsEmpty()) << "scaled to 0";
}

TEST_F(StatusWriterTest, WhatOthersChangeIsWrittenAgain) {
  writer_.Put("Deployment", Workload());
  EXPECT_EQ(After(20).size(), 1U);
  // `kubectl rollout undo` restores the annotation of the previous revision.
  writer_.Put("Deployment", Workload("web", "u-1", "of the revision before"));
  EXPECT_THAT(After(500), IsEmpty());
  EXPECT_EQ(After(200).size(), 1U);
}

TEST_F(StatusWriterTest, AMissingRightIsSaidOnceWithTheWayOut) {
  answer_ = absl::PermissionDeniedError("deployments.apps is forbidden");
  writer_.Replace("Deployment", {Workload(), Workload("api", "u-2"), Workload("db", "u-3")});
  EXPECT_EQ(After(60).size(), 1U) << "it stands for all of this kind in the namespace";
  const std::string error = writer_.last_error();
  EXPECT_THAT(error, StartsWith("shop/deployment/api: deployments.apps is forbidden: apply "
                                "packaging/kubernetes/observe/status_annotations.yaml, or set "
                                "kubernetes.status_annotations: false"));
  OwnedObject elsewhere = Workload();
  elsewhere.namespace_name = "lab";
  writer_.Put("Deployment", elsewhere);
  EXPECT_EQ(After(60).size(), 1U) << "another namespace may allow it";
  EXPECT_EQ(writer_.last_error(), error) << "which is not said again";
  EXPECT_EQ(After(600).size(), 2U);
  EXPECT_EQ(writer_.last_error(), error);
  answer_ = absl::OkStatus();
  EXPECT_EQ(After(1300).size(), 4U);
  EXPECT_EQ(writer_.last_error(), "");
}

TEST_F(StatusWriterTest, AWorkloadThatIsGoneOrReplacedIsNoFailure) {
  writer_.Put("Deployment", Workload());
  for (const absl::Status& status :
       {absl::NotFoundError("not found"), absl::AbortedError("conflict"),
        absl::InvalidArgumentError("metadata.uid: Invalid value: field is immutable")}) {
    answer_ = status;
    EXPECT_GE(After(700).size(), 1U);
  }
  EXPECT_EQ(writer_.counts().failed, 0U);
  EXPECT_EQ(writer_.last_error(), "");
  answer_ = absl::OkStatus();
  writer_.Put("Deployment", Workload("web", "u-2"));
  EXPECT_THAT(After(20), ElementsAre(HasSubstr(R"("uid":"u-2")")))
      << "another of this name is looked at anew";
  writer_.Remove("Deployment", Workload("web", "u-2"));
  mebibytes_ = 500;
  EXPECT_THAT(After(3600), IsEmpty());
}

TEST_F(StatusWriterTest, KindsOfOneNameAreApart) {
  writer_.Put("Deployment", Workload());
  writer_.Put("CronJob", Workload("web", "u-9"));
  EXPECT_EQ(After(20).size(), 2U);
  writer_.Replace("CronJob", {});
  mebibytes_ = 500;
  EXPECT_THAT(After(700), ElementsAre(HasSubstr("/deployments/web")));
}

TEST_F(StatusWriterTest, WaitsWhenTheServerAsksForIt) {
  answer_ = absl::UnavailableError("429");
  retry_after_s_ = 300;
  writer_.Replace("Deployment", {Workload(), Workload("api", "u-2")});
  EXPECT_EQ(After(20).size(), 1U);
  EXPECT_EQ(writer_.last_error(), "shop/deployment/api: 429");
  EXPECT_THAT(After(280), IsEmpty()) << "the other one waits, too";
  answer_ = absl::OkStatus();
  EXPECT_EQ(After(100).size(), 2U);
  EXPECT_EQ(writer_.last_error(), "");
  EXPECT_EQ(writer_.counts().failed, 1U);
}

TEST_F(StatusWriterTest, ManyAreWrittenAtABoundedRate) {
  std::vector<OwnedObject> all;
  for (int i = 0; i < 1000; ++i) all.push_back(Workload(StrCat("w", i), StrCat("u", i)));
  writer_.Replace("Deployment", all);
  const size_t sent = After(70).size();
  EXPECT_LE(sent, 10 + 70 * 5U);
  EXPECT_GE(sent, 250U);
  EXPECT_EQ(sent + After(300).size(), 1000U);
  looks_ = 0;
  EXPECT_THAT(After(60), IsEmpty());
  EXPECT_LE(looks_, 3100) << "each is looked at three times a minute";
}

}  // namespace
}  // namespace taut::server
