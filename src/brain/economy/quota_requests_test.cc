#include "brain/economy/quota_requests.h"

#include <map>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "common/testing/test_scale.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kMebibyte = int64_t{1} << 20;

// Group a has 10 cores and group b has 4. Each group may borrow the other group's unused quota.
QuotaSpec Shop() {
  return {{{"shop"},
           {"a", "shop", {{"batch", "cpu", 10'000}, {"batch", "memory", 1000 * kMebibyte}}},
           {"b", "shop", {{"batch", "cpu", 4000}, {"batch", "memory", 1000 * kMebibyte}}}}};
}
Timestamp At(int64_t s) { return Timestamp::FromSeconds(s); }
AdmissionRequest AskFor(const std::string& group, int64_t millicores, int64_t now_s) {
  return {.group = group, .tier = "batch", .per_task = QuotaVector::Of(millicores, 0), .now = At(now_s)};
}
JobUse UsedBy(const std::string& job, const std::string& group, int64_t millicores) {
  return {job, group, "batch", millicores, 0};
}
QuotaRequests Book() { return *QuotaRequests::Make(Shop(), {}); }
int64_t InUse(const QuotaRequests& requests, std::string_view group) {
  const QuotaTree& tree = requests.tree();
  return tree.lane(*tree.TierNamed("batch"), *tree.ResourceNamed("cpu")).cell(*tree.GroupNamed(group)).held;
}
uint64_t Make(QuotaRequests& requests, const AdmissionRequest& request, std::string_view job = "") {
  const QuotaRequest made = *requests.Submit(request, job, "ann");
  requests.Apply(made);
  return made.id;
}
std::vector<QuotaRequest> Step(QuotaRequests& requests, int64_t now_s) {
  std::vector<QuotaRequest> due = requests.Due(At(now_s));
  for (const QuotaRequest& r : due) requests.Apply(r);
  return due;
}
std::string StateOf(const QuotaRequests& requests, uint64_t id) {
  const QuotaRequest& r = *requests.Find(id);
  return r.state == RequestState::kEnded ? std::string(Name(r.end)) : std::string(Name(r.state));
}

TEST(QuotaRequests, AnAdmittedRequestCountsAndAQueuedOneDoesNot) {
  QuotaRequests requests = Book();
  const uint64_t first = Make(requests, AskFor("a", 12'000, 0));
  EXPECT_EQ(StateOf(requests, first), "admitted");
  EXPECT_EQ(InUse(requests, "a"), 12'000);
  const uint64_t second = Make(requests, AskFor("b", 3000, 1));
  EXPECT_EQ(StateOf(requests, second), "queued");
  EXPECT_THAT(requests.Find(second)->reason, HasSubstr("in use: "));
  EXPECT_EQ(InUse(requests, "b"), 0);
  EXPECT_EQ(requests.queued(), 1U);
}

TEST(QuotaRequests, ADecisionCountsOnlyAfterApply) {
  QuotaRequests requests = Book();
  const QuotaRequest made = *requests.Submit(AskFor("a", 12'000, 0), "", "ann");
  EXPECT_EQ(InUse(requests, "a"), 0);
  EXPECT_EQ(requests.Find(made.id), nullptr);
}

TEST(QuotaRequests, TheEndOfOneAdmitsTheNextByPriorityThenAge) {
  QuotaRequests requests = Book();
  const uint64_t running = Make(requests, AskFor("a", 14'000, 0));
  const uint64_t old = Make(requests, AskFor("a", 8000, 1));
  AdmissionRequest urgent_ask = AskFor("a", 8000, 2);
  urgent_ask.priority = 5;
  const uint64_t urgent = Make(requests, urgent_ask);
  EXPECT_THAT(Step(requests, 3), IsEmpty());
  requests.Apply(*requests.Withdraw(running, "ann", At(4)));
  Step(requests, 4);
  EXPECT_EQ(StateOf(requests, urgent), "admitted");
  EXPECT_EQ(StateOf(requests, old), "queued");
  EXPECT_EQ(InUse(requests, "a"), 8000);
  EXPECT_EQ(requests.Withdraw(running, "ann", At(5)).status().message(),
            "request 1 has ended already: withdrawn");
}

TEST(QuotaRequests, ARequestThatDoesNotFitDoesNotHoldUpThoseAfterIt) {
  QuotaRequests requests = Book();
  const uint64_t running = Make(requests, AskFor("a", 10'000, 0));
  const uint64_t large = Make(requests, AskFor("a", 9000, 1));
  const uint64_t small = Make(requests, AskFor("a", 5000, 2));
  requests.SetUse({}, At(3));
  const uint64_t fits = Make(requests, AskFor("b", 4000, 4));
  EXPECT_EQ(StateOf(requests, fits), "admitted");
  requests.Apply(*requests.Withdraw(running, "ann", At(5)));
  requests.Apply(*requests.Withdraw(fits, "ann", At(5)));
  Step(requests, 5);
  EXPECT_EQ(StateOf(requests, large), "admitted");
  EXPECT_EQ(StateOf(requests, small), "admitted");
}

TEST(QuotaRequests, AGroupHasAtMostItsNumberOfRequests) {
  QuotaSpec spec = Shop();
  spec.groups[1].max_requests = 2;
  QuotaRequests requests = *QuotaRequests::Make(spec, {.max_of_group = 3});
  const uint64_t admitted = Make(requests, AskFor("a", 14'000, 0));
  const uint64_t queued = Make(requests, AskFor("a", 1000, 1));
  EXPECT_EQ(StateOf(requests, queued), "queued");
  const absl::Status third = requests.Submit(AskFor("a", 1000, 2), "", "ann").status();
  EXPECT_EQ(third.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(third.message(),
            "group \"a\" has 2 requests that are queued, admitted or running; the most is 2 (max_requests of "
            "the group in the quota file, else quota.max_requests): end some first");
  EXPECT_EQ(StateOf(requests, Make(requests, AskFor("a", 99'000, 3))), "refused")
      << "what can never fit says so";
  for (int i = 0; i < 3; ++i) Make(requests, AskFor("b", 1000, 4 + i));
  EXPECT_EQ(requests.Submit(AskFor("b", 1, 7), "", "ann").status().code(),
            absl::StatusCode::kFailedPrecondition);
  requests.Apply(*requests.Withdraw(admitted, "ann", At(8)));
  Step(requests, 9);  // a request that becomes admitted still counts only once
  EXPECT_EQ(StateOf(requests, queued), "admitted");
  EXPECT_EQ(StateOf(requests, Make(requests, AskFor("a", 1000, 10))), "admitted");
  EXPECT_EQ(requests.Submit(AskFor("a", 1, 11), "", "ann").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(QuotaRequests, AJobCountsWithItsRequestTheLargerOfBoth) {
  QuotaRequests requests = Book();
  const uint64_t id = Make(requests, AskFor("a", 4000, 0), "shop/web");
  const std::vector<JobUse> use = {UsedBy("shop/web/app", "a", 1000), UsedBy("shop/web-2", "a", 300)};
  requests.SetUse(use, At(300));
  EXPECT_EQ(InUse(requests, "a"), 4300);  // shop/web-2 is another workload
  Step(requests, 300);
  EXPECT_EQ(StateOf(requests, id), "running");
  const std::vector<JobUse> grown = {UsedBy("shop/web/app", "a", 3000), UsedBy("shop/web/proxy", "a", 2500)};
  requests.SetUse(grown, At(600));
  EXPECT_EQ(InUse(requests, "a"), 5500);
  requests.Apply(*requests.Withdraw(id, "ann", At(700)));  // the job of the withdrawn request continues
  EXPECT_EQ(InUse(requests, "a"), 5500);
  requests.SetUse({}, At(900));
  EXPECT_EQ(InUse(requests, "a"), 0);
}

TEST(QuotaRequests, ARequestForAJobThatRunsAlreadyIsNotDecidedBesideIt) {
  QuotaRequests requests = Book();
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 13'000)};
  requests.SetUse(use, At(300));
  const uint64_t id =
      // The request would not fit in addition to the job's 13 cores.
      Make(requests, AskFor("a", 14'000, 301), "shop/web");
  EXPECT_EQ(StateOf(requests, id), "admitted");
  EXPECT_EQ(InUse(requests, "a"), 14'000);
  EXPECT_EQ(requests.Submit(AskFor("a", 1, 302), "shop/web", "ann").status().message(),
            "request 1 for job \"shop/web\" is admitted: end it before another is made");
}

TEST(QuotaRequests, EndsWhatDidNotStartWhatIsGoneAndWhatIsOver) {
  QuotaRequests requests = Book();
  const uint64_t never = Make(requests, AskFor("a", 100, 0), "shop/never");
  const uint64_t gone = Make(requests, AskFor("a", 100, 0), "shop/gone");
  AdmissionRequest hour = AskFor("a", 100, 0);
  hour.duration_s = 3600;
  const uint64_t over = Make(requests, hour);
  const std::vector<JobUse> use = {UsedBy("shop/gone", "a", 50)};
  requests.SetUse(use, At(300));
  Step(requests, 300);
  EXPECT_EQ(StateOf(requests, gone), "running");
  requests.SetUse({}, At(600));
  Step(requests, 600);
  EXPECT_EQ(StateOf(requests, gone), "finished");
  EXPECT_EQ(StateOf(requests, never), "admitted");
  EXPECT_EQ(StateOf(requests, over), "admitted");
  Step(requests, 3599);
  EXPECT_EQ(StateOf(requests, over), "admitted");
  Step(requests, 3600);
  EXPECT_EQ(StateOf(requests, over), "time_up");
  EXPECT_EQ(StateOf(requests, never), "admitted");  // usage is known only up to 600 s
  requests.SetUse({}, At(3600));
  Step(requests, 3600);
  EXPECT_EQ(StateOf(requests, never), "not_started");
  EXPECT_EQ(InUse(requests, "a"), 0);
}

TEST(QuotaRequests, ARequestTakesNothingFromAnotherGroup) {
  QuotaRequests requests = Book();
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 9000), UsedBy("shop/db", "b", 1000)};
  requests.SetUse(use, At(300));
  const uint64_t id = Make(requests, AskFor("b", 2000, 301), "shop");
  EXPECT_EQ(StateOf(requests, id), "admitted");
  EXPECT_EQ(InUse(requests, "a"), 9000);
  EXPECT_EQ(InUse(requests, "b"), 2000);  // the use includes the use of shop/db
}

// Once a request is admitted, the use of its job beyond the requested amount also counts.
TEST(QuotaRequests, OnePassOfTheQueueAdmitsNoMoreThanThereIs) {
  QuotaRequests requests = Book();
  const uint64_t first = Make(requests, AskFor("a", 3500, 0));
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 10'000)};
  requests.SetUse(use, At(300));
  const uint64_t small = Make(requests, AskFor("a", 10'900, 301), "shop/web");
  const uint64_t large = Make(requests, AskFor("b", 3500, 302));
  EXPECT_EQ(StateOf(requests, small), "queued");
  EXPECT_EQ(StateOf(requests, large), "queued");
  requests.Apply(*requests.Withdraw(first, "ann", At(303)));
  for (int64_t now = 303; now < 306; ++now) Step(requests, now);
  EXPECT_LE(InUse(requests, "a") + InUse(requests, "b"), 14'000);
  EXPECT_EQ(StateOf(requests, small), "running");
  EXPECT_EQ(StateOf(requests, large), "queued");
}

TEST(QuotaRequests, NothingEndsForItsAbsenceWhereSourcesAreMissing) {
  QuotaRequests requests = Book();
  const uint64_t runs = Make(requests, AskFor("a", 100, 0), "shop/web");
  const uint64_t waits = Make(requests, AskFor("a", 100, 0), "shop/db");
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 50)};
  requests.SetUse(use, At(300));
  Step(requests, 300);
  requests.SetUse({}, At(4000), QuotaRequests::Use::kPartial);
  Step(requests, 4000);
  EXPECT_EQ(StateOf(requests, runs), "running");
  EXPECT_EQ(StateOf(requests, waits), "admitted");
  requests.SetUse({}, At(4300));
  Step(requests, 4300);
  EXPECT_EQ(StateOf(requests, runs), "finished");
  EXPECT_EQ(StateOf(requests, waits), "not_started");
}

TEST(QuotaRequests, AHugeUseOfOneResourceDoesNotLoseTheOther) {
  QuotaRequests requests = Book();
  const std::vector<JobUse> use = {{"shop/web", "a", "batch", 3000, int64_t{1} << 60},
                                   {"shop/db", "a", "batch", 1000, int64_t{1} << 60}};
  requests.SetUse(use, At(300));
  EXPECT_EQ(InUse(requests, "a"), 4000);
}

TEST(QuotaRequests, AGroupThatIsHeldStartsNothingNewAndKeepsWhatRuns) {
  std::string why;
  QuotaRequestsOptions options;
  options.held = [&](std::string_view group) { return group == "a" ? why : ""; };
  QuotaRequests requests = *QuotaRequests::Make(Shop(), options);
  const uint64_t runs = Make(requests, AskFor("a", 6000, 0), "svc");
  const uint64_t waits = Make(requests, AskFor("a", 9000, 1));
  EXPECT_EQ(StateOf(requests, waits), "queued");
  why = "Nothing is left.";
  const AdmissionVerdict verdict = *requests.Decide(AskFor("a", 1000, 2));
  EXPECT_EQ(verdict.outcome, AdmissionOutcome::kRefused);
  EXPECT_THAT(Explain(verdict), ::testing::EndsWith("refused. Nothing is left."));
  EXPECT_EQ(verdict.fitting_tasks, 0);
  EXPECT_EQ(requests.Decide(AskFor("b", 1000, 2))->outcome, AdmissionOutcome::kAdmitted) << "another group";
  const uint64_t refused = Make(requests, AskFor("a", 1000, 2));
  EXPECT_EQ(StateOf(requests, refused), "refused");
  EXPECT_THAT(Explain(*requests.Decide(AskFor("a", 100'000, 2))), HasSubstr("refused. Nothing is left. "))
      << "and what could never fit says so, too";

  requests.Apply(*requests.Withdraw(runs, "ann", At(3)));
  EXPECT_EQ(Step(requests, 3).size(), 1U) << "its reason";
  EXPECT_EQ(StateOf(requests, waits), "queued") << "there is room, and no money";
  EXPECT_THAT(Step(requests, 3), IsEmpty());
  EXPECT_THAT(requests.Find(waits)->reason, StartsWith("It waits for money: "));
  why.clear();
  EXPECT_EQ(StateOf(requests, Step(requests, 4).at(0).id), "admitted") << "also if nothing else has changed";
  EXPECT_EQ(StateOf(requests, waits), "admitted");
}

TEST(QuotaRequests, RefusedRequestsAreKeptWithTheirReason) {
  QuotaRequests requests = Book();
  const uint64_t id = Make(requests, AskFor("a", 15'000, 0));
  EXPECT_EQ(StateOf(requests, id), "refused");
  EXPECT_THAT(requests.Find(id)->reason, HasSubstr("it can never fit"));
  EXPECT_THAT(requests.Submit(AskFor("c", 1, 0), "", "ann").status().message(), HasSubstr("c"));
}

TEST(QuotaRequests, AnotherQuotaKeepsWhatRunsAndNamesWhatItDoesNotCover) {
  QuotaRequests requests = Book();
  Make(requests, AskFor("a", 14'000, 0));
  const uint64_t waits = Make(requests, AskFor("b", 1000, 1));
  const std::vector<JobUse> use = {UsedBy("lost/web", "c", 700)};
  requests.SetUse(use, At(300));
  ASSERT_EQ(requests.usage().uncovered().size(), 1U);
  EXPECT_EQ(requests.usage().uncovered()[0].group, "c");
  EXPECT_EQ(requests.usage().uncovered()[0].first_job, "lost/web");
  QuotaSpec without_b = {{{"a", "", {{"batch", "cpu", 5000}}}}};
  ASSERT_TRUE(requests.ChangeQuota(without_b).ok());
  EXPECT_EQ(InUse(requests, "a"), 14'000);  // the use of the removed group's jobs stays counted
  Step(requests, 301);
  EXPECT_EQ(StateOf(requests, waits), "queued");
  EXPECT_THAT(requests.Find(waits)->reason, StartsWith("It can no longer fit since the quota was changed"));
  EXPECT_TRUE(requests.Due(At(301)).empty()) << "said once";
  QuotaSpec wrong = {{{"a", "nobody"}}};
  EXPECT_FALSE(requests.ChangeQuota(wrong).ok());
  EXPECT_EQ(InUse(requests, "a"), 14'000);
}

// A mistake in the quota file that is corrected within an hour ends no queued request.
TEST(QuotaRequests, AQueuedRequestOutlivesAShortMistakeInTheQuota) {
  QuotaRequests requests = Book();
  const QuotaSpec right = requests.spec();
  QuotaSpec wrong = right;
  std::erase_if(wrong.groups, [](const QuotaGroup& g) { return g.name == "b"; });
  Make(requests, AskFor("b", 13'000, 0));
  const uint64_t waits = Make(requests, AskFor("b", 2000, 0));
  ASSERT_EQ(StateOf(requests, waits), "queued");
  ASSERT_TRUE(requests.ChangeQuota(wrong).ok());
  ASSERT_EQ(requests.usage().uncovered().size(), 1U);
  EXPECT_EQ(requests.usage().uncovered()[0].jobs, 0U);
  EXPECT_EQ(requests.usage().uncovered()[0].requests, 1U);
  Step(requests, 10);
  ASSERT_TRUE(requests.ChangeQuota(right).ok());
  Step(requests, 20);
  EXPECT_EQ(StateOf(requests, waits), "queued");
  EXPECT_THAT(requests.Find(waits)->reason, Not(HasSubstr("no longer fit")));
  // Another mistake in the quota file restarts the hour.
  ASSERT_TRUE(requests.ChangeQuota(wrong).ok());
  Step(requests, 3000);
  Step(requests, 6599);
  EXPECT_EQ(StateOf(requests, waits), "queued");
  Step(requests, 6600);
  EXPECT_EQ(StateOf(requests, waits), "refused");
  EXPECT_THAT(requests.Find(waits)->reason, HasSubstr("b"));
}

TEST(QuotaRequests, ForgetsTheOldestButNotTheHighestNumber) {
  QuotaRequests requests = Book();
  for (int i = 0; i < 4; ++i) {
    const uint64_t id = Make(requests, AskFor("a", 1, i));
    requests.Apply(*requests.Withdraw(id, "ann", At(i)));
  }
  EXPECT_THAT(requests.OldEnded(At(0), 2), ElementsAre(1, 2));
  EXPECT_THAT(requests.OldEnded(At(100), 9), ElementsAre(1, 2, 3));
  requests.Forget(1);
  EXPECT_EQ(requests.Find(1), nullptr);
  EXPECT_EQ(Make(requests, AskFor("a", 1, 9)), 5U);
}

// After any sequence of changes, the counted use equals a recount.
TEST(QuotaRequests, CountsAsIfAddedUpAnew) {
  for (int seed = 1; seed <= Scaled(60); ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    QuotaRequests requests = Book();
    const std::vector<std::string> jobs = {"x", "x/web", "x/web/app", "x/web/proxy", "x/web-2", "y", "y/db"};
    std::vector<JobUse> use;
    for (int64_t now = 1; now < 60; ++now) {
      const std::string job = jobs[rng.Below(jobs.size())];
      const std::string group = rng.Below(2) == 0 ? "a" : "b";
      switch (rng.Below(4)) {
        case 0:
        case 1: {
          const auto made =
              requests.Submit(AskFor(group, 1 + static_cast<int64_t>(rng.Below(4000)), now), job, "ann");
          if (made.ok()) requests.Apply(*made);
          break;
        }
        case 2: {
          const auto ended = requests.Withdraw(1 + rng.Below(requests.last_id() + 1), "ann", At(now));
          if (ended.ok()) requests.Apply(*ended);
          break;
        }
        default:
          use.clear();
          for (const std::string& one : jobs) {
            if (rng.Below(2) == 0)
              use.push_back(
                  UsedBy(one, rng.Below(2) == 0 ? "a" : "b", static_cast<int64_t>(rng.Below(3000))));
          }
          requests.SetUse(use, At(now));
      }
      Step(requests, now);
      QuotaRequests anew = Book();
      for (uint64_t id = 1; id <= requests.last_id(); ++id) {
        if (const QuotaRequest* r = requests.Find(id); r != nullptr) anew.Apply(*r);
      }
      anew.SetUse(use, At(now));
      for (const char* name : {"a", "b"}) {
        ASSERT_EQ(InUse(requests, name), InUse(anew, name)) << "seed " << seed << ", step " << now;
      }
    }
  }
}

TEST(QuotaRequests, ARequestStandsInTheWayOfNoOtherGroup) {
  QuotaRequests requests = Book();
  const uint64_t of_a = Make(requests, AskFor("a", 1000, 0), "b/web");
  EXPECT_EQ(requests.Submit(AskFor("a", 1000, 0), "b/web", "ann").status().code(),
            absl::StatusCode::kAlreadyExists);
  const uint64_t of_b = Make(requests, AskFor("b", 2000, 0), "b/web");
  const std::vector<JobUse> jobs = {UsedBy("b/web", "b", 3000)};
  requests.SetUse(jobs, At(10));
  EXPECT_EQ(InUse(requests, "a"), 1000) << "a job of b counts for b's request alone";
  EXPECT_EQ(InUse(requests, "b"), 3000);
  requests.Apply(*requests.Withdraw(of_a, "ann", At(20)));
  EXPECT_EQ(requests.Submit(AskFor("b", 1, 20), "b/web", "ann").status().code(),
            absl::StatusCode::kAlreadyExists);
  requests.Apply(*requests.Withdraw(of_b, "ann", At(20)));
  EXPECT_TRUE(requests.Submit(AskFor("b", 1, 20), "b/web", "ann").ok());
}

}  // namespace
}  // namespace taut::brain
