#include "server/kubernetes/admission/pod_quota_reviewer.h"

#include <memory>
#include <string>
#include <vector>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/kubernetes/watch/pod_fixture.h"
#include "server/store/in_memory_request_log.h"

namespace taut::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A group "shop" with a quota of one core in tier production.
class QuotaGates : public ::testing::Test {
 protected:
  QuotaGates() {
    QuotaService::Options options;
    options.groups = {.group = "{namespace}", .tier = "prod", .default_tier = "prod"};
    options.log = &log_;
    options.now = [] { return Timestamp::FromSeconds(1'700'000'000); };
    options.steady_s = [this] { return now_s_; };
    service_ = *QuotaService::Open({{{"shop", "", {{"prod", "cpu", 1000}}}}}, options);
  }
  std::unique_ptr<PodQuotaReviewer> Make(bool refuse, HeldPods held = HeldPods::kOff) {
    PodQuotaReviewer::Options options;
    options.refuse = refuse;
    options.service = service_.get();
    options.cluster = &cluster_;
    options.job_labels = {"namespace"};
    options.is_watched = [](const Pod& pod) { return pod.namespace_name != "kube-system"; };
    options.steady_s = [this] { return now_s_; };
    options.held = held;
    options.why_held = [this](std::string_view group) { return group == "shop" ? why_held_ : ""; };
    return std::make_unique<PodQuotaReviewer>(std::move(options));
  }
  static Pod PodOf(const std::string& name, double cores) {
    Pod pod = TestPod(name);
    pod.containers.front().requests.cpu = cores;
    pod.containers.front().actual_requests = pod.containers.front().requests;
    return pod;
  }
  static PodReview Review(Pod pod) {
    PodReview review;
    review.uid = "r";
    review.pod = std::move(pod);
    return review;
  }

  InMemoryRequestLog log_;
  std::unique_ptr<QuotaService> service_;
  Cluster cluster_{{}};
  double now_s_ = 100;
  std::string why_held_;
};

TEST_F(QuotaGates, NothingIsRefusedBeforeThePodsAreListed) {
  const auto gate = Make(true);
  EXPECT_THAT(gate->Answer(Review(PodOf("web-1", 50))), HasSubstr(R"("allowed":true)"));
  EXPECT_EQ(gate->counts().unknown, 1U);
}

TEST_F(QuotaGates, APodThatDoesNotFitIsRefusedAndSaysWhy) {
  const auto gate = Make(true);
  gate->Replace(std::vector<Pod>{PodOf("web-1", 0.6)});
  EXPECT_THAT(gate->Answer(Review(PodOf("web-2", 0.5))),
              AllOf(HasSubstr(R"("allowed":false)"), HasSubstr(R"(\"shop\")")));
  EXPECT_THAT(gate->Answer(Review(PodOf("web-3", 0.4))), HasSubstr(R"("allowed":true)"));
  EXPECT_EQ(gate->counts().refused, 1U);
  EXPECT_EQ(gate->counts().fitting, 1U);
}

TEST_F(QuotaGates, WhereItWarnsThePodIsCreated) {
  const auto gate = Make(false);
  gate->Replace({});
  EXPECT_THAT(gate->Answer(Review(PodOf("web-1", 5))),
              AllOf(HasSubstr(R"("allowed":true)"), HasSubstr("warnings")));
  EXPECT_EQ(gate->counts().warned, 1U);
}

TEST_F(QuotaGates, PeopleAndPodsShareOneCount) {
  const auto gate = Make(true);
  gate->Replace(std::vector<Pod>{PodOf("web-1", 0.6)});
  FleetView view;
  view.window = WindowId{1'700'000'000 / kWindowSeconds};
  service_->OnWindow(view);
  const brain::AdmissionRequest ask{
      .group = "shop", .tier = "prod", .per_task = brain::QuotaVector::Of(500, 0)};
  EXPECT_EQ(service_->Submit(ask, "", "ann")->state, brain::RequestState::kQueued)
      << "the pod counts for people, although no window has measured it";
  EXPECT_EQ(service_->View().rows[0].cell.held, 600);
  gate->Remove(PodOf("web-1", 0.6));
  EXPECT_EQ(service_->Submit(ask, "", "ann")->state, brain::RequestState::kAdmitted);
  EXPECT_THAT(gate->Answer(Review(PodOf("web-2", 0.6))), HasSubstr(R"("allowed":false)"))
      << "what a person was granted is not there for pods";
}

TEST_F(QuotaGates, APodThatIsBeingDeletedMakesRoomAtOnce) {
  const auto gate = Make(true);
  Pod old = PodOf("web-1", 1);
  gate->Replace(std::vector<Pod>{old});
  EXPECT_THAT(gate->Answer(Review(PodOf("web-2", 1))), HasSubstr(R"("allowed":false)"));
  old.is_deleted = true;
  gate->Put(old);
  EXPECT_THAT(gate->Answer(Review(PodOf("web-2", 1))), HasSubstr(R"("allowed":true)"));
}

TEST_F(QuotaGates, ADryRunTakesNoRoom) {
  const auto gate = Make(true);
  gate->Replace({});
  PodReview review = Review(PodOf("web-1", 0.8));
  review.dry_run = true;
  EXPECT_THAT(gate->Answer(review), HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(gate->Answer(Review(PodOf("web-2", 0.8))), HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(gate->Answer(Review(PodOf("web-3", 0.8))), HasSubstr(R"("allowed":false)"))
      << "the one before is on its way";
}

TEST_F(QuotaGates, PodsOfNoGroupAndOfOtherNamespacesAreNotCovered) {
  const auto gate = Make(true);
  gate->Replace({});
  Pod system = PodOf("proxy", 50), other = PodOf("other", 50);
  system.namespace_name = "kube-system";
  other.namespace_name = "elsewhere";
  EXPECT_THAT(gate->Answer(Review(system)), HasSubstr(R"("allowed":true)"));
  EXPECT_THAT(gate->Answer(Review(other)), HasSubstr(R"("allowed":true)"));
  EXPECT_EQ(gate->counts().not_covered, 2U);
}

TEST_F(QuotaGates, ASpentBudgetHoldsWhatIsNewAndNotWhatRuns) {
  const auto gate = Make(true, HeldPods::kNew);
  gate->Replace(std::vector<Pod>{PodOf("web-5d4f8c7b9d-aaaaa", 0.1)});
  why_held_ = "Its budget of November is spent.";
  EXPECT_THAT(gate->Answer(Review(PodOf("web-5d4f8c7b9d-bbbbb", 0.1))), HasSubstr(R"("allowed":true)"))
      << "another pod of a workload that runs";
  Pod job = PodOf("import-1", 0.1);
  job.owner_kind = "Job";
  job.owner_name = "import";
  EXPECT_THAT(gate->Answer(Review(job)),
              AllOf(HasSubstr(R"("allowed":false)"), HasSubstr("Its budget of November is spent.")));
  EXPECT_EQ(gate->counts().held, 1U);
  why_held_ = "";
  EXPECT_THAT(gate->Answer(Review(job)), HasSubstr(R"("allowed":true)"));
}

TEST_F(QuotaGates, AFrozenGroupStartsNoPod) {
  const auto gate = Make(true, HeldPods::kAll);
  gate->Replace(std::vector<Pod>{PodOf("web-5d4f8c7b9d-aaaaa", 0.1)});
  why_held_ = "It is frozen.";
  EXPECT_THAT(
      gate->Answer(Review(PodOf("web-5d4f8c7b9d-bbbbb", 0.1))),
      AllOf(HasSubstr(R"("allowed":false)"), HasSubstr("Pods that run go on."), Not(HasSubstr("core"))));
  Pod on_node = PodOf("kubelet-pod", 0.1);
  on_node.is_static = true;
  EXPECT_THAT(gate->Answer(Review(on_node)), HasSubstr(R"("allowed":true)")) << "it runs anyway";
}

}  // namespace
}  // namespace taut::server
