#include "server/pool/live_quota.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Outcome = LiveQuota::Outcome;

class Live : public ::testing::Test {
 protected:
  static brain::QuotaSpec Quota(int64_t cpu_of_a = 4000) {
    return {{{"pool"},
             {"a", "pool", {{"prod", "cpu", cpu_of_a, 0}, {"batch", "cpu", 8000, 0}}},
             {"b", "pool", {{"prod", "cpu", 2000}, {"prod", "memory", 1 << 20}}}}};
  }
  static GroupRules Rules() { return *GroupRules::Make({"{namespace}", "{tier}", "prod"}); }
  void SetUp() override { live_.Replace({}); }
  absl::Status SetQuota(const brain::QuotaSpec& spec) {
    const std::lock_guard lock(mutex_);
    if (absl::Status s = usage_.ChangeQuota(spec); !s.ok()) return s;
    live_.Regroup();
    return absl::OkStatus();
  }
  void SetRequests(const std::vector<brain::QuotaRequest>& open) {
    const std::lock_guard lock(mutex_);
    for (const uint64_t id : std::exchange(open_, {})) usage_.Close(id);
    for (const brain::QuotaRequest& request : open) {
      usage_.Open(request);
      open_.push_back(request.id);
    }
  }
  // Sets the use that was measured in the window that ends at `end_s`.
  void Measure(const std::vector<brain::JobUse>& jobs, int64_t end_s) {
    const std::lock_guard lock(mutex_);
    usage_.SetMeasured(jobs, Timestamp::FromSeconds(end_s));
  }
  static LiveTask Task(const std::string& name, int64_t millicores, const std::string& group = "a",
                       const std::string& tier = "") {
    LiveTask task;
    task.name = StrCat(group, "/", name);
    task.uid = StrCat("uid-", name);
    task.labels = {{"namespace", group}};
    if (!tier.empty()) task.labels.emplace_back("tier", tier);
    task.parts = {{StrCat(group, "/deployment/", name.substr(0, name.find('-')), "/app"),
                   brain::QuotaVector::Of(millicores, 0)}};
    return task;
  }
  static brain::QuotaRequest Request(uint64_t id, const std::string& job, int64_t millicores) {
    brain::QuotaRequest out;
    out.id = id;
    out.asked = {.group = "a", .tier = "prod", .per_task = brain::QuotaVector::Of(millicores, 0)};
    out.job = job;
    out.state = brain::RequestState::kAdmitted;
    return out;
  }
  Outcome Ask(const LiveTask& task, bool dry_run = false) { return live_.Ask(task, dry_run).outcome; }
  // Returns the millicores that fit in group a, tier prod.
  int64_t Left() {
    int64_t fits = 0, beyond = 1 << 20;
    while (beyond - fits > 1) {
      const int64_t middle = (fits + beyond) / 2;
      (Ask(Task("probe-1", middle), true) == Outcome::kFits ? fits : beyond) = middle;
    }
    return fits;
  }

  double now_s_ = 100;
  std::mutex mutex_;
  brain::GroupUsage usage_ = *brain::GroupUsage::Make(Quota());
  GroupRules rules_ = Rules();
  std::vector<uint64_t> open_;
  LiveQuota live_{mutex_, usage_, rules_, [this] { return now_s_; }, 30};
};

