// Time limit of the peak predictors: one window of 12,000 machines of 25 tasks, at the end of a block of the pool.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/overcommit/predictors.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

constexpr uint32_t kMachines = 12'000;
constexpr size_t kTasks = 25;
constexpr int kLoads = 64;  // number of different loads, which the machines share
constexpr int32_t kBlock = 24;

void Window(benchmark::State& state, const std::string& spec) {
  const std::unique_ptr<PeakPredictor> predictor = *NewPeakPredictor(spec, {});
  Rng rng(7);
  std::vector<std::vector<TaskLoad>> loads(kLoads);
  int32_t block = 0;
  double sum = 0;
  // Only the last window of each block is measured, because the earlier windows only fill the block.
  const auto window = [&] {
    for (auto& machine : loads) {
      machine.clear();
      for (size_t t = 0; t < kTasks; ++t)
        machine.push_back({t, static_cast<float>(-std::log(1 - rng.Uniform())), 10});
    }
    const WindowId now{++block * kBlock - 1};
    for (uint32_t m = 0; m < kMachines; ++m) predictor->Observe(now, m, Sum(loads[m % kLoads]));
    predictor->EndWindow(now);
  };
  for (int i = 0; i < 10 * 12; ++i) window();
  for (auto _ : state) {
    window();
    for (uint32_t m = 0; m < kMachines; ++m) sum += predictor->Predict(m);
  }
  benchmark::DoNotOptimize(sum);
  state.SetLabel("budget 1 s");
}
BENCHMARK_CAPTURE(Window, n_sigma, "n-sigma")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Window, machine_max, "machine-max")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Window, pool, "pool")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::brain
