// Performance budget of a bill: a month of 1,000 groups and 100,000 jobs, one entry per job and day, on one
// core.
#include <benchmark/benchmark.h>

#include <vector>

#include "brain/economy/bill.h"
#include "common/base/random.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr uint32_t kGroups = 1000, kJobs = 100'000;
constexpr int64_t kDays = 30, kDay = 86'400;

PriceSheet SheetOf(std::span<const ChargeRule> rules) {
  PriceSheet sheet;
  for (const ChargeRule rule : rules) {
    PriceTier tier;
    tier.name = StrCat("tier ", sheet.tiers.size());
    tier.rule = rule;
    tier.service_credit_ppm = 100'000;
    // The price changes at noon of a day, so that the entries of this day are split.
    tier.prices = {{0, {Money{30'000}, Money{4'000}}}, {14 * kDay + kDay / 2, {Money{28'000}, Money{3'900}}}};
    sheet.tiers.push_back(tier);
  }
  return sheet;
}

std::vector<UsageEntry> Entries(size_t tiers) {
  Rng rng(7);
  std::vector<UsageEntry> entries;
  entries.reserve(kJobs * kDays);
  for (int64_t day = 0; day < kDays; ++day) {
    for (uint32_t job = 0; job < kJobs; ++job) {
      UsageEntry entry;
      entry.start_s = day * kDay;
      entry.end_s = entry.start_s + kDay;
      entry.group = job % kGroups;
      entry.job = job;
      entry.tier = static_cast<uint16_t>(job % tiers);
      entry.slo_missed = rng.Below(100) == 0;
      for (UsageQuantities& q : entry.of) {
        q.request = rng.Below(100'000'000);
        q.usage = rng.Below(q.request + 1);
        q.reservation = 2 * q.request;
        q.peak = q.request / kDay;
      }
      entries.push_back(entry);
    }
  }
  return entries;
}

void Month(benchmark::State& state, const std::vector<ChargeRule>& rules) {
  const PriceSheet sheet = SheetOf(rules);
  const std::vector<UsageEntry> entries = Entries(rules.size());
  std::vector<CapacityWindow> windows;
  for (int64_t day = 0; day < kDays; ++day)
    windows.push_back(
        {day * kDay, (day + 1) * kDay, {20'000'000'000'000, 20'000'000'000'000}, Money{200'000'000'000}, {}});
  BillOptions options;
  options.idle = CostSharing::kProportional;
  size_t lines = 0;
  for (auto _ : state) {
    const Bill bill = *MakeBill(sheet, windows, entries, options);
    for (const JobBill& job : bill.jobs) lines += job.lines.size();
  }
  benchmark::DoNotOptimize(lines);
  state.SetLabel("budget 5 s");
}
BENCHMARK_CAPTURE(Month, all_rules,
                  {ChargeRule::kReservation, ChargeRule::kUsage, ChargeRule::kUsageSlackTax,
                   ChargeRule::kMaxRequestUsage, ChargeRule::kPeak})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Month, slack_tax, {ChargeRule::kUsageSlackTax})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::brain
