// Time limit of horizontal scaling: one pass with a decision for each of 100,000 jobs, after two weeks of load.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/replicas/policies.h"
#include "brain/replicas/task_sizing.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

constexpr int kJobs = 100'000;
// Number of different loads. The jobs share these loads, but each job has its own state.
constexpr int kLoads = 50;
constexpr int kMinutes = 14 * 1440;

double Wave(int minute, Rng& rng) {
  return std::max(0.0, 12 + 8 * std::sin(minute * 2 * M_PI / 1440) + rng.Normal());
}

struct Job {
  std::unique_ptr<ReplicaPolicy> policy;
  int count = 12;
};

void Pass(benchmark::State& state) {
  const ReplicaPolicyInfo& info = ReplicaPolicies()[static_cast<size_t>(state.range(0))];
  Rng rng(7);
  std::vector<Job> jobs;
  const auto decide = [&rng](Job& job, int minute) {
    job.count = job.policy->Decide(
        {Timestamp::FromSeconds(int64_t{minute} * 60), Wave(minute, rng), 1, job.count, 0});
  };
  for (int j = 0; j < kLoads; ++j) {
    jobs.push_back({info.make(ReplicaSettings())});
    for (int m = 0; m < kMinutes; ++m) decide(jobs.back(), m);
  }
  for (int j = kLoads; j < kJobs; ++j) {
    const Job& like = jobs[static_cast<size_t>(j % kLoads)];
    jobs.push_back({like.policy->Clone(), like.count});
  }
  int minute = kMinutes;
  double longest_s = 0;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    for (Job& job : jobs) decide(job, minute);
    longest_s =
        std::max(longest_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    ++minute;
  }
  state.counters["longest_ms"] = 1000 * longest_s;
  state.counters["bytes/job"] = static_cast<double>(jobs.front().policy->state_bytes());
  state.SetLabel(std::string(info.name) + ", budget 0.5 s");
}
BENCHMARK(Pass)
    ->DenseRange(0, static_cast<int64_t>(ReplicaPolicies().size()) - 1)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(20);

// Benchmarks the daily decision on the size of each job's tasks.
void Size(benchmark::State& state) {
  Rng rng(7);
  std::vector<float> loads;
  for (int h = 0; h < 168; ++h) loads.push_back(static_cast<float>(Wave(60 * h, rng)));
  DecayedLine memory(100);
  for (int i = 0; i < 400; ++i) memory.Add(i % 7, 1e9 + 1e8 * (i % 7));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ChooseSize({.loads = loads, .memory = &memory, .now_cores = 2}, SizingSettings(), ReplicaBounds()));
  }
  state.SetLabel("budget 20 us");
}
BENCHMARK(Size)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace taut::brain
