#include "control/job_totals.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

using testing::ElementsAre;

class JobTotalsTest : public ::testing::Test {
 protected:
  JobView& Add(std::string name, std::vector<KeyValue> labels, uint32_t tasks, float usage, float owner,
               float would_be) {
    const JobId id{static_cast<uint32_t>(view_.jobs.size())};
    JobView& job = view_.jobs.emplace_back();
    job.record = std::make_shared<const JobRecord>(JobRecord{id, std::move(name), std::move(labels), 0});
    job.tasks = tasks;
    JobAmounts& memory = job.amounts[static_cast<size_t>(Resource::kMemory)];
    memory.usage = usage;
    memory.owner_limit = memory.limit = owner;
    memory.would_be = would_be;
    if (owner >= 0) view_.point.amounts[1].owner_limit += double{owner} * tasks;
    return job;
  }
  std::vector<std::string> Values(const JobsQuery& which) const {
    std::vector<std::string> out;
    for (const LabelTotals& t : TotalsByLabel(view_, "team", which))
      out.push_back(t.value.value_or("(none)"));
    return out;
  }
  FleetView view_;
};

TEST_F(JobTotalsTest, AddUpByTheValueOfALabel) {
  Add("shop/web", {{"team", "shop"}}, 2, 100, 400, 150);
  Add("shop/db", {{"team", "shop"}, {"tier", "data"}}, 1, 300, 300, 350);
  Add("pay/api", {{"team", "pay"}}, 1, 10, 1000, 100);
  Add("batch", {}, 3, 5, kAbsent, 10);
  const std::vector<LabelTotals> all = TotalsByLabel(view_, "team", {});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(Values({}), ElementsAre("pay", "shop", "(none)")) << "the greatest saving first";
  const JobTotals& shop = all[1].totals;
  EXPECT_EQ(shop.jobs, 2U);
  EXPECT_EQ(shop.tasks, 3U);
  const TotalAmounts& memory = shop.amounts[static_cast<size_t>(Resource::kMemory)];
  EXPECT_EQ(memory.usage, 500);
  EXPECT_EQ(memory.owner_limit, 1100);
  EXPECT_EQ(memory.limit, 1100);
  EXPECT_EQ(memory.would_be, 650);
  EXPECT_EQ(memory.would_save, 450);
  EXPECT_EQ(memory.saved, 0);
  // What is not known is not 0: a job without a limit of its owner saves nothing, and is used all the same.
  const TotalAmounts& none = all[2].totals.amounts[static_cast<size_t>(Resource::kMemory)];
  EXPECT_EQ(none.usage, 15);
  EXPECT_EQ(none.owner_limit, 0);
  EXPECT_EQ(none.would_save, 0);
  EXPECT_EQ(shop.amounts[static_cast<size_t>(Resource::kCpu)].usage, 0) << "CPU is not measured";
  EXPECT_THAT(LabelNames(view_), ElementsAre("team", "tier"));
}

TEST_F(JobTotalsTest, CountOnlyTheJobsThatFit) {
  Add("shop/web", {{"team", "shop"}}, 2, 100, 400, 150).mode = Mode::kAuto;
  Add("shop/db", {{"team", "data"}}, 1, 300, 300, 350);
  Add("pay/api", {{"team", "pay"}}, 1, 10, 1000, 100);
  JobsQuery which;
  which.search = "SHOP";
  EXPECT_THAT(Values(which), ElementsAre("shop", "data"));
  which.mode = Mode::kObserve;
  EXPECT_THAT(Values(which), ElementsAre("data"));
  which.search = "nothing";
  EXPECT_THAT(Values(which), ElementsAre());
}

}  // namespace
}  // namespace taut
