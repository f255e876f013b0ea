// Benchmarks the machine service: one window of 5,000 machines with 20 tasks each, for both resources, at the end
// of a block of the pool. Also measures saving and loading the state.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "fmt/format.h"
#include "server/pool/machine_service.h"

namespace taut::server {
namespace {

constexpr uint32_t kMachines = 5000, kTasks = 20;
constexpr int32_t kBlock = 24;

struct Cell {
  Cell() {
    for (uint32_t m = 0; m < kMachines; ++m) {
      PlacedMachine& machine = placed.emplace_back();
      machine.name = fmt::format("node-{:04}", m);
      machine.capacity = {32.0, 128e9};
      for (uint32_t t = 0; t < kTasks; ++t) {
        PlacedTask& task = machine.tasks.emplace_back();
        task.job = fmt::format("shop/deployment/job-{}/app", (m * kTasks + t) / 100);
        task.task = fmt::format("pod-5d4f8c7b9d-{:06}", m * kTasks + t);
        task.asked = task.cap = {2.0, 8e9};
        task.number = TaskRef{JobId{(m * kTasks + t) / 100}, (m * kTasks + t) % 100};
      }
    }
    closed.jobs.resize(kMachines * kTasks / 100);
    for (uint32_t j = 0; j < closed.jobs.size(); ++j) {
      closed.jobs[j].job = {j};
      closed.jobs[j].window.first_task = j * 100;
      closed.jobs[j].window.num_tasks = 100;
    }
    closed.tasks.resize(size_t{kMachines} * kTasks);
    for (uint32_t i = 0; i < closed.tasks.size(); ++i) closed.tasks[i].task = i % 100;
  }
  void Window(MachineService& service) {
    now.index += kBlock;
    closed.window = now;
    for (TaskWindow& t : closed.tasks) {
      t.cpu_mean_cores = t.cpu_peak_cores =
          static_cast<float>(std::min(2.0, -std::log(1 - rng.Uniform()) / 2));
      t.memory_mean_bytes = t.memory_peak_bytes = 3e9F * t.cpu_mean_cores;
    }
    std::vector<PlacementOf> placement = {{"kubernetes", placed}};
    service.OnWindow(closed, std::move(placement));
  }
  std::vector<PlacedMachine> placed;
  ClosedWindow closed;
  WindowId now{kBlock - 1};
  Rng rng{7};
};

// Adds 12 days of blocks, so that the ring buffers are full and forecasts are compared.
Cell& Warm(MachineService& service) {
  static Cell cell;
  for (int i = 0; i < 12 * 12; ++i) cell.Window(service);
  return cell;
}

void Window(benchmark::State& state) {
  MachineService service({});
  Cell& cell = Warm(service);
  for (auto _ : state) cell.Window(service);
  benchmark::DoNotOptimize(service.View());
  state.SetLabel("budget 1 s");
}
BENCHMARK(Window)->Unit(benchmark::kMillisecond)->Iterations(20);

void Save(benchmark::State& state) {
  MachineService service({});
  Warm(service);
  size_t bytes = 0;
  for (auto _ : state) bytes = service.SaveState().size();
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
  state.SetLabel("budget 1 s");
}
BENCHMARK(Save)->Unit(benchmark::kMillisecond)->Iterations(5);

void Load(benchmark::State& state) {
  MachineService service({});
  Warm(service);
  const std::string bytes = service.SaveState();
  for (auto _ : state) {
    MachineService other({});
    benchmark::DoNotOptimize(other.LoadState(bytes));
  }
  state.SetLabel("budget 1 s");
}
BENCHMARK(Load)->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace taut::server
