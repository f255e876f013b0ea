// Benchmarks the capacity service. The budget of CloseHour applies to a window that closes an hour, after 100 days
// of history and with the default tiers. Also measures the capacity of 100,000 jobs, or of 5,000 machines with 20
// tasks each, and saving the state.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "server/pool/capacity_fixture.h"

namespace taut::server {
namespace {

constexpr int32_t kFirstHour = 480'000;

std::vector<CapacityTier> Tiers() {
  const JobTiers tiers(JobTiers::Options{});
  return {tiers.tiers().begin(), tiers.tiers().end()};
}

// Adds the last half of an hour's windows, the minimum number for a value of the hour.
void FillHour(CapacityService& service, MadeCell& cell, int32_t hour) {
  for (int32_t w = kWindowsPerHour / 2; w < kWindowsPerHour; ++w) {
    CellCapacity window = cell.At(hour * kWindowsPerHour + w);
    for (CapacityAmounts& a : window.of) {
      for (std::vector<double>* of : {&a.use, &a.allocated, &a.bought}) of->resize(5, (*of)[1] / 2);
    }
    service.OnWindow(window);
  }
}

// Returns a service after a hundred days. Makes no quotes for these days, because the quotes would take a minute.
CapacityService& Full() {
  static CapacityService service(Tiers());
  if (service.window().has_value()) return service;
  std::vector<CapacityTier> reserved = Tiers();
  for (CapacityTier& tier : reserved) tier.sale = brain::TierSale::kReserved;
  CapacityService filled(reserved);
  MadeCell cell;
  for (int32_t h = kFirstHour; h < kFirstHour + kCapacityHours; ++h) FillHour(filled, cell, h);
  if (!service.LoadState(filled.SaveState()).ok()) std::abort();
  return service;
}

void CloseHour(benchmark::State& state) {
  CapacityService& service = Full();
  MadeCell cell;
  static int32_t hour = kFirstHour + kCapacityHours;
  for (auto _ : state) FillHour(service, cell, hour++);
  state.counters["KB"] = static_cast<double>(service.View()->bytes) / 1e3;
  state.SetLabel("budget 200 ms");
}
BENCHMARK(CloseHour)->Unit(benchmark::kMillisecond)->Iterations(10);

// Measures a window that does not close an hour.
void OtherWindow(benchmark::State& state) {
  CapacityService& service = Full();
  MadeCell cell;
  static int32_t window = (service.window()->index / kWindowsPerHour + 1000) * kWindowsPerHour;
  for (auto _ : state) service.OnWindow(cell.At(window++));
  state.SetLabel("budget 0.1 ms");
}
BENCHMARK(OtherWindow)->Unit(benchmark::kMicrosecond)->Iterations(kWindowsPerHour - 2);

void Save(benchmark::State& state) {
  const CapacityService& service = Full();
  std::string bytes;
  for (auto _ : state) bytes = service.SaveState();
  state.counters["KB"] = static_cast<double>(bytes.size()) / 1e3;
  state.SetLabel("budget 10 ms");
}
BENCHMARK(Save)->Unit(benchmark::kMillisecond)->Iterations(20);

void OfJobs(benchmark::State& state) {
  FleetView fleet;
  fleet.window = WindowId{6'000'000};
  for (uint32_t j = 0; j < 100'000; ++j) {
    JobView& job = fleet.jobs.emplace_back();
    auto record = std::make_shared<JobRecord>();
    record->id = {j};
    record->name = fmt::format("shop/deployment/job-{}/app", j);
    job.record = record;
    job.tasks = 3;
    job.last_seen_s = fleet.window->next().start_s();
    for (JobAmounts& a : job.amounts) a.usage = a.peak = a.limit = 1;
  }
  brain::Pricing pricing;
  pricing.sheet = brain::DefaultTiers();
  pricing.tier_rules = {{"*/cronjob/*", std::nullopt, std::nullopt, 3},
                        {"*/batch-*", std::nullopt, std::nullopt, 3}};
  pricing.pool.emplace();
  pricing.pool->cores = 1e6;
  pricing.pool->memory_bytes = 1e15;
  const JobTiers tiers(JobTiers::Options{.pricing = &pricing});
  for (auto _ : state)
    benchmark::DoNotOptimize(CellCapacityOf({fleet, nullptr, &*pricing.pool, nullptr, nullptr, tiers}));
  state.SetLabel("budget 50 ms");
}
BENCHMARK(OfJobs)->Unit(benchmark::kMillisecond);

void OfMachines(benchmark::State& state) {
  FleetView fleet;
  fleet.window = WindowId{6'000'000};
  MachinesView machines;
  for (uint32_t m = 0; m < 5000; ++m) {
    auto machine = std::make_shared<MachineView>();
    machine->name = fmt::format("node-{:04}", m);
    machine->source = "kubernetes";
    machine->present = machine->ready = true;
    for (MachineAmounts& a : machine->amounts) a.capacity = a.usage = 32;
    for (uint32_t t = 0; t < 20; ++t) {
      MachineTaskView& task = machine->tasks.emplace_back();
      task.job = fmt::format("shop/deployment/job-{}/app", (m * 20 + t) / 100);
      task.limit = {2.0, 8e9};
      task.usage = {1.0, 4e9};
    }
    machines.machines.push_back(machine);
  }
  const JobTiers tiers(JobTiers::Options{});
  for (auto _ : state)
    benchmark::DoNotOptimize(CellCapacityOf({fleet, &machines, nullptr, nullptr, nullptr, tiers}));
  state.SetLabel("budget 50 ms");
}
BENCHMARK(OfMachines)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::server
