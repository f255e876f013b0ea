#include "server/pool/cell_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "server/pool/capacity_fixture.h"

namespace taut::server {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
constexpr Resource kMemory = Resource::kMemory;
constexpr WindowId kWindow{500'000};

brain::Pricing MadePricing() {
  brain::Pricing pricing;
  for (const auto& [name, availability] :
       {std::pair("production", 999'000), std::pair("batch", 980'000), std::pair("free", 0)}) {
    brain::PriceTier tier;
    tier.name = name;
    tier.availability_ppm = availability;
    pricing.sheet.tiers.push_back(tier);
  }
  pricing.tier_rules = {{"batch/*", std::nullopt, std::nullopt, 1}};
  pricing.pool.emplace();
  pricing.pool->cores = 200;
  pricing.pool->memory_bytes = 1e12;
  return pricing;
}

std::shared_ptr<MachineView> Machine(std::string name, std::string source, double cores) {
  auto m = std::make_shared<MachineView>();
  m->name = std::move(name);
  m->source = std::move(source);
  m->present = m->ready = true;
  m->amounts[0].capacity = cores;
  m->amounts[0].usage = 0;
  return m;
}
void AddTask(MachineView& m, std::string job, double limit, double usage) {
  MachineTaskView& task = m.tasks.emplace_back();
  task.job = std::move(job);
  task.limit[0] = limit;
  task.usage[0] = usage;
  m.amounts[0].usage = *m.amounts[0].usage + usage;
  m.amounts[0].limits = m.amounts[0].limits.value_or(0) + limit;
}

struct MadeInput {
  brain::Pricing pricing = MadePricing();
  JobTiers tiers{JobTiers::Options{.pricing = &pricing}};
  FleetView fleet;
  MachinesView machines;
  MadeInput() { fleet.window = kWindow; }

  void AddJob(uint32_t id, std::string name, uint32_t tasks, float usage, float limit,
              int64_t windows_ago = 0) {
    JobView& job = fleet.jobs.emplace_back();
    auto record = std::make_shared<JobRecord>();
    record->id = {id};
    record->name = std::move(name);
    job.record = record;
    job.tasks = tasks;
    job.last_seen_s = kWindow.next().start_s() - windows_ago * 300;
    job.amounts[0].usage = usage;
    job.amounts[0].limit = limit;
    job.amounts[1].usage = 1e9F;
    job.amounts[1].peak = 2e9F;
  }
  CellCapacity Of(const MachinesView* from, const brain::PoolPrices* pool,
                  const QuotaView* quota = nullptr) const {
    return CellCapacityOf({fleet, from, pool, quota, nullptr, tiers});
  }
};

TEST(CellCapacity, IsOfTheMachinesThatTakeTasks) {
  MadeInput s;
  auto a = Machine("a", "kubernetes", 16);
  AddTask(*a, "shop/web", 4, 3);
  AddTask(*a, "batch/sort", 6, 2);
  a->amounts[0].predicted = 9;
  auto drained = Machine("b", "kubernetes", 16);
  drained->ready = false;
  AddTask(*drained, "shop/web", 4, 3);
  auto away = Machine("c", "kubernetes", 16);
  away->present = false;
  s.machines.machines = {a, drained, away};
  const CellCapacity cell = s.Of(&s.machines, &*s.pricing.pool);
  EXPECT_EQ(cell.source, CapacitySource::kMachines);
  const CapacityAmounts& cpu = cell.amounts(kCpu);
  EXPECT_EQ(cpu.capacity, 16);
  EXPECT_EQ(cpu.allocation, 10);
  EXPECT_EQ(cpu.usage, 5);
  EXPECT_EQ(cpu.forecast, 9);
  EXPECT_THAT(cpu.use, ElementsAre(3, 2, 0));
  EXPECT_THAT(cpu.allocated, ElementsAre(4, 6, 0));
  EXPECT_EQ(cpu.reservation, std::nullopt) << "no quota is configured";
  EXPECT_EQ(cell.amounts(kMemory).capacity, std::nullopt) << "of no machine";
}

TEST(CellCapacity, AMachineThatTwoSourcesHaveCountsOnce) {
  MadeInput s;
  auto agents = Machine("a", "agents", 16);
  agents->amounts[0].usage.reset();
  auto cluster = Machine("a", "kubernetes", 15);
  AddTask(*cluster, "shop/web", 4, 3);
  s.machines.machines = {agents, cluster, Machine("b", "agents", 8)};
  const CellCapacity cell = s.Of(&s.machines, nullptr);
  EXPECT_EQ(cell.machines, 2U);
  EXPECT_EQ(cell.amounts(kCpu).capacity, 15 + 8) << "as the source says that measures its tasks";
  EXPECT_EQ(cell.amounts(kCpu).usage, 3);
}

TEST(CellCapacity, NothingOfAnUnmeasuredMachineIsOffered) {
  MadeInput s;
  auto a = Machine("a", "agents", 16);
  AddTask(*a, "shop/web", 4, 3);
  auto b = Machine("b", "agents", 8);
  AddTask(*b, "batch/sort", 4, 3);
  b->amounts[0].usage.reset();
  s.machines.machines = {a, b};
  CellCapacity cell = s.Of(&s.machines, nullptr);
  EXPECT_EQ(cell.amounts(kCpu).capacity, 24);
  EXPECT_EQ(cell.amounts(kCpu).usage, 3);
  EXPECT_THAT(cell.amounts(kCpu).use, ElementsAre(3 + 8, 0, 0));
  EXPECT_EQ(cell.unmeasured_machines, 1U);
  b->amounts[0].capacity = 20;
  cell = s.Of(&s.machines, nullptr);
  EXPECT_EQ(cell.amounts(kCpu).usage, std::nullopt) << "more than half was not measured";
  EXPECT_TRUE(cell.amounts(kCpu).use.empty());
  EXPECT_EQ(cell.amounts(kCpu).allocation, 8);
}

TEST(CellCapacity, WithoutMachinesItIsThePoolOfThePriceFileAndAllJobs) {
  MadeInput s;
  s.AddJob(1, "shop/web", 3, 2, 4);
  s.AddJob(2, "batch/sort", 2, 1, kAbsent);
  s.AddJob(3, "shop/gone", 5, 1, 2, 4);
  s.AddJob(4, "shop/late", 1, 1, 2, 2);
  const CellCapacity cell = s.Of(&s.machines, &*s.pricing.pool);
  EXPECT_EQ(cell.source, CapacitySource::kPool);
  const CapacityAmounts& cpu = cell.amounts(kCpu);
  EXPECT_EQ(cpu.capacity, 200);
  EXPECT_EQ(cpu.usage, 6 + 2 + 1) << "a job that was not measured for 15 minutes uses nothing";
  EXPECT_EQ(cpu.allocation, 12 + 2 + 2) << "without a limit, what it uses";
  EXPECT_THAT(cpu.use, ElementsAre(7, 2, 0));
  EXPECT_THAT(*cell.amounts(kMemory).usage, DoubleEq(6 * 2e9)) << "of memory the peak";
  EXPECT_EQ(cpu.forecast, std::nullopt);
}

TEST(CellCapacity, IsAbsentWhileTheSourceIsSilent) {
  MadeInput s;
  s.AddJob(1, "shop/web", 3, 2, 4, 1);
  const CellCapacity cell = s.Of(nullptr, nullptr);
  EXPECT_EQ(cell.source, CapacitySource::kNone);
  EXPECT_EQ(cell.amounts(kCpu).usage, std::nullopt);
  EXPECT_EQ(cell.amounts(kCpu).capacity, std::nullopt);
}

TEST(CellCapacity, ReservationIsWhatIsBoughtOrAllocated) {
  MadeInput s;
  s.AddJob(1, "shop/web", 3, 2, 4);
  s.AddJob(2, "batch/sort", 2, 1, 3);
  QuotaView quota;
  brain::QuotaRowView& row = quota.rows.emplace_back();
  row.tier = "production";
  row.resource = brain::kQuotaCpu;
  row.cell.nominal = 50'000;
  brain::QuotaRowView& other = quota.rows.emplace_back();
  other.tier = "batch";
  other.resource = brain::kQuotaCpu;
  other.cell.nominal = 1000;
  brain::QuotaRowView& gpu = quota.rows.emplace_back();
  gpu.tier = "batch";
  gpu.resource = "gpu";
  gpu.cell.nominal = 8;
  const CellCapacity cell = s.Of(nullptr, &*s.pricing.pool, &quota);
  EXPECT_EQ(cell.amounts(kCpu).reservation, 50 + 6);
  EXPECT_THAT(cell.amounts(kCpu).bought, ElementsAre(50, 1, 0));
}

TEST(CellCapacity, JobsOfATierThatIsNotSoldCountAsTheFirst) {
  MadeInput s;
  s.AddJob(1, "shop/web", 3, 2, 4);
  JobTiers other(JobTiers::Options{.default_tier = "gold"});
  EXPECT_EQ(other.tiers().size(), 5U) << "the default tiers";
  EXPECT_EQ(other.tiers()[3].name, "batch");
  EXPECT_EQ(other.tiers()[3].promise, 0.98);
  EXPECT_EQ(other.tiers()[3].sale, brain::TierSale::kSlack);
  const CellCapacity cell = CellCapacityOf({s.fleet, nullptr, nullptr, nullptr, nullptr, other});
  EXPECT_EQ(cell.amounts(kCpu).use[0], 6);
  EXPECT_EQ(cell.jobs_of_unknown_tier, 1U);
  EXPECT_EQ(cell.unknown_tier, "gold");
}

}  // namespace
}  // namespace taut::server
