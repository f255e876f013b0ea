// Benchmarks the processing of one second of a task on its node, without reading the task.
#include <benchmark/benchmark.h>

#include <vector>

#include "node/agent/limit_mover.h"
#include "node/agent/task_meter.h"

namespace taut::node {
namespace {

void MeterSecond(benchmark::State& state) {
  TaskMeter meter{MeterOptions{}};
  std::vector<NodeWindow> windows;
  TaskReading reading;
  reading.cpu_usage_us = 0;
  reading.memory_working_set_bytes = 0;
  int64_t us = 1'800'000'000'000'000;
  uint64_t n = 0;
  for (auto _ : state) {
    us += 1'000'000;
    n = n * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    *reading.cpu_usage_us += 100'000 + (n >> 40) % 400'000;
    *reading.memory_working_set_bytes = n >> 34;
    meter.Add(reading, us, {us});
    meter.CloseUntil({us}, windows);
    if (windows.size() > 1000) windows.clear();
  }
  state.counters["state_bytes"] = static_cast<double>(meter.state_bytes());
}
BENCHMARK(MeterSecond);

void MoverSecondAtRest(benchmark::State& state) {
  LimitMover mover(Resource::kMemory, {});
  mover.SetCurrent(1e9);
  mover.SetTarget(1e9);
  int64_t us = 0;
  for (auto _ : state) {
    us += 1'000'000;
    benchmark::DoNotOptimize(mover.Next(5e8, 6e8, us));
  }
  state.counters["bytes"] = sizeof(LimitMover);
}
BENCHMARK(MoverSecondAtRest);

}  // namespace
}  // namespace taut::node
