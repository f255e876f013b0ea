#include "brain/economy/request_book.h"

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

// Group a has 10 cores, b has 4, and each may borrow what the other leaves.
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
RequestBook Book() { return *RequestBook::Make(Shop(), {}); }
int64_t InUse(const RequestBook& book, std::string_view group) {
  const QuotaTree& tree = book.tree();
  return tree.lane(*tree.TierNamed("batch"), *tree.ResourceNamed("cpu")).cell(*tree.GroupNamed(group)).held;
}
uint64_t Make(RequestBook& book, const AdmissionRequest& request, std::string_view job = "") {
  const QuotaRequest made = *book.Submit(request, job, "ann");
  book.Apply(made);
  return made.id;
}
std::vector<QuotaRequest> Step(RequestBook& book, int64_t now_s) {
  std::vector<QuotaRequest> due = book.Due(At(now_s));
  for (const QuotaRequest& r : due) book.Apply(r);
  return due;
}
std::string StateOf(const RequestBook& book, uint64_t id) {
  const QuotaRequest& r = *book.Find(id);
  return r.state == RequestState::kEnded ? std::string(Name(r.end)) : std::string(Name(r.state));
}

TEST(RequestBook, AnAdmittedRequestCountsAndAQueuedOneDoesNot) {
  RequestBook book = Book();
  const uint64_t first = Make(book, AskFor("a", 12'000, 0));
  EXPECT_EQ(StateOf(book, first), "admitted");
  EXPECT_EQ(InUse(book, "a"), 12'000);
  const uint64_t second = Make(book, AskFor("b", 3000, 1));
  EXPECT_EQ(StateOf(book, second), "queued");
  EXPECT_THAT(book.Find(second)->reason, HasSubstr("in use: "));
  EXPECT_EQ(InUse(book, "b"), 0);
  EXPECT_EQ(book.queued(), 1U);
}

TEST(RequestBook, ADecisionCountsOnlyAfterApply) {
  RequestBook book = Book();
  const QuotaRequest made = *book.Submit(AskFor("a", 12'000, 0), "", "ann");
  EXPECT_EQ(InUse(book, "a"), 0);
  EXPECT_EQ(book.Find(made.id), nullptr);
}

TEST(RequestBook, TheEndOfOneAdmitsTheNextByPriorityThenAge) {
  RequestBook book = Book();
  const uint64_t running = Make(book, AskFor("a", 14'000, 0));
  const uint64_t old = Make(book, AskFor("a", 8000, 1));
  AdmissionRequest urgent_ask = AskFor("a", 8000, 2);
  urgent_ask.priority = 5;
  const uint64_t urgent = Make(book, urgent_ask);
  EXPECT_THAT(Step(book, 3), IsEmpty());
  book.Apply(*book.Withdraw(running, "ann", At(4)));
  Step(book, 4);
  EXPECT_EQ(StateOf(book, urgent), "admitted");
  EXPECT_EQ(StateOf(book, old), "queued");
  EXPECT_EQ(InUse(book, "a"), 8000);
  EXPECT_EQ(book.Withdraw(running, "ann", At(5)).status().message(),
            "request 1 has ended already: withdrawn");
}

TEST(RequestBook, ARequestThatDoesNotFitDoesNotHoldUpThoseAfterIt) {
  RequestBook book = Book();
  const uint64_t running = Make(book, AskFor("a", 10'000, 0));
  const uint64_t large = Make(book, AskFor("a", 9000, 1));
  const uint64_t small = Make(book, AskFor("a", 5000, 2));
  book.SetUse({}, At(3));
  const uint64_t fits = Make(book, AskFor("b", 4000, 4));
  EXPECT_EQ(StateOf(book, fits), "admitted");
  book.Apply(*book.Withdraw(running, "ann", At(5)));
  book.Apply(*book.Withdraw(fits, "ann", At(5)));
  Step(book, 5);
  EXPECT_EQ(StateOf(book, large), "admitted");
  EXPECT_EQ(StateOf(book, small), "admitted");
}

TEST(RequestBook, AGroupHasAtMostItsNumberOfRequests) {
  QuotaSpec spec = Shop();
  spec.groups[1].max_requests = 2;
  RequestBook book = *RequestBook::Make(spec, {.max_of_group = 3});
  const uint64_t admitted = Make(book, AskFor("a", 14'000, 0));
  const uint64_t queued = Make(book, AskFor("a", 1000, 1));
  EXPECT_EQ(StateOf(book, queued), "queued");
  const absl::Status third = book.Submit(AskFor("a", 1000, 2), "", "ann").status();
  EXPECT_EQ(third.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      third.message(),
      "group \"a\" has 2 requests that are queued, admitted or running; the most is 2 (max_requests of the "
      "group in the quota file, else quota.max_requests): end some first");
  EXPECT_EQ(StateOf(book, Make(book, AskFor("a", 99'000, 3))), "refused") << "what can never fit says so";
  for (int i = 0; i < 3; ++i) Make(book, AskFor("b", 1000, 4 + i));
  EXPECT_EQ(book.Submit(AskFor("b", 1, 7), "", "ann").status().code(), absl::StatusCode::kFailedPrecondition);
  book.Apply(*book.Withdraw(admitted, "ann", At(8)));
  Step(book, 9);  // from queued to admitted is the same one
  EXPECT_EQ(StateOf(book, queued), "admitted");
  EXPECT_EQ(StateOf(book, Make(book, AskFor("a", 1000, 10))), "admitted");
  EXPECT_EQ(book.Submit(AskFor("a", 1, 11), "", "ann").status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(RequestBook, AJobCountsWithItsRequestTheLargerOfBoth) {
  RequestBook book = Book();
  const uint64_t id = Make(book, AskFor("a", 4000, 0), "shop/web");
  const std::vector<JobUse> use = {UsedBy("shop/web/app", "a", 1000), UsedBy("shop/web-2", "a", 300)};
  book.SetUse(use, At(300));
  EXPECT_EQ(InUse(book, "a"), 4300);  // web-2 is another workload
  Step(book, 300);
  EXPECT_EQ(StateOf(book, id), "running");
  const std::vector<JobUse> grown = {UsedBy("shop/web/app", "a", 3000), UsedBy("shop/web/proxy", "a", 2500)};
  book.SetUse(grown, At(600));
  EXPECT_EQ(InUse(book, "a"), 5500);
  book.Apply(*book.Withdraw(id, "ann", At(700)));  // the job runs on
  EXPECT_EQ(InUse(book, "a"), 5500);
  book.SetUse({}, At(900));
  EXPECT_EQ(InUse(book, "a"), 0);
}

TEST(RequestBook, ARequestForAJobThatRunsAlreadyIsNotDecidedBesideIt) {
  RequestBook book = Book();
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 13'000)};
  book.SetUse(use, At(300));
  const uint64_t id = Make(book, AskFor("a", 14'000, 301), "shop/web");  // beside 13 cores it would not fit
  EXPECT_EQ(StateOf(book, id), "admitted");
  EXPECT_EQ(InUse(book, "a"), 14'000);
  EXPECT_EQ(book.Submit(AskFor("a", 1, 302), "shop/web", "ann").status().message(),
            "request 1 for job \"shop/web\" is admitted: end it before another is made");
}

TEST(RequestBook, EndsWhatDidNotStartWhatIsGoneAndWhatIsOver) {
  RequestBook book = Book();
  const uint64_t never = Make(book, AskFor("a", 100, 0), "shop/never");
  const uint64_t gone = Make(book, AskFor("a", 100, 0), "shop/gone");
  AdmissionRequest hour = AskFor("a", 100, 0);
  hour.duration_s = 3600;
  const uint64_t over = Make(book, hour);
  const std::vector<JobUse> use = {UsedBy("shop/gone", "a", 50)};
  book.SetUse(use, At(300));
  Step(book, 300);
  EXPECT_EQ(StateOf(book, gone), "running");
  book.SetUse({}, At(600));
  Step(book, 600);
  EXPECT_EQ(StateOf(book, gone), "finished");
  EXPECT_EQ(StateOf(book, never), "admitted");
  EXPECT_EQ(StateOf(book, over), "admitted");
  Step(book, 3599);
  EXPECT_EQ(StateOf(book, over), "admitted");
  Step(book, 3600);
  EXPECT_EQ(StateOf(book, over), "time_up");
  EXPECT_EQ(StateOf(book, never), "admitted");  // usage is known up to 600 s only
  book.SetUse({}, At(3600));
  Step(book, 3600);
  EXPECT_EQ(StateOf(book, never), "not_started");
  EXPECT_EQ(InUse(book, "a"), 0);
}

TEST(RequestBook, ARequestTakesNothingFromAnotherGroup) {
  RequestBook book = Book();
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 9000), UsedBy("shop/db", "b", 1000)};
  book.SetUse(use, At(300));
  const uint64_t id = Make(book, AskFor("b", 2000, 301), "shop");
  EXPECT_EQ(StateOf(book, id), "admitted");
  EXPECT_EQ(InUse(book, "a"), 9000);
  EXPECT_EQ(InUse(book, "b"), 2000);  // with shop/db
}

// The use of its job counts beside what it asked for once it is admitted.
TEST(RequestBook, OnePassOfTheQueueAdmitsNoMoreThanThereIs) {
  RequestBook book = Book();
  const uint64_t first = Make(book, AskFor("a", 3500, 0));
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 10'000)};
  book.SetUse(use, At(300));
  const uint64_t small = Make(book, AskFor("a", 10'900, 301), "shop/web");
  const uint64_t large = Make(book, AskFor("b", 3500, 302));
  EXPECT_EQ(StateOf(book, small), "queued");
  EXPECT_EQ(StateOf(book, large), "queued");
  book.Apply(*book.Withdraw(first, "ann", At(303)));
  for (int64_t now = 303; now < 306; ++now) Step(book, now);
  EXPECT_LE(InUse(book, "a") + InUse(book, "b"), 14'000);
  EXPECT_EQ(StateOf(book, small), "running");
  EXPECT_EQ(StateOf(book, large), "queued");
}

TEST(RequestBook, NothingEndsForItsAbsenceWhereSourcesAreMissing) {
  RequestBook book = Book();
  const uint64_t runs = Make(book, AskFor("a", 100, 0), "shop/web");
  const uint64_t waits = Make(book, AskFor("a", 100, 0), "shop/db");
  const std::vector<JobUse> use = {UsedBy("shop/web", "a", 50)};
  book.SetUse(use, At(300));
  Step(book, 300);
  book.SetUse({}, At(4000), RequestBook::Use::kPartial);
  Step(book, 4000);
  EXPECT_EQ(StateOf(book, runs), "running");
  EXPECT_EQ(StateOf(book, waits), "admitted");
  book.SetUse({}, At(4300));
  Step(book, 4300);
  EXPECT_EQ(StateOf(book, runs), "finished");
  EXPECT_EQ(StateOf(book, waits), "not_started");
}

TEST(RequestBook, AHugeUseOfOneResourceDoesNotLoseTheOther) {
  RequestBook book = Book();
  const std::vector<JobUse> use = {{"shop/web", "a", "batch", 3000, int64_t{1} << 60},
                                   {"shop/db", "a", "batch", 1000, int64_t{1} << 60}};
  book.SetUse(use, At(300));
  EXPECT_EQ(InUse(book, "a"), 4000);
}

TEST(RequestBook, AGroupThatIsHeldStartsNothingNewAndKeepsWhatRuns) {
  std::string why;
  RequestBookOptions options;
  options.held = [&](std::string_view group) { return group == "a" ? why : ""; };
  RequestBook book = *RequestBook::Make(Shop(), options);
  const uint64_t runs = Make(book, AskFor("a", 6000, 0), "svc");
  const uint64_t waits = Make(book, AskFor("a", 9000, 1));
  EXPECT_EQ(StateOf(book, waits), "queued");
  why = "Nothing is left.";
  const AdmissionVerdict verdict = *book.Decide(AskFor("a", 1000, 2));
  EXPECT_EQ(verdict.outcome, AdmissionOutcome::kRefused);
  EXPECT_THAT(Explain(verdict), ::testing::EndsWith("refused. Nothing is left."));
  EXPECT_EQ(verdict.fitting_tasks, 0);
  EXPECT_EQ(book.Decide(AskFor("b", 1000, 2))->outcome, AdmissionOutcome::kAdmitted) << "another group";
  const uint64_t refused = Make(book, AskFor("a", 1000, 2));
  EXPECT_EQ(StateOf(book, refused), "refused");
  EXPECT_THAT(Explain(*book.Decide(AskFor("a", 100'000, 2))), HasSubstr("refused. Nothing is left. "))
      << "and what could never fit says so, too";

  book.Apply(*book.Withdraw(runs, "ann", At(3)));
  EXPECT_EQ(Step(book, 3).size(), 1U) << "its reason";
  EXPECT_EQ(StateOf(book, waits), "queued") << "there is room, and no money";
  EXPECT_THAT(Step(book, 3), IsEmpty());
  EXPECT_THAT(book.Find(waits)->reason, StartsWith("It waits for money: "));
  why.clear();
  EXPECT_EQ(StateOf(book, Step(book, 4).at(0).id), "admitted") << "also if nothing else has changed";
  EXPECT_EQ(StateOf(book, waits), "admitted");
}

TEST(RequestBook, RefusedRequestsAreKeptWithTheirReason) {
  RequestBook book = Book();
  const uint64_t id = Make(book, AskFor("a", 15'000, 0));
  EXPECT_EQ(StateOf(book, id), "refused");
  EXPECT_THAT(book.Find(id)->reason, HasSubstr("it can never fit"));
  EXPECT_THAT(book.Submit(AskFor("c", 1, 0), "", "ann").status().message(), HasSubstr("c"));
}

TEST(RequestBook, AnotherQuotaKeepsWhatRunsAndNamesWhatItDoesNotCover) {
  RequestBook book = Book();
  Make(book, AskFor("a", 14'000, 0));
  const uint64_t waits = Make(book, AskFor("b", 1000, 1));
  const std::vector<JobUse> use = {UsedBy("lost/web", "c", 700)};
  book.SetUse(use, At(300));
  ASSERT_EQ(book.uncovered().size(), 1U);
  EXPECT_EQ(book.uncovered()[0].group, "c");
  EXPECT_EQ(book.uncovered()[0].first_job, "lost/web");
  QuotaSpec without_b = {{{"a", "", {{"batch", "cpu", 5000}}}}};
  ASSERT_TRUE(book.ChangeQuota(without_b).ok());
  EXPECT_EQ(InUse(book, "a"), 14'000);  // it stays accounted
  Step(book, 301);
  EXPECT_EQ(StateOf(book, waits), "queued");
  EXPECT_THAT(book.Find(waits)->reason, StartsWith("It can no longer fit since the quota was changed"));
  EXPECT_TRUE(book.Due(At(301)).empty()) << "said once";
  QuotaSpec wrong = {{{"a", "nobody"}}};
  EXPECT_FALSE(book.ChangeQuota(wrong).ok());
  EXPECT_EQ(InUse(book, "a"), 14'000);
}

// A mistake in the quota file that is mended within the hour ends no request that waits.
TEST(RequestBook, AQueuedRequestOutlivesAShortMistakeInTheQuota) {
  RequestBook book = Book();
  const QuotaSpec right = book.spec();
  QuotaSpec wrong = right;
  std::erase_if(wrong.groups, [](const QuotaGroup& g) { return g.name == "b"; });
  Make(book, AskFor("b", 13'000, 0));
  const uint64_t waits = Make(book, AskFor("b", 2000, 0));
  ASSERT_EQ(StateOf(book, waits), "queued");
  ASSERT_TRUE(book.ChangeQuota(wrong).ok());
  ASSERT_EQ(book.uncovered().size(), 1U);
  EXPECT_EQ(book.uncovered()[0].jobs, 0U);
  EXPECT_EQ(book.uncovered()[0].requests, 1U);
  Step(book, 10);
  ASSERT_TRUE(book.ChangeQuota(right).ok());
  Step(book, 20);
  EXPECT_EQ(StateOf(book, waits), "queued");
  EXPECT_THAT(book.Find(waits)->reason, Not(HasSubstr("no longer fit")));
  // The hour begins anew.
  ASSERT_TRUE(book.ChangeQuota(wrong).ok());
  Step(book, 3000);
  Step(book, 6599);
  EXPECT_EQ(StateOf(book, waits), "queued");
  Step(book, 6600);
  EXPECT_EQ(StateOf(book, waits), "refused");
  EXPECT_THAT(book.Find(waits)->reason, HasSubstr("b"));
}

TEST(RequestBook, ForgetsTheOldestButNotTheHighestNumber) {
  RequestBook book = Book();
  for (int i = 0; i < 4; ++i) {
    const uint64_t id = Make(book, AskFor("a", 1, i));
    book.Apply(*book.Withdraw(id, "ann", At(i)));
  }
  EXPECT_THAT(book.OldEnded(At(0), 2), ElementsAre(1, 2));
  EXPECT_THAT(book.OldEnded(At(100), 9), ElementsAre(1, 2, 3));
  book.Forget(1);
  EXPECT_EQ(book.Find(1), nullptr);
  EXPECT_EQ(Make(book, AskFor("a", 1, 9)), 5U);
}

// Whatever happens in whatever order, what counts is what would count if it were added up anew.
TEST(RequestBook, CountsAsIfAddedUpAnew) {
  for (int seed = 1; seed <= Scaled(60); ++seed) {
    Rng rng(static_cast<uint64_t>(seed));
    RequestBook book = Book();
    const std::vector<std::string> jobs = {"x", "x/web", "x/web/app", "x/web/proxy", "x/web-2", "y", "y/db"};
    std::vector<JobUse> use;
    for (int64_t now = 1; now < 60; ++now) {
      const std::string job = jobs[rng.Below(jobs.size())];
      const std::string group = rng.Below(2) == 0 ? "a" : "b";
      switch (rng.Below(4)) {
        case 0:
        case 1: {
          const auto made =
              book.Submit(AskFor(group, 1 + static_cast<int64_t>(rng.Below(4000)), now), job, "ann");
          if (made.ok()) book.Apply(*made);
          break;
        }
        case 2: {
          const auto ended = book.Withdraw(1 + rng.Below(book.last_id() + 1), "ann", At(now));
          if (ended.ok()) book.Apply(*ended);
          break;
        }
        default:
          use.clear();
          for (const std::string& one : jobs) {
            if (rng.Below(2) == 0)
              use.push_back(
                  UsedBy(one, rng.Below(2) == 0 ? "a" : "b", static_cast<int64_t>(rng.Below(3000))));
          }
          book.SetUse(use, At(now));
      }
      Step(book, now);
      RequestBook anew = Book();
      for (uint64_t id = 1; id <= book.last_id(); ++id) {
        if (const QuotaRequest* r = book.Find(id); r != nullptr) anew.Apply(*r);
      }
      anew.SetUse(use, At(now));
      for (const char* name : {"a", "b"}) {
        ASSERT_EQ(InUse(book, name), InUse(anew, name)) << "seed " << seed << ", step " << now;
      }
    }
  }
}

TEST(RequestBook, ARequestStandsInTheWayOfNoOtherGroup) {
  RequestBook book = Book();
  const uint64_t of_a = Make(book, AskFor("a", 1000, 0), "b/web");
  EXPECT_EQ(book.Submit(AskFor("a", 1000, 0), "b/web", "ann").status().code(),
            absl::StatusCode::kAlreadyExists);
  const uint64_t of_b = Make(book, AskFor("b", 2000, 0), "b/web");
  const std::vector<JobUse> jobs = {UsedBy("b/web", "b", 3000)};
  book.SetUse(jobs, At(10));
  EXPECT_EQ(InUse(book, "a"), 1000) << "a job of b counts for b's request alone";
  EXPECT_EQ(InUse(book, "b"), 3000);
  book.Apply(*book.Withdraw(of_a, "ann", At(20)));
  EXPECT_EQ(book.Submit(AskFor("b", 1, 20), "b/web", "ann").status().code(),
            absl::StatusCode::kAlreadyExists);
  book.Apply(*book.Withdraw(of_b, "ann", At(20)));
  EXPECT_TRUE(book.Submit(AskFor("b", 1, 20), "b/web", "ann").ok());
}

}  // namespace
}  // namespace taut::brain