TEST_F(Live, SaysNothingBeforeItKnowsTheTasks) {
  LiveQuota without_tasks(
      mutex_, usage_, rules_, [] { return 0.0; }, 30);
  EXPECT_EQ(without_tasks.Ask(Task("web-1", 99'000), false).outcome, Outcome::kUnknown);
}

TEST_F(Live, WhatNoQuotaCoversIsNotHeldToOne) {
  EXPECT_EQ(Ask(Task("web-1", 99'000, "other")), Outcome::kNotCovered);
  EXPECT_EQ(Ask(Task("web-1", 99'000, "pool")), Outcome::kNotCovered);  // pool is a cohort
  EXPECT_EQ(Ask(Task("web-1", 99'000, "a", "free")), Outcome::kNotCovered);
  LiveTask gpu = Task("web-1", 0);
  gpu.parts[0].amounts.Set("gpu", 8);
  EXPECT_EQ(Ask(gpu), Outcome::kNotCovered);
  gpu.labels.clear();
  EXPECT_EQ(Ask(gpu), Outcome::kNotCovered);
}

TEST_F(Live, ATaskThatDoesNotFitIsToldWhyAndWhatWould) {
  live_.Put(Task("web-1", 3000));
  const LiveQuota::Answer answer = live_.Ask(Task("web-2", 2000), false);
  EXPECT_EQ(answer.outcome, Outcome::kDoesNotFit);
  EXPECT_THAT(answer.reasons,
              ElementsAre("2 cores more for group \"a\" in tier \"prod\": its quota does not allow it.",
                          HasSubstr("\"a\" has 1 core left of the 2 cores asked for"),
                          "What fits now: 1 core.", "It would fit in tier \"batch\"."));
  EXPECT_EQ(live_.held(), 0U);
  EXPECT_EQ(Ask(Task("web-2", 1000)), Outcome::kFits);
}

TEST_F(Live, TheLastRoomIsGivenOnce) {
  EXPECT_EQ(Ask(Task("web-1", 4000), true), Outcome::kFits);  // a dry run holds no quota
  EXPECT_EQ(Ask(Task("web-1", 4000)), Outcome::kFits);
  EXPECT_EQ(Ask(Task("web-2", 1000)), Outcome::kDoesNotFit);
  EXPECT_EQ(Ask(Task("web-1", 4000)), Outcome::kFits);  // a repeated review of the task
  EXPECT_EQ(live_.held(), 1U);
  live_.Put(Task("web-1", 4000));  // the task was created
  EXPECT_EQ(live_.held(), 0U);
  EXPECT_EQ(Left(), 0);
  live_.Remove(Task("web-1", 4000));
  EXPECT_EQ(Left(), 4000);
}

TEST_F(Live, ARoomThatNoTaskTakesIsFreeAfterAWhile) {
  EXPECT_EQ(Ask(Task("web-1", 4000)), Outcome::kFits);
  now_s_ += 29;
  EXPECT_EQ(Left(), 0);
  EXPECT_EQ(Ask(Task("web-1", 4000)), Outcome::kFits);  // a further attempt to create the task
  now_s_ += 29;
  EXPECT_EQ(Left(), 0);
  now_s_ += 1;
  EXPECT_EQ(Left(), 4000);
  EXPECT_EQ(live_.held(), 0U);
}

TEST_F(Live, TasksWithoutANameHoldTheirRoomToo) {
  LiveTask task = Task("web-1", 2000);
  task.name.clear();
  task.uid.clear();
  EXPECT_EQ(Ask(task), Outcome::kFits);
  EXPECT_EQ(Ask(task), Outcome::kFits);
  EXPECT_EQ(Ask(task), Outcome::kDoesNotFit);
}

TEST_F(Live, ATaskOfTheSameNameTakesTheRoomOfTheOneBefore) {
  LiveTask old = Task("db-0", 4000);
  live_.Put(old);
  LiveTask next = old;
  next.uid = "uid-2";
  EXPECT_EQ(Ask(next), Outcome::kFits);
  live_.Put(old);  // a late event of the watch
  EXPECT_EQ(live_.held(), 1U);
  live_.Remove(old);
  EXPECT_EQ(Left(), 0);
  live_.Put(next);
  live_.Remove(old);  // a late event of the watch
  EXPECT_EQ(live_.held(), 0U);
  EXPECT_EQ(Left(), 0);
}

TEST_F(Live, WhatARequestWasGrantedStaysGranted) {
  const std::vector<brain::QuotaRequest> open = {Request(1, "a/deployment/web", 3000)};
  SetRequests(open);
  EXPECT_EQ(Left(), 1000);  // remainder for other jobs
  EXPECT_EQ(Ask(Task("web-1", 2000)), Outcome::kFits);
  live_.Put(Task("web-1", 2000));
  EXPECT_EQ(Left(), 1000);
  EXPECT_EQ(Ask(Task("web-2", 2000)), Outcome::kFits);  // one core within the request and one in addition
  EXPECT_EQ(Left(), 0);
  SetRequests({});
  EXPECT_EQ(Left(), 0);
  now_s_ += 30;
  EXPECT_EQ(Left(), 2000);
  SetRequests(std::vector{Request(2, "", 1500)});  // a request without a job
  EXPECT_EQ(Left(), 500);
}

TEST_F(Live, AnotherQuotaCountsTheSameTasks) {
  live_.Put(Task("web-1", 3000));
  SetRequests(std::vector{Request(1, "a/deployment/api", 500)});
  ASSERT_TRUE(SetQuota(Quota(6000)).ok());
  EXPECT_EQ(Left(), 2500);
  EXPECT_FALSE(SetQuota({{{"a"}, {"a"}}}).ok());
  EXPECT_EQ(Left(), 2500);
}

TEST_F(Live, TasksAndWindowsOfOneJobCountOnce) {
  const std::string web = "a/deployment/web/app";
  EXPECT_EQ(Ask(Task("web-1", 3000)), Outcome::kFits);
  EXPECT_EQ(Left(), 1000) << "admitted, and not reported yet";
  live_.Put(Task("web-1", 3000));
  EXPECT_EQ(Left(), 1000) << "in the first minutes no window has measured it";
  Measure({{web, "a", "prod", 3000, 0, 0, 0, 300}}, 300);
  EXPECT_EQ(Left(), 1000) << "the window of the task is not another use";
  Measure({{web, "a", "prod", 3000, 0, 0, 0, 600}, {"a/cron", "a", "prod", 500, 0, 0, 0, 600}}, 600);
  EXPECT_EQ(Left(), 500) << "a job that only windows know counts, too";
  live_.Remove(Task("web-1", 3000));
  EXPECT_EQ(Left(), 3500) << "the quota of a task that has ended is free at once";
  Measure({{web, "a", "prod", 3000, 0, 0, 0, 600}, {"a/cron", "a", "prod", 500, 0, 0, 0, 900}}, 900);
  EXPECT_EQ(Left(), 3500) << "its windows are the task's";
}

TEST_F(Live, APodThatNeverStartsFreesItsQuotaWhenItIsGone) {
  EXPECT_EQ(Ask(Task("web-1", 3000)), Outcome::kFits);
  live_.Put(Task("web-1", 3000));
  now_s_ += 86'400;  // no node has room for the pod, so its usage is never measured
  Measure({}, 86'700);
  EXPECT_EQ(Left(), 1000) << "it may start at any moment";
  live_.Remove(Task("web-1", 3000));
  EXPECT_EQ(Left(), 4000);
}

TEST_F(Live, AnotherListEndsTheTasksThatItLacks) {
  const std::string web = "a/deployment/web/app";
  live_.Put(Task("web-1", 3000));
  Measure({{web, "a", "prod", 3000, 0, 0, 0, 300}}, 300);
  live_.Replace({Task("web-2", 2000)});
  EXPECT_EQ(Left(), 2000) << "the job goes on with another task";
  live_.Replace({});
  EXPECT_EQ(Left(), 4000);
}

TEST_F(Live, AQuestionChangesNothing) {
  Measure({{"a/deployment/web/app", "a", "prod", 3000, 0, 0, 0, 300}}, 300);
  EXPECT_EQ(Ask(Task("api-1", 2000)), Outcome::kDoesNotFit) << "windows alone know the other job";
  EXPECT_EQ(Ask(Task("web-1", 5000)), Outcome::kDoesNotFit);
  EXPECT_EQ(Left(), 1000);
}

TEST_F(Live, EveryOrderOfEventsEndsWithTheTasksThatAreThere) {
  std::mt19937 random(7);
  std::map<std::string, int64_t> there;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = StrCat(random() % 2 == 0 ? "web" : "api", "-", random() % 5);
    const auto cores = static_cast<int64_t>(random() % 700);
    switch (random() % 6) {
      case 0:
        live_.Put(Task(name, cores));
        there[name] = cores;
        break;
      case 1:
        live_.Remove(Task(name, 0));
        there.erase(name);
        break;
      case 2:
        (void)Ask(Task(name, cores), random() % 2 == 0);
        break;
      case 3:
        SetRequests(random() % 2 == 0
                        ? std::vector<brain::QuotaRequest>()
                        : std::vector{Request(static_cast<uint64_t>(i) + 1, "a/deployment/web", 900)});
        break;
      case 4:
        now_s_ += 20;
        break;
      default:
        if (random() % 20 == 0) {
          ASSERT_TRUE(SetQuota(Quota()).ok());
        }
    }
    if (i % 500 != 499) continue;
    SetRequests({});
    now_s_ += 31;
    int64_t used = 0;
    for (const auto& [task, amount] : there) used += amount;
    ASSERT_EQ(Left(), std::max(int64_t{0}, 4000 - used)) << i;
  }
}

TEST_F(Live, ThreadsThatAskAtOnceDoNotGetMoreThanThereIs) {
  std::atomic<int> fits = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t, &fits] {
      for (int i = 0; i < 50; ++i)
        fits += Ask(Task(StrCat("web-", t, "-", i), 100)) == Outcome::kFits ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fits, 40);
}

}  // namespace
}  // namespace taut::server
