// Tests of the amounts from which a window's costs are computed: usage and limits in force.
#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

AccountEntry Observed(LiveFleet& fleet, const ClosedWindow& closed, PassOutput& out) {
  std::vector<AccountEntry> account;
  fleet.pass.Observe(closed, 0, 1, out);
  fleet.pass.Account(closed, 0, 1, account);
  fleet.pass.EndWindow(closed, out);
  fleet.pass.Decide(closed, 0, 1, out);
  return account.at(0);
}

TEST(LiveAccount, CountsUsageAndTheOwnersLimit) {
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kObserve));
  AddJobs(fleet, 1);
  PassOutput out;
  const AccountEntry entry = Observed(fleet, TwoTasks(0, 4, kAbsent), out);
  const AccountAmounts& cpu = entry.amounts(Resource::kCpu);
  EXPECT_EQ(cpu.usage, 600'000U) << "2 cores for 300 s";
  EXPECT_EQ(cpu.allocation, 2'400'000U);
  EXPECT_EQ(cpu.billed, 2'400'000U);
  EXPECT_EQ(cpu.owner, 2'400'000U);
  EXPECT_EQ(cpu.would_be, 2'400'000U) << "nothing is recommended yet";
  EXPECT_EQ(cpu.windows, 1U);
  EXPECT_EQ(cpu.windows_without_allocation, 0U);
  const AccountAmounts& memory = entry.amounts(Resource::kMemory);
  EXPECT_EQ(memory.usage, 614'400U) << "2 GiB for 300 s, in MiB";
  EXPECT_EQ(memory.allocation, 0U);
  EXPECT_EQ(memory.windows_without_allocation, 1U) << "absent, not 0";
  EXPECT_EQ(memory.billed, memory.usage);
}

// The usage of a machine includes the usage of its jobs, so a sum of both would count the jobs twice.
TEST(LiveAccount, AWholeMachineIsInNoSum) {
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kObserve));
  fleet.AddJob({JobId{0}, "machine/node", {{"workload", "machine"}}, 0});
  PassOutput out;
  std::vector<AccountEntry> account;
  const ClosedWindow closed = TwoTasks(0, 4, static_cast<float>(kGiB));
  fleet.pass.Observe(closed, 0, 1, out);
  fleet.pass.Account(closed, 0, 1, account);
  fleet.pass.EndWindow(closed, out);
  fleet.pass.Decide(closed, 0, 1, out);
  EXPECT_TRUE(account.empty());
  EXPECT_EQ(out.point.jobs, 0U);
  EXPECT_EQ(out.point.tasks, 0U);
  for (const FleetAmounts& a : out.point.amounts) {
    EXPECT_EQ(a.jobs, 0U);
    EXPECT_EQ(a.usage, 0);
    EXPECT_EQ(a.owner_limit, 0);
  }
  EXPECT_GT(fleet.job(JobId{0}).of(Resource::kCpu).usage_mean, 0) << "it is measured";
}

// A decision at a window's end applies only to later windows.
TEST(LiveAccount, TheLimitThatWasInForceInTheWindowCounts) {
  LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
  settings.vertical.moving_window.min_history_s = 3600;
  LiveFleet fleet(settings);
  AddJobs(fleet, 1);
  PassOutput out;
  const auto memory_limit = static_cast<float>(8 * kGiB);
  AccountEntry entry;
  int32_t w = 0;
  for (; w < kWindowsPerDay && !fleet.job(JobId{0}).of(Resource::kCpu).gate.in_force.has_value(); ++w) {
    entry = Observed(fleet, TwoTasks(w, 4, memory_limit), out);
  }
  ASSERT_LT(w, kWindowsPerDay);
  EXPECT_EQ(entry.amounts(Resource::kCpu).allocation, 2'400'000U);
  const double limit = *fleet.job(JobId{0}).of(Resource::kCpu).gate.in_force;
  entry = Observed(fleet, TwoTasks(w, 4, memory_limit), out);
  EXPECT_EQ(entry.amounts(Resource::kCpu).allocation, static_cast<uint64_t>(std::llround(limit * 600'000)));
  EXPECT_EQ(entry.amounts(Resource::kCpu).owner, 2'400'000U);
  // Without enforcement, the owner's limit applies.
  settings.enforcement = Enforcement::kNever;
  fleet.Reload(settings);
  entry = Observed(fleet, TwoTasks(w + 1, 4, memory_limit), out);
  EXPECT_EQ(entry.amounts(Resource::kCpu).allocation, 2'400'000U);
  EXPECT_LT(entry.amounts(Resource::kCpu).would_be, 2'400'000U);
}

// A cluster bills requests, so accounts use the owner's request if there is one.
TEST(LiveAccount, ARequestBesideALimitIsWhatIsBilled) {
  LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kObserve);
  settings.vertical.moving_window.min_history_s = 3600;
  LiveFleet fleet(settings);
  AddJobs(fleet, 1);
  PassOutput out;
  AccountEntry entry;
  const LiveLane& cpu = fleet.job(JobId{0}).of(Resource::kCpu);
  for (int32_t w = 0; w < kWindowsPerDay && !cpu.lane.recommended().has_value(); ++w) {
    ClosedWindow closed = TwoTasks(w, 4, static_cast<float>(8 * kGiB));
    closed.jobs[0].requests.cpu_cores = 2;
    fleet.pass.TakeOwnersAmounts(closed, 0, 1);
    entry = Observed(fleet, closed, out);
    EXPECT_EQ(entry.amounts(Resource::kCpu).owner, 1'200'000U);
    EXPECT_EQ(entry.amounts(Resource::kCpu).allocation, 1'200'000U);
  }
  ClosedWindow closed = TwoTasks(kWindowsPerDay, 4, static_cast<float>(8 * kGiB));
  entry = Observed(fleet, closed, out);
  const double recommended = *cpu.lane.recommended();
  EXPECT_NEAR(static_cast<double>(entry.amounts(Resource::kCpu).would_be), recommended / 2 * 600'000, 600)
      << "half the limit, also in a window whose series of requests did not come";
  EXPECT_EQ(entry.amounts(Resource::kMemory).owner, static_cast<uint64_t>(8 * 1024 * 600)) << "no request";
  // The request stays because an autoscaler uses it, so no amount is saved.
  fleet.owners.SetRequestStays(JobId{0}, Resource::kCpu, true);
  entry = Observed(fleet, TwoTasks(kWindowsPerDay + 1, 4, static_cast<float>(8 * kGiB)), out);
  EXPECT_EQ(entry.amounts(Resource::kCpu).would_be, 1'200'000U);
}

}  // namespace
}  // namespace taut::brain
