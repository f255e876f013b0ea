#include "brain/economy/group_usage.h"

#include <map>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

QuotaSpec UsageSpec() {
  return {{{"pool"},
           {"a", "pool", {{"prod", "cpu", 10'000}, {"prod", "memory", 1 << 30}, {"batch", "cpu", 9000}}},
           {"b", "pool", {{"prod", "cpu", 5000}}}}};
}
Timestamp AtSecond(int64_t s) { return Timestamp::FromSeconds(s); }
JobUse Measured(const std::string& job, int64_t millicores, int64_t memory, int64_t seen_s) {
  return {job, "a", "prod", millicores, memory, 0, 0, seen_s};
}
TaskUse Part(const std::string& job, int64_t millicores, const std::string& tier = "prod") {
  return {job, "a", tier, QuotaVector::Of(millicores, 0)};
}
QuotaRequest Granted(uint64_t id, const std::string& job, int64_t millicores) {
  QuotaRequest out;
  out.id = id;
  out.asked = {.group = "a", .tier = "prod", .per_task = QuotaVector::Of(millicores, 0)};
  out.job = job;
  out.state = RequestState::kAdmitted;
  return out;
}

class Usage : public ::testing::Test {
 protected:
  int64_t Cpu(std::string_view tier = "prod") const { return usage_.InUse("a", tier).Get("cpu"); }
  void Measure(const std::vector<JobUse>& jobs, int64_t end_s) { usage_.SetMeasured(jobs, AtSecond(end_s)); }
  void Add(const std::vector<TaskUse>& parts) { usage_.AddTask(parts); }
  void Remove(const std::vector<TaskUse>& parts, bool ended = true) { usage_.RemoveTask(parts, ended); }

  GroupUsage usage_ = *GroupUsage::Make(UsageSpec());
};

TEST_F(Usage, TasksTakeThePlaceOfWhatWindowsMeasured) {
  Measure({Measured("web", 2000, 500, 300)}, 300);
  EXPECT_EQ(Cpu(), 2000);
  Add({Part("web", 3000)});
  EXPECT_EQ(Cpu(), 3000);
  EXPECT_EQ(usage_.InUse("a", "prod").Get("memory"), 500) << "the task requests no memory, but uses some";
  Measure({Measured("web", 2500, 600, 600)}, 600);
  EXPECT_EQ(Cpu(), 3000);
  Remove({Part("web", 3000)});
  EXPECT_EQ(Cpu(), 0) << "the windows measured the task that has ended";
  Measure({Measured("web", 2500, 600, 1200)}, 1200);
  EXPECT_EQ(Cpu(), 0) << "its last window closes late";
  Measure({Measured("web", 2500, 600, 1500)}, 1500);
  EXPECT_EQ(Cpu(), 2500) << "another source measures the job";
}

TEST_F(Usage, AJobWithTasksInTwoTiersCountsInBoth) {
  Measure({Measured("web", 4000, 0, 300)}, 300);
  Add({Part("web", 1000), Part("web", 2000, "batch")});
  EXPECT_EQ(Cpu(), 1000);
  EXPECT_EQ(Cpu("batch"), 2000);
  Remove({Part("web", 2000, "batch")});
  EXPECT_EQ(Cpu("batch"), 0);
  EXPECT_EQ(Cpu(), 1000);
}

TEST_F(Usage, ARequestCountsWithTheLargerOfItsAmountAndItsJobs) {
  usage_.Open(Granted(1, "shop", 3000));
  EXPECT_EQ(Cpu(), 3000);
  Add({Part("shop/web", 1000)});
  Measure({Measured("shop/db", 1500, 0, 300), Measured("shopping", 100, 0, 300)}, 300);
  EXPECT_EQ(Cpu(), 3100);
  Add({Part("shop/web", 1000)});
  EXPECT_EQ(Cpu(), 3600);
  usage_.Open(Granted(2, "shop/web", 2500));
  EXPECT_EQ(Cpu(), 3000 + 2500 + 100) << "the longest part of the name has the job";
  usage_.Close(1);
  EXPECT_EQ(Cpu(), 1500 + 2500 + 100);
  EXPECT_FALSE(usage_.IsMeasured(2)) << "no window has measured its job";
  usage_.Close(2);
  usage_.Close(2);  // no effect, because the request is already closed
  EXPECT_EQ(Cpu(), 1500 + 2000 + 100);
}

TEST_F(Usage, AClockThatGoesBackKeepsNoJobOut) {
  Add({Part("web", 3000)});
  Measure({Measured("web", 3000, 0, 90'000)}, 90'000);
  Remove({Part("web", 3000)});
  EXPECT_EQ(Cpu(), 0);
  Measure({Measured("web", 2000, 0, 300)}, 300);
  EXPECT_EQ(Cpu(), 2000);
}

TEST_F(Usage, AnotherQuotaCountsTheSameUse) {
  Measure({Measured("db", 1000, 0, 300)}, 300);
  Add({Part("web", 2000)});
  usage_.Open(Granted(1, "", 500));
  QuotaSpec without = UsageSpec();
  without.groups.erase(without.groups.begin() + 1);
  ASSERT_TRUE(usage_.ChangeQuota(without).ok());
  ASSERT_EQ(usage_.uncovered().size(), 1U);
  EXPECT_EQ(usage_.uncovered()[0].amounts, QuotaVector::Of(3500, 0));
  EXPECT_EQ(usage_.uncovered()[0].jobs, 2U);
  EXPECT_EQ(usage_.uncovered()[0].requests, 1U);
  ASSERT_TRUE(usage_.ChangeQuota(UsageSpec()).ok());
  EXPECT_EQ(Cpu(), 3500);
  EXPECT_FALSE(usage_.ChangeQuota({{{"a"}, {"a"}}}).ok());
  EXPECT_EQ(Cpu(), 3500);
}

// After any events, the counted use equals the use that a new object counts for the same jobs, tasks and requests.
TEST_F(Usage, EveryOrderOfEventsCountsTheSame) {
  Rng rng(5);
  std::map<std::string, std::vector<TaskUse>> tasks;
  std::map<uint64_t, QuotaRequest> open;
  std::vector<JobUse> measured;
  int64_t now_s = 0;
  const auto job = [&rng] { return StrCat("j", rng.Below(4), rng.Below(2) == 0 ? "/x" : ""); };
  for (uint64_t i = 1; i <= 4000; ++i) {
    const std::string name = StrCat("t", rng.Below(8));
    switch (rng.Below(5)) {
      case 0:
        measured.clear();
        now_s += 3600;  // after this time, no window measures a task that has ended
        for (int k = 0; k < 5; ++k)
          measured.push_back(Measured(StrCat("j", k), static_cast<int64_t>(rng.Below(900)), k, now_s));
        Measure(measured, now_s);
        break;
      case 1:
        if (tasks.contains(name)) Remove(tasks[name], false);
        tasks[name] = {Part(job(), static_cast<int64_t>(rng.Below(700))), Part(job(), 5, "batch")};
        Add(tasks[name]);
        break;
      case 2:
        if (tasks.contains(name)) Remove(tasks[name], false);
        tasks.erase(name);
        break;
      case 3:
        open[i] = Granted(i, StrCat("j", i % 4), static_cast<int64_t>(rng.Below(900)));
        for (const auto& [id, request] : open) {
          if (id != i && request.job == open[i].job) usage_.Close(id);
        }
        std::erase_if(open, [&](const auto& e) { return e.first != i && e.second.job == open.at(i).job; });
        usage_.Open(open[i]);
        break;
      default:
        if (!open.empty()) {
          usage_.Close(open.begin()->first);
          open.erase(open.begin());
        }
    }
    if (i % 50 != 0) continue;
    GroupUsage again = *GroupUsage::Make(UsageSpec());
    for (const auto& [id, request] : open) again.Open(request);
    again.SetMeasured(measured, AtSecond(now_s));
    for (const auto& [task, parts] : tasks) again.AddTask(parts);
    for (const char* tier : {"prod", "batch"})
      ASSERT_EQ(usage_.InUse("a", tier), again.InUse("a", tier)) << i;
  }
}

}  // namespace
}  // namespace taut::brain
