#include "server/control/job_totals.h"

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using testing::ElementsAre;

class JobTotalsTest : public ::testing::Test {
 protected:
  JobView& Add(std::string name, std::vector<brain::KeyValue> labels, uint32_t tasks, float usage,
               float owner, float would_be) {
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
    for (const GroupTotals& t : TotalsBy(view_, "team", which)) out.push_back(t.value.value_or("(none)"));
    return out;
  }
  FleetView view_;
};

// As in the sums of the fleet, a job that has ended saves nothing.
TEST_F(JobTotalsTest, AJobThatWasNotInTheLastWindowIsInNoSum) {
  view_.window = WindowId{10};
  Add("shop/web", {{"team", "shop"}}, 2, 100, 400, 150).last_seen_s = WindowId{11}.start_s();
  Add("shop/gone", {{"team", "shop"}}, 1, 300, 900, 10).last_seen_s = WindowId{10}.start_s();
  const JobTotals shop = TotalsBy(view_, "team", {}).at(0).totals;
  EXPECT_EQ(shop.jobs, 2U);
  EXPECT_EQ(shop.not_measured, 1U);
  EXPECT_EQ(shop.tasks, 2U);
  EXPECT_EQ(shop.amounts[static_cast<size_t>(Resource::kMemory)].would_save, 500);
}

TEST_F(JobTotalsTest, WholeMachinesAreCountedBesideTheSums) {
  Add("shop/web", {{"team", "shop"}}, 2, 100, 400, 150);
  Add("machine/node", {{"team", "shop"}, {"workload", "machine"}}, 1, 300, 900, 10).whole_machine = true;
  const JobTotals shop = TotalsBy(view_, "team", {}).at(0).totals;
  EXPECT_EQ(shop.jobs, 1U);
  EXPECT_EQ(shop.tasks, 2U);
  EXPECT_EQ(shop.whole_machines, 1U);
  EXPECT_EQ(shop.amounts[static_cast<size_t>(Resource::kMemory)].usage, 200);
  EXPECT_EQ(shop.amounts[static_cast<size_t>(Resource::kMemory)].would_save, 500);
}

TEST_F(JobTotalsTest, AddUpByTheValueOfALabel) {
  Add("shop/web", {{"team", "shop"}}, 2, 100, 400, 150);
  Add("shop/db", {{"team", "shop"}, {"tier", "data"}}, 1, 300, 300, 350);
  Add("pay/api", {{"team", "pay"}}, 1, 10, 1000, 100);
  Add("batch", {}, 3, 5, kAbsent, 10);
  const std::vector<GroupTotals> all = TotalsBy(view_, "team", {});
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
  // An unknown amount is not 0: a job without an owner's limit saves nothing, but its usage is included.
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

// Forecasts and outcomes by class and size, so that a good total cannot hide a bad group.
TEST_F(JobTotalsTest, SplitTheRiskByClassAndSize) {
  const auto add = [&](std::string name, float gib, brain::JobClass job_class, uint32_t tasks, float chance,
                       uint8_t over) {
    JobView& job = Add(std::move(name), {}, tasks, 1, gib * static_cast<float>(kGiB), 1);
    job.job_class = job_class;
    job.amounts[1].chance = chance;
    job.week[1] = {7, over};
  };
  add("a", 0.1F, brain::JobClass::kServing, 1, 0.01F, 0);
  add("b", 20, brain::JobClass::kServing, 12, 0.05F, 3);
  add("c", 16, brain::JobClass::kBatch, 2, 0.03F, 1);
  add("d", -1, brain::JobClass::kBatch, 2, kAbsent, 0);
  view_.jobs.back().amounts[1].owner_limit = kAbsent;
  view_.jobs.back().amounts[1].would_be = kAbsent;
  std::vector<GroupTotals> sizes = TotalsBy(view_, ":memory_size", {});
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_EQ(sizes[0].value, "under 256 MiB");
  EXPECT_EQ(sizes[1].value, "16 GiB and more") << "the bounds are in the upper group";
  EXPECT_FALSE(sizes[2].value.has_value());
  const TotalAmounts& large = sizes[1].totals.amounts[1];
  EXPECT_EQ(large.job_days, 14U);
  EXPECT_EQ(large.job_days_over, 4U);
  EXPECT_NEAR(large.mean_chance().value_or(-1), 0.04, 1e-6);
  EXPECT_FALSE(sizes[2].totals.amounts[1].mean_chance().has_value());
  const std::vector<GroupTotals> classes = TotalsBy(view_, ":class", {});
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].value, "batch");
  EXPECT_EQ(classes[1].totals.amounts[1].job_days_over, 3U);
  const std::vector<GroupTotals> tasks = TotalsBy(view_, ":tasks", {});
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[1].totals.jobs, 2U);
  EXPECT_EQ(tasks[2].value, "10 tasks and more");
}

TEST_F(JobTotalsTest, SplitByTheSizeInEachResource) {
  for (const Resource r : kResources) {
    JobView& job = Add(std::string(Name(r)), {}, 1, 1, kAbsent, kAbsent);
    job.amounts[IndexOf(r)].owner_limit = static_cast<float>(2 * UnitOf(r).large);
  }
  ASSERT_EQ(GroupProperties().size(), 2 + kNumResources);
  for (const Resource r : kResources) {
    const std::string by = StrCat(":", Name(r), "_size");
    EXPECT_EQ(GroupProperties()[2 + IndexOf(r)], by);
    const std::vector<GroupTotals> sizes = TotalsBy(view_, by, {});
    ASSERT_EQ(sizes.size(), 2U) << by;
    EXPECT_EQ(sizes[0].value, InCores(r) ? "1 to 4 cores" : "1 to 4 GiB");
    EXPECT_EQ(sizes[0].totals.jobs, 1U);
    EXPECT_EQ(sizes[1].totals.jobs, kNumResources - 1);
  }
}

}  // namespace
}  // namespace taut::server
