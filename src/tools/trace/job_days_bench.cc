// Benchmarks folding and loading rows. Budgets: fold at least 10 M rows/s; fold and load 3.84 M rows (Bitbrains)
// in less than 1 s.
#include <chrono>

#include "benchmark/benchmark.h"
#include "tools/trace/job_days.h"

namespace taut::tools {
namespace {

constexpr uint32_t kJobs = 500;
constexpr int32_t kDays = 28;

UsageRow RowOf(uint32_t job, int64_t window) {
  UsageRow row;
  row.job = JobId{job};
  row.start = Timestamp::FromSeconds(window * kWindowSeconds);
  row.end = Timestamp::FromSeconds((window + 1) * kWindowSeconds);
  row.cpu_mean_cores =
      0.001F * static_cast<float>((job * 7919 + static_cast<uint32_t>(window) * 104729) % 4096);
  row.memory_mean_bytes = 1e6F * static_cast<float>(1 + job % 4096);
  return row;
}

void Fill(JobDayStore& store, bool job_order) {
  for (uint32_t j = 0; j < kJobs; ++j) store.OnJob(JobId{j}, {});
  constexpr int64_t kWindows = int64_t{kDays} * kWindowsPerDay;
  const int64_t outer = job_order ? kJobs : kWindows, inner = job_order ? kWindows : kJobs;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      store.OnUsage(RowOf(static_cast<uint32_t>(job_order ? o : i), job_order ? i : o));
    }
  }
}

// Arguments: order of the rows (1: job by job, 0: by time), and memory budget in MiB.
void BM_FoldAndLoad(benchmark::State& state) {
  int64_t rows = 0;
  double fold_s = 0;
  for (auto _ : state) {
    JobDayStore store({.memory_budget_bytes = static_cast<size_t>(state.range(1)) << 20});
    const auto start = std::chrono::steady_clock::now();
    Fill(store, state.range(0) == 1);
    fold_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!store.Finish().ok()) return state.SkipWithError("cannot spill");
    for (const int32_t day : store.days()) benchmark::DoNotOptimize(store.LoadDay(day));
    rows += int64_t{kJobs} * kDays * kWindowsPerDay;
  }
  state.SetItemsProcessed(rows);
  state.counters["fold_rows_per_s"] = static_cast<double>(rows) / fold_s;
  state.counters["fold_budget_rows_per_s"] = 10e6;
}
BENCHMARK(BM_FoldAndLoad)->Args({1, 1024})->Args({0, 1024})->Args({1, 32})->Unit(benchmark::kMillisecond);

void BM_FoldPercentiles(benchmark::State& state) {
  float values[20], fractions[20];
  for (int i = 0; i < 20; ++i) {
    fractions[i] = i <= 9    ? 0.1F * static_cast<float>(i)
                   : i == 19 ? 1.0F
                             : 0.9F + 0.01F * static_cast<float>(i - 9);
    values[i] = 0.2F + 0.3F * fractions[i];
  }
  int64_t rows = 0;
  for (auto _ : state) {
    JobDayStore store({});
    store.OnJob(JobId{0}, {});
    for (int64_t w = 0; w < 100'000; ++w) {
      UsageRow row = RowOf(0, w);
      row.cpu_percentiles_cores = values;
      row.cpu_fractions = fractions;
      store.OnUsage(row);
    }
    rows += 100'000;
  }
  state.SetItemsProcessed(rows);
}
BENCHMARK(BM_FoldPercentiles)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::tools
