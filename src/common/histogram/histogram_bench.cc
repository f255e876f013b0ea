// Benchmarks the histograms, on data that resemble the usage of a real job: log-normal usage over eight days.
//
//   add, hot <= 10 ns · p95 <= 60 ns · checkpoint and restore of 100,000 containers <= 1 s each
//
// Each benchmark prints its time limit beside the figure, in the unit of its name or counter.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/base/time.h"
#include "common/histogram/checkpoint.h"
#include "common/histogram/decay_bank.h"
#include "common/histogram/decaying_histogram.h"
#include "common/histogram/sliding_max.h"

namespace taut {
namespace {

constexpr double kHour = 3600;
const std::vector<double> kHalfLives = {1 * kHour,  3 * kHour,  6 * kHour,  12 * kHour,
                                        24 * kHour, 48 * kHour, 96 * kHour, 168 * kHour};

double LogNormal(Rng& rng) { return 0.3 * std::exp(0.5 * rng.Normal()); }

std::vector<double> Values(size_t count) {
  Rng rng(7);
  std::vector<double> values(count);
  for (double& v : values) v = LogNormal(rng);
  return values;
}

DecayingHistogram EightDays(uint64_t seed) {
  DecayingHistogram h(Grid::Cpu(), 12 * kHour);
  Rng rng(seed);
  for (int t = 0; t < 8 * kWindowsPerDay; ++t) {
    for (int i = 0; i < 8; ++i) h.Add(LogNormal(rng), 1.0, t * kWindowSeconds);
  }
  return h;
}

void Budget(benchmark::State& state, double ns) { state.counters["budget_ns"] = ns; }

void BM_BucketOf(benchmark::State& state) {
  const std::vector<double> values = Values(4096);
  const Grid& grid = Grid::Cpu();
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(grid.BucketOf(values[i++ & 4095]));
}
BENCHMARK(BM_BucketOf);

// Adds to one histogram in cache. Time advances by a window every 8 samples, so that rescales are included.
void BM_AddHot(benchmark::State& state) {
  DecayingHistogram h = EightDays(1);
  const std::vector<double> values = Values(4096);
  int64_t n = 8 * 8 * kWindowsPerDay;
  for (auto _ : state) {
    h.Add(values[static_cast<size_t>(n) & 4095], 1.0, n / 8 * kWindowSeconds);
    ++n;
  }
  benchmark::DoNotOptimize(h);
  Budget(state, 10);
}
BENCHMARK(BM_AddHot);

// Adds to a fleet: each sample is added to the next of 10,000 histograms, which together exceed the cache.
void BM_AddRoundRobin10k(benchmark::State& state) {
  std::vector<DecayingHistogram> fleet;
  for (uint64_t i = 0; i < 10'000; ++i) fleet.push_back(EightDays(i % 16));
  const std::vector<double> values = Values(4096);
  size_t next = 0;
  int64_t n = 0;
  for (auto _ : state) {
    const int64_t time_s = (8 * kWindowsPerDay + n / 10'000) * kWindowSeconds;
    fleet[next].Add(values[static_cast<size_t>(n) & 4095], 1.0, time_s);
    next = next == 9'999 ? 0 : next + 1;
    ++n;
  }
  state.counters["state_bytes"] = static_cast<double>(fleet[0].state_bytes());
}
BENCHMARK(BM_AddRoundRobin10k);

void BM_Percentile(benchmark::State& state) {
  const double p = static_cast<double>(state.range(0)) / 100;
  const auto of = state.range(1) != 0 ? PercentileOf::kLoad : PercentileOf::kTime;
  std::vector<DecayingHistogram> histograms;
  for (uint64_t i = 0; i < 16; ++i) histograms.push_back(EightDays(i));
  size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(histograms[i++ & 15].Percentile(p, of));
  Budget(state, 60);
}
BENCHMARK(BM_Percentile)->ArgNames({"p", "load"})->ArgsProduct({{50, 90, 95, 98}, {0, 1}});

DecayBank EightDayBank(const DecayRates& rates, uint64_t seed) {
  DecayBank bank(rates);
  Rng rng(seed);
  for (int t = 0; t < 8 * kWindowsPerDay; ++t) {
    const Bucket b = Grid::Cpu().BucketOf(LogNormal(rng));
    bank.Step(1, std::vector<BucketShare>{
                     {b, 4}, {static_cast<Bucket>(b + 1), 2}, {static_cast<Bucket>(b + 2), 1}});
  }
  return bank;
}

// Steps a bank of eight rates. Argument: number of buckets in a window's signal.
void BM_BankStep(benchmark::State& state) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  DecayBank bank = EightDayBank(rates, 1);
  std::vector<BucketShare> signal;
  for (int i = 0; i < state.range(0); ++i) signal.push_back({static_cast<Bucket>(130 + i), 1.0F});
  for (auto _ : state) bank.Step(1, signal);
  state.counters["buckets"] = bank.size();
  state.counters["state_bytes"] = static_cast<double>(bank.state_bytes());
}
BENCHMARK(BM_BankStep)->Arg(1)->Arg(5)->Arg(20);

void BM_BankShares(benchmark::State& state) {
  const DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  const DecayBank bank = EightDayBank(rates, 1);
  BankShares shares;
  for (auto _ : state) {
    bank.Shares(&shares);
    benchmark::DoNotOptimize(shares.over.data());
  }
  state.counters["buckets"] = bank.size();
  state.counters["state_bytes"] = static_cast<double>(bank.state_bytes());
}
BENCHMARK(BM_BankShares);

// The content of a container's checkpoint: CPU and memory histogram, peak, and an ensemble bank per resource.
struct Container {
  DecayingHistogram cpu, memory;
  SlidingMax peak;
  DecayBank cpu_bank, memory_bank;
};

struct Fleet {
  static constexpr size_t kContainers = 100'000;
  DecayRates rates = DecayRates::FromHalfLives(kHalfLives);
  std::vector<Container> containers;

  // About 50 buckets per histogram and bank, with different weights in each container, because equal content would
  // compress too well.
  Fleet() {
    Rng rng(3);
    containers.reserve(kContainers);
    for (size_t i = 0; i < kContainers; ++i) {
      Container c{Grown(rng), Grown(rng), {}, GrownBank(rng), GrownBank(rng)};
      for (int t = 0; t < 300; ++t) c.peak.Add(t, static_cast<Bucket>(rng.Below(60)));
      containers.push_back(std::move(c));
    }
  }
  static DecayingHistogram Grown(Rng& rng) {
    DecayingHistogram h(Grid::Cpu(), 12 * kHour);
    for (int k = 0; k < 50; ++k) h.AddToBucket(static_cast<Bucket>(120 + k), rng.Uniform(), 300 * k);
    return h;
  }
  DecayBank GrownBank(Rng& rng) const {
    DecayBank bank(rates);
    std::vector<BucketShare> signal;
    for (int k = 0; k < 50; ++k)
      signal.push_back({static_cast<Bucket>(120 + k), static_cast<float>(rng.Uniform())});
    bank.Step(1, signal);
    for (int t = 0; t < 20; ++t) bank.Step(1, std::span(signal).subspan(rng.Below(45), 5));
    return bank;
  }
  // Returns one envelope per 1,000 containers.
  std::vector<std::string> Save(bool banks) const {
    std::vector<std::string> sealed;
    std::string payload;
    for (size_t i = 0; i < containers.size(); ++i) {
      ByteWriter out(&payload);
      const Container& c = containers[i];
      c.cpu.Save(out);
      c.memory.Save(out);
      c.peak.Save(out);
      if (banks) c.cpu_bank.Save(out);
      if (banks) c.memory_bank.Save(out);
      if (i % 1000 == 999) {
        sealed.push_back(SealCheckpoint(payload));
        payload.clear();
      }
    }
    return sealed;
  }
  // Returns the number of restored containers.
  size_t Restore(const std::vector<std::string>& sealed, bool banks) const {
    std::vector<Container> restored;
    restored.reserve(kContainers);
    for (const std::string& bytes : sealed) {
      const absl::StatusOr<std::string> payload = OpenCheckpoint(bytes);
      if (!payload.ok()) return 0;
      ByteReader in(*payload);
      for (int i = 0; i < 1000; ++i) {
        auto cpu = DecayingHistogram::Load(in, Grid::Cpu());
        auto memory = DecayingHistogram::Load(in, Grid::Cpu());
        auto peak = SlidingMax::Load(in);
        DecayBank cpu_bank(rates);
        DecayBank memory_bank(rates);
        if (!cpu.ok() || !memory.ok() || !peak.ok()) return 0;
        if (banks && !(cpu_bank.Load(in).ok() && memory_bank.Load(in).ok())) return 0;
        restored.push_back({*std::move(cpu), *std::move(memory), *std::move(peak), std::move(cpu_bank),
                            std::move(memory_bank)});
      }
    }
    return restored.size();
  }
};

const Fleet& TheFleet() {
  static const Fleet fleet;
  return fleet;
}

void ReportFleet(benchmark::State& state, const std::vector<std::string>& sealed) {
  size_t bytes = 0;
  for (const std::string& s : sealed) bytes += s.size();
  state.counters["bytes_per_container"] = static_cast<double>(bytes) / Fleet::kContainers;
  state.counters["budget_s"] = 1;
}

void BM_Checkpoint100k(benchmark::State& state) {
  std::vector<std::string> sealed;
  TheFleet();
  for (auto _ : state) sealed = TheFleet().Save(state.range(0) != 0);
  ReportFleet(state, sealed);
}
BENCHMARK(BM_Checkpoint100k)->ArgName("banks")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_Restore100k(benchmark::State& state) {
  const bool banks = state.range(0) != 0;
  const std::vector<std::string> sealed = TheFleet().Save(banks);
  for (auto _ : state) {
    if (TheFleet().Restore(sealed, banks) != Fleet::kContainers) state.SkipWithError("not all restored");
  }
  ReportFleet(state, sealed);
}
BENCHMARK(BM_Restore100k)->ArgName("banks")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut
