// Benchmarks one tier of a replayed pool: a day of 10,000 jobs that request twice the capacity, on one core.
#include <benchmark/benchmark.h>

#include <vector>

#include "common/base/random.h"
#include "common/base/time.h"
#include "tools/sim/tier_simulation.h"

namespace taut::tools {
namespace {

constexpr uint32_t kJobs = 10'000;

void DayOfATier(benchmark::State& state) {
  Rng rng(5);
  const std::vector<PoolJob> lives(kJobs, PoolJob{0, kWindowsPerDay - 1, 0});
  const std::vector<int32_t> period(kWindowsPerDay, 0);
  std::vector<PoolJobStep> jobs;
  int64_t asked = 0;
  for (uint32_t j = 0; j < kJobs; ++j) {
    const auto ask = static_cast<int64_t>(1 + rng.Below(1000));
    jobs.push_back({j, {ask, ask}, {ask / 2, ask / 2}});
    asked += ask;
  }
  TierSellerOptions seller;
  seller.capacity = {asked, asked};
  TierSimulationOptions options;
  options.capacity = seller.capacity;
  options.availability_ppm = seller.availability_ppm;
  options.period = period;
  PoolLines lines;
  for (auto _ : state) {
    TierSimulation run(options, lives, *NewTierSeller(SellerPolicy::kGreedy, seller, nullptr), nullptr);
    for (int32_t step = 0; step < kWindowsPerDay; ++step) {
      const double use = static_cast<double>(asked) * rng.Uniform(0.4, 0.6);
      benchmark::DoNotOptimize(run.Step({{use, use}, {}, jobs}, lines, nullptr));
    }
  }
  state.SetLabel("budget 0.3 s");
}
BENCHMARK(DayOfATier)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::tools
