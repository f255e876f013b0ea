#include "server/pool/quota_service.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/pool/request_text.h"
#include "server/store/in_memory_request_log.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int32_t kQuotaWindow = 1000;

class Service : public ::testing::Test {
 protected:
  QuotaService::Options Options() {
    QuotaService::Options options;
    options.groups = {.group = "{team}", .tier = "{tier}", .default_tier = "prod"};
    options.log = &log_;
    options.now = [this] { return now_; };
    options.doubt = [this] { return doubt_; };
    return options;
  }
  static brain::QuotaSpec Spec() {
    return {
        {{"a", "", {{"prod", "cpu", 10'000}, {"batch", "cpu", 1000}}}, {"b", "", {{"prod", "cpu", 4000}}}}};
  }
  std::unique_ptr<QuotaService> Open() { return *QuotaService::Open(Spec(), Options()); }
  // Returns a job with `cores` in total, last measured in window `seen`.
  static JobView Job(uint32_t id, const std::string& name, const std::string& team, float cores,
                     int32_t seen = kQuotaWindow) {
    auto record = std::make_shared<JobRecord>();
    record->id = JobId{id};
    record->name = name;
    record->labels = {{"team", team}};
    JobView job;
    job.record = record;
    job.tasks = 2;
    job.amounts[0].limit = cores / 2;
    job.amounts[0].usage = cores / 4;
    job.last_seen_s = WindowId{seen}.next().start_s();
    return job;
  }
  static FleetView View(std::vector<JobView> jobs, int32_t window = kQuotaWindow) {
    FleetView view;
    view.window = WindowId{window};
    view.jobs = std::move(jobs);
    return view;
  }
  static brain::AdmissionRequest Ask(const std::string& group, int64_t millicores) {
    return {.group = group, .tier = "prod", .per_task = brain::QuotaVector::Of(millicores, 0)};
  }
  static int64_t InUse(const QuotaService& service, std::string_view group) {
    for (const brain::QuotaRowView& row : service.View().rows) {
      if (row.group == group && row.tier == "prod") return row.cell.held;
    }
    return -1;
  }

  InMemoryRequestLog log_;
  std::string doubt_;
  Timestamp now_ = Timestamp::FromSeconds(WindowId{kQuotaWindow}.next().start_s());
};

TEST_F(Service, DecidesNothingBeforeUsageIsKnown) {
  auto service = Open();
  const auto made = service->Submit(Ask("a", 1), "", "ann");
  EXPECT_EQ(made.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("no window has closed yet"));
  service->OnWindow(View({}));
  EXPECT_TRUE(service->Submit(Ask("a", 1), "", "ann").ok());
}

TEST_F(Service, NoRequestIsMadeOrEndsWhileTheTimeMayBeWrong) {
  auto service = Open();
  service->OnWindow(View({}));
  brain::AdmissionRequest ask = Ask("a", 1);
  ask.duration_s = 3600;
  const auto made = service->Submit(ask, "", "ann");
  ASSERT_TRUE(made.ok()) << made.status();
  now_.us += 40 * kDaySeconds * kMicrosPerSecond;
  doubt_ = "the clock is 40 days beyond the stored data";
  EXPECT_TRUE(service->Step().ok());
  EXPECT_TRUE(service->Find(made->id)->open());
  EXPECT_EQ(service->Submit(Ask("a", 1), "", "ann").status(), absl::UnavailableError(doubt_));
  EXPECT_EQ(service->Withdraw(made->id, "ann").status(), absl::UnavailableError(doubt_));
  doubt_.clear();
  EXPECT_TRUE(service->Step().ok());
  EXPECT_FALSE(service->Find(made->id)->open());
}

TEST_F(Service, CountsTheLimitsOfJobsByTheirLabels) {
  auto service = Open();
  JobView batch = Job(3, "a/night", "a", 0.5F);
  auto record = std::make_shared<JobRecord>(*batch.record);
  record->labels = {{"team", "a"}, {"tier", "batch"}};
  batch.record = record;
  JobView unlimited = Job(4, "b/web", "b", 0);
  unlimited.amounts[0].limit = kAbsent;
  unlimited.amounts[0].peak = 0.7F;
  service->OnWindow(View({Job(1, "a/web", "a", 3), Job(2, "c/web", "c", 1), batch, unlimited}));
  const QuotaView view = service->View();
  EXPECT_EQ(InUse(*service, "a"), 3000);
  EXPECT_EQ(InUse(*service, "b"), 1400);
  ASSERT_THAT(view.uncovered, SizeIs(1));
  EXPECT_EQ(view.uncovered[0].group, "c");
  ASSERT_GE(view.rows.size(), 1U);
  EXPECT_EQ(view.rows[0].tier, "batch");
  EXPECT_EQ(view.rows[0].cell.held, 500);
}

TEST_F(Service, AJobThatIsGoneForAWhileStillCountsAndASilentSourceChangesNothing) {
  auto service = Open();
  service->OnWindow(View({Job(1, "a/web", "a", 3)}));
  service->OnWindow(
      View({Job(1, "a/web", "a", 3), Job(2, "a/db", "a", 1, kQuotaWindow + 2)}, kQuotaWindow + 2));
  EXPECT_EQ(InUse(*service, "a"), 4000);  // the use after 10 minutes
  service->OnWindow(
      View({Job(1, "a/web", "a", 3), Job(2, "a/db", "a", 1, kQuotaWindow + 4)}, kQuotaWindow + 4));
  EXPECT_EQ(InUse(*service, "a"), 1000);
  service->OnWindow(
      View({Job(1, "a/web", "a", 3), Job(2, "a/db", "a", 1, kQuotaWindow + 4)}, kQuotaWindow + 40));
  EXPECT_EQ(InUse(*service, "a"), 1000);
  EXPECT_TRUE(service->View().silent);
}

TEST_F(Service, IsSilentAlsoWhereNoWindowCloses) {
  auto service = Open();
  service->OnWindow(View({Job(1, "a/web", "a", 3)}));
  EXPECT_FALSE(service->View().silent);
  now_ = {now_.us + 901 * kMicrosPerSecond};
  EXPECT_TRUE(service->View().silent);
}

TEST_F(Service, TheFirstSourceThatComesBackTakesNoRoomOfTheOthers) {
  auto service = Open();
  service->OnWindow(View({Job(1, "a/web", "a", 3), Job(2, "b/web", "b", 2)}));
  ASSERT_TRUE(service->Submit(Ask("a", 4000), "a/web", "ann").ok());
  ASSERT_TRUE(service->Step().ok());
  EXPECT_EQ(service->Find(1)->state, brain::RequestState::kRunning);
  const int32_t later = kQuotaWindow + 50;
  service->OnWindow(View({Job(1, "a/web", "a", 3), Job(2, "b/web", "b", 1, later)}, later));
  ASSERT_TRUE(service->Step().ok());
  EXPECT_EQ(service->Find(1)->state, brain::RequestState::kRunning);
  EXPECT_EQ(InUse(*service, "a"), 4000);
  EXPECT_EQ(InUse(*service, "b"), 1000);
  service->OnWindow(View({Job(1, "a/web", "a", 3), Job(2, "b/web", "b", 1, later + 3)}, later + 3));
  ASSERT_TRUE(service->Step().ok());
  EXPECT_EQ(service->Find(1)->end, brain::RequestEnd::kFinished);
  EXPECT_EQ(InUse(*service, "a"), 0);
}

TEST_F(Service, AnotherRestartAfterAnOutageForgetsNoJobThatIsStillAbsent) {
  auto service = Open();
  service->OnWindow(View({Job(1, "a/web", "a", 3), Job(2, "b/web", "b", 2)}));
  const int32_t later = kQuotaWindow + 50;
  const FleetView back = View({Job(1, "a/web", "a", 3), Job(2, "b/web", "b", 1, later)}, later);
  service->OnWindow(back);
  EXPECT_EQ(InUse(*service, "a"), 3000);
  now_ = Timestamp::FromSeconds(WindowId{later}.next().start_s());
  auto again = Open();
  ASSERT_TRUE(again->LoadState(service->SaveState()).ok());
  EXPECT_EQ(again->times().settled_at, service->times().settled_at);
  again->OnWindow(back);
  EXPECT_EQ(InUse(*again, "a"), 3000);
  again->OnWindow(View({Job(1, "a/web", "a", 3), Job(2, "b/web", "b", 1, later + 3)}, later + 3));
  EXPECT_EQ(InUse(*again, "a"), 0) << "its time is over";
  // Even with the state of a wrong clock, absent jobs keep their use for at most 900 s.
  auto other = Open();
  ASSERT_TRUE(other->LoadState(service->SaveState()).ok());
  other->OnWindow(View({Job(1, "a/web", "a", 3)}));
  EXPECT_EQ(other->times().settled_at->seconds(), WindowId{kQuotaWindow}.next().start_s() + 900);
}

TEST_F(Service, ARequestDoesNotOvertakeOneThatWaits) {
  auto service = Open();
  service->OnWindow(View({}));
  ASSERT_TRUE(service->Submit(Ask("b", 4000), "", "ann").ok());
  brain::AdmissionRequest urgent = Ask("b", 3000);
  urgent.priority = 9;
  ASSERT_TRUE(service->Submit(urgent, "", "ann").ok());
  ASSERT_TRUE(service->Withdraw(1, "ann").ok());
  EXPECT_EQ(service->Submit(Ask("b", 2000), "", "bob")->state, brain::RequestState::kQueued);
  EXPECT_EQ(service->Find(2)->state, brain::RequestState::kAdmitted);
}

TEST_F(Service, OtherRulesCountAtOnce) {
  auto service = Open();
  const FleetView view = View({Job(1, "a/web", "a", 3)});
  service->OnWindow(view);
  GroupRuleOptions rules;
  rules.group = "{team}";
  rules.default_tier = "batch";
  ASSERT_TRUE(service->Reload(Spec(), rules, view).ok());
  EXPECT_EQ(InUse(*service, "a"), 0);
  EXPECT_EQ(service->View().default_tier, "batch");
  EXPECT_EQ(service->View().rows[0].cell.held, 3000);
}

TEST_F(Service, OtherRulesFreeNothingWhileTheSourceIsSilent) {
  auto service = Open();
  const JobView job = Job(1, "a/web", "a", 3);
  service->OnWindow(View({job}));
  const FleetView silent = View({job}, kQuotaWindow + 40);
  service->OnWindow(silent);
  GroupRuleOptions rules;
  rules.group = "{team}";
  rules.default_tier = "prod";
  ASSERT_TRUE(service->Reload(Spec(), rules, silent).ok());
  EXPECT_TRUE(service->View().silent);
  EXPECT_EQ(InUse(*service, "a"), 3000);
  service->OnWindow(View({job}, kQuotaWindow + 41));
  EXPECT_EQ(InUse(*service, "a"), 3000);
}

TEST_F(Service, AFloatsFractionIsNoUse) {
  auto service = Open();
  service->OnWindow(View({Job(1, "a/web", "a", 2.2F), Job(2, "b/web", "b", 1e30F)}));
  EXPECT_EQ(InUse(*service, "a"), 2200);
  EXPECT_GT(InUse(*service, "b"), 0);
}

TEST_F(Service, RequestsOutliveTheDaemon) {
  {
    auto service = Open();
    service->OnWindow(View({}));
    EXPECT_EQ(service->Submit(Ask("a", 9000), "a/web", "ann")->id, 1U);
    EXPECT_EQ(service->Submit(Ask("a", 9000), "", "bob")->state, brain::RequestState::kQueued);
    EXPECT_EQ(service->Submit(Ask("b", 1000), "", "bob")->id, 3U);
    EXPECT_TRUE(service->Withdraw(3, "bob").ok());
  }
  auto service = Open();
  EXPECT_THAT(service->warnings(), IsEmpty());
  EXPECT_EQ(InUse(*service, "a"), 9000);
  EXPECT_EQ(InUse(*service, "b"), 0);
  EXPECT_EQ(service->View().queued, 1U);
  service->OnWindow(View({}));
  EXPECT_EQ(service->Submit(Ask("b", 1), "", "ann")->id, 4U);
  EXPECT_TRUE(service->Withdraw(1, "ann").ok());
  ASSERT_TRUE(service->Step().ok());
  EXPECT_EQ(service->Find(2)->state, brain::RequestState::kAdmitted);
}

TEST_F(Service, WhatIsNotStoredDoesNotCount) {
  auto service = Open();
  service->OnWindow(View({}));
  log_.fails = absl::UnavailableError("disk full");
  EXPECT_THAT(std::string(service->Submit(Ask("a", 9000), "", "ann").status().message()),
              HasSubstr("disk full"));
  EXPECT_EQ(InUse(*service, "a"), 0);
  EXPECT_EQ(service->counts().failed_writes, 1U);
  log_.fails = absl::OkStatus();
  EXPECT_EQ(service->Submit(Ask("a", 9000), "", "ann")->id, 1U);
  EXPECT_EQ(service->Submit(Ask("a", 2000), "", "ann")->state, brain::RequestState::kQueued);
  EXPECT_TRUE(service->Withdraw(1, "ann").ok());
  log_.fails = absl::UnavailableError("disk full");
  EXPECT_FALSE(service->Step().ok());
  EXPECT_EQ(service->Find(2)->state, brain::RequestState::kQueued);
  log_.fails = absl::OkStatus();
  EXPECT_TRUE(service->Step().ok());
  EXPECT_EQ(service->Find(2)->state, brain::RequestState::kAdmitted);
}

TEST_F(Service, ForgetsEndedRequestsAfterAWhile) {
  QuotaService::Options options = Options();
  options.keep_ended_days = 1;
  auto service = *QuotaService::Open(Spec(), options);
  service->OnWindow(View({}));
  for (int i = 0; i < 3; ++i) {
    const uint64_t id = service->Submit(Ask("a", 1), "", "ann")->id;
    EXPECT_TRUE(service->Withdraw(id, "ann").ok());
  }
  now_ = {now_.us + 2 * kDaySeconds * kMicrosPerSecond};
  ASSERT_TRUE(service->Step().ok());
  EXPECT_FALSE(service->Find(1).ok());
  EXPECT_TRUE(service->Find(3).ok());
  auto again = Open();
  EXPECT_FALSE(again->Find(1).ok());
}

TEST_F(Service, RecommendsAQuotaFromTheHoursBehindItAlsoAfterARestart) {
  const auto advice_of = [](const QuotaService& service, const std::string& group) {
    for (const brain::QuotaRowView& row : service.ViewWithAdvice().rows) {
      if (row.group == group && row.tier == "prod") return row.advice;
    }
    return std::optional<brain::QuotaAdvice>();
  };
  auto service = Open();
  EXPECT_FALSE(advice_of(*service, "a").has_value());
  for (int32_t w = kQuotaWindow; w < kQuotaWindow + 50 * 12; ++w) {
    const float cores = w == kQuotaWindow + 100 ? 6 : 3;
    service->OnWindow(View({Job(1, "a/web", "a", cores, w)}, w));
  }
  now_ = Timestamp::FromSeconds(WindowId{kQuotaWindow + 50 * 12}.start_s());
  const brain::QuotaAdvice advice = *advice_of(*service, "a");
  EXPECT_GE(advice.hours, 50);
  EXPECT_EQ(advice.in_use_p95, 3000);
  EXPECT_EQ(advice.in_use_peak, 6000);
  EXPECT_EQ(advice.usage_peak, 3000) << "jobs use half of their limits";
  EXPECT_EQ(advice.recommended, 6000) << "nobody lends to it";
  EXPECT_EQ(advice_of(*service, "b")->recommended, 0) << "it was measured, and used nothing";
  EXPECT_FALSE(service->View().rows[0].advice.has_value());

  auto again = Open();
  ASSERT_TRUE(again->LoadState(service->SaveState()).ok());
  again->OnWindow(View({Job(1, "a/web", "a", 3, kQuotaWindow + 600)}, kQuotaWindow + 600));
  EXPECT_EQ(advice_of(*again, "a")->in_use_peak, 6000);
  EXPECT_EQ(again->LoadState("{}").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(advice_of(*again, "a")->in_use_peak, 6000);
}

// Covers concurrent requests from the server's threads, windows and time from the loop, and views from both.
TEST_F(Service, ManyThreadsMakeAndEndRequests) {
  auto service = Open();
  const FleetView view = View({Job(1, "a/web", "a", 3)});
  service->OnWindow(view);
  constexpr int kThreads = 4, kRequests = 50;
  std::atomic<int> working = kThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&service, &working, t] {
      for (int i = 0; i < kRequests; ++i) {
        const auto made = service->Submit(Ask("a", 100), StrCat("new-", t, "-", i), "ann");
        if (made.ok() && i % 2 == 0) (void)service->Withdraw(made->id, "ann");
        (void)service->View();
      }
      --working;
    });
  }
  while (working > 0) {
    (void)service->Step();
    service->OnWindow(view);
    (void)service->List([](const brain::QuotaRequest& r) { return r.open(); }, 10);
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(service->Step().ok());
  EXPECT_EQ(service->List([](const brain::QuotaRequest&) { return true; }, SIZE_MAX).size(),
            size_t{kThreads * kRequests});
  int64_t held = 3000;
  for (const brain::QuotaRequest& r :
       service->List([](const brain::QuotaRequest& one) { return one.open(); }, SIZE_MAX))
    held += r.asked.per_task.Get(brain::kQuotaCpu);
  EXPECT_EQ(InUse(*service, "a"), held);
}

TEST_F(Service, NamesWhatItCannotReadInTheLog) {
  const std::vector<RequestLogEntry> entries = {{7, 1, "ann", "{}"}, {8, 1, "ann", "nonsense"}};
  ASSERT_TRUE(log_.Append(entries).ok());
  auto service = Open();
  EXPECT_THAT(service->warnings(), ElementsAre(HasSubstr("request 7"), HasSubstr("request 8")));
}

TEST(RequestText, RoundTrip) {
  brain::QuotaRequest r;
  r.id = 12;
  r.asked = {.group = "a\"b",
             .tier = "prod",
             .per_task = brain::QuotaVector::Of(1500, int64_t{3} << 30),
             .tasks = 4,
             .priority = -2,
             .now = Timestamp{1'700'000'000'123'456},
             .duration_s = 60};
  r.asked.per_task.Set("gpu", 2);
  r.job = "shop/web";
  r.who = "ann";
  r.state = brain::RequestState::kEnded;
  r.end = brain::RequestEnd::kTimeUp;
  r.since = Timestamp{5};
  r.admitted_at = Timestamp{4};
  r.reason = "Its duration is over.";
  const brain::QuotaRequest back = *DecodeRequest(EncodeRequest(r));
  EXPECT_EQ(EncodeRequest(back), EncodeRequest(r));
  EXPECT_EQ(back.asked.per_task, r.asked.per_task);
  EXPECT_EQ(back.asked.duration_s, r.asked.duration_s);
}

TEST(RequestText, RefusesWhatCannotBeCounted) {
  brain::QuotaRequest r;
  r.id = 1;
  r.asked = {
      .group = "a", .tier = "prod", .per_task = brain::QuotaVector::Of(1, 1), .tasks = int64_t{1} << 62};
  EXPECT_EQ(DecodeRequest(EncodeRequest(r)).status().code(), absl::StatusCode::kDataLoss);
  r.asked.tasks = 1;
  EXPECT_TRUE(DecodeRequest(EncodeRequest(r)).ok());
  r.asked.duration_s = INT64_MAX;
  EXPECT_FALSE(DecodeRequest(EncodeRequest(r)).ok());
  r.asked.duration_s.reset();
  r.admitted_at = Timestamp{INT64_MAX};
  EXPECT_FALSE(DecodeRequest(EncodeRequest(r)).ok());
}

TEST(GroupRules, SayWhichTemplateIsWrong) {
  GroupRuleOptions options;
  options.group = "{team";
  EXPECT_THAT(std::string(GroupRules::Make(options).status().message()), HasSubstr("quota.group: "));
  options = {};
  options.tier = "{}";
  EXPECT_THAT(std::string(GroupRules::Make(options).status().message()), HasSubstr("quota.tier: "));
}

LiveTask TaskOf(const std::string& name, const std::string& job, const std::string& team,
                int64_t millicores) {
  LiveTask task;
  task.name = name;
  task.labels = {{"team", team}};
  task.parts = {{job, brain::QuotaVector::Of(millicores, 0)}};
  return task;
}

// A log that calls a function while it stores.
class WatchedLog final : public RequestLog {
 public:
  absl::Status Append(std::span<const RequestLogEntry> entries) override {
    if (on_append) on_append();
    return to_.Append(entries);
  }
  absl::Status Read(absl::FunctionRef<void(const RequestLogEntry&)> yield,
                    absl::FunctionRef<void(const std::string&)> on_damage) override {
    return to_.Read(yield, on_damage);
  }
  absl::Status Check() override { return to_.Check(); }
  absl::Status Forget(std::span<const uint64_t> requests) override { return to_.Forget(requests); }

  explicit WatchedLog(InMemoryRequestLog& to) : to_(to) {}
  std::function<void()> on_append;

 private:
  InMemoryRequestLog& to_;
};

TEST_F(Service, AGrantCountsForTasksFromTheDecisionOnUnlessItIsNotStored) {
  WatchedLog watched(log_);
  QuotaService::Options options = Options();
  options.log = &watched;
  auto service = *QuotaService::Open(Spec(), options);
  service->OnWindow(View({}));
  service->live().Replace({});
  const LiveTask task = TaskOf("web-1", "a/web", "a", 7000);
  std::vector<LiveQuota::Outcome> seen;
  watched.on_append = [&] { seen.push_back(service->live().Ask(task, true).outcome); };
  EXPECT_TRUE(service->Submit(Ask("a", 4000), "", "ann").ok());
  EXPECT_THAT(seen, ElementsAre(LiveQuota::Outcome::kDoesNotFit)) << "and no task waits for the log";
  EXPECT_TRUE(service->Withdraw(1, "ann").ok());
  log_.fails = absl::UnavailableError("the disk is full");
  EXPECT_FALSE(service->Submit(Ask("a", 4000), "", "ann").ok());
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(service->live().Ask(task, true).outcome, LiveQuota::Outcome::kFits);
  EXPECT_EQ(InUse(*service, "a"), 0);
}

TEST_F(Service, ARestartBetweenTheLogAndTheAnswerKeepsTheGrant) {
  auto service = Open();
  service->OnWindow(View({}));
  ASSERT_TRUE(service->Submit(Ask("a", 8000), "a/web", "ann").ok());  // the process ends before it answers
  service = Open();
  service->live().Replace({TaskOf("web-1", "a/web", "a", 3000)});
  EXPECT_EQ(InUse(*service, "a"), 8000) << "the request covers the pod";
  EXPECT_EQ(service->live().Ask(TaskOf("db-1", "a/db", "a", 3000), false).outcome,
            LiveQuota::Outcome::kDoesNotFit);
  service->OnWindow(View({}));
  EXPECT_EQ(service->Submit(Ask("a", 8000), "a/web", "ann").status().code(), absl::StatusCode::kAlreadyExists)
      << "a client that asks again learns of the request";
}

TEST_F(Service, TasksOfAGroupThatLeavesTheFileCountAgainWhenItReturns) {
  auto service = Open();
  service->OnWindow(View({Job(1, "a/db", "a", 2)}));
  service->live().Replace({TaskOf("web-1", "a/web", "a", 3000)});
  EXPECT_EQ(InUse(*service, "a"), 5000);
  ASSERT_TRUE(service->Reload({{{"b", "", {{"prod", "cpu", 4000}}}}}, Options().groups, View({})).ok());
  EXPECT_EQ(service->live().Ask(TaskOf("web-2", "a/web", "a", 3000), false).outcome,
            LiveQuota::Outcome::kNotCovered);
  ASSERT_TRUE(service->Reload(Spec(), Options().groups, View({Job(1, "a/db", "a", 2)})).ok());
  EXPECT_EQ(InUse(*service, "a"), 5000);
}

TEST_F(Service, OtherRulesMoveTasksToTheirNewGroups) {
  auto service = Open();
  service->OnWindow(View({}));
  LiveTask task = TaskOf("web-1", "a/web", "a", 3000);
  task.labels.emplace_back("unit", "b");
  service->live().Replace({task});
  EXPECT_EQ(InUse(*service, "a"), 3000);
  GroupRuleOptions by_unit = Options().groups;
  by_unit.group = "{unit}";
  ASSERT_TRUE(service->Reload(Spec(), by_unit, View({})).ok());
  EXPECT_EQ(InUse(*service, "a"), 0);
  EXPECT_EQ(InUse(*service, "b"), 3000);
  service->live().Remove(task);
  EXPECT_EQ(InUse(*service, "b"), 0);
}

}  // namespace
}  // namespace taut::server
