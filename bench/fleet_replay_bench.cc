// Benchmarks the whole replay of a generated cell: throughput per recommender, and memory of a job's state.
//
//   replay, moving window >= 3 M, ensemble >= 300 k job-windows/s per core
//   state per job, both resources, moving window and ensemble together, median <= 6 KiB
//
// The counter budget_per_s is the budget for items_per_second, budget_bytes for median_bytes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tools/sim/replay.h"
#include "tools/trace/generate.h"
#include "tools/trace/job_days.h"

namespace taut {
namespace {

// A generated cell, generated only once, because reading traces has its own benchmarks.
class GeneratedCell final : public tools::DaySource {
 public:
  GeneratedCell() : store_(tools::JobDayStore::Options()) {
    tools::GenerateOptions options;
    options.jobs = 300;
    options.days = 14;
    ok_ = tools::GenerateCell(options, store_).ok() && store_.Finish().ok();
    for (int32_t day : store_.days()) {
      absl::StatusOr<std::vector<JobDay>> jobs = store_.LoadDay(day);
      if (jobs.ok()) by_day_[day] = *std::move(jobs);
    }
  }
  bool ok() const { return ok_; }
  const std::vector<JobInfo>& jobs() const override { return store_.jobs(); }
  const std::vector<int32_t>& days() const override { return store_.days(); }
  int32_t last_day(JobId job) const override { return store_.last_day(job); }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override { return by_day_.at(day); }

 private:
  tools::JobDayStore store_;
  std::map<int32_t, std::vector<JobDay>> by_day_;
  bool ok_ = false;
};

GeneratedCell& Cell() {
  static GeneratedCell cell;
  return cell;
}

void BM_Replay(benchmark::State& state, brain::Policy policy, double budget_per_s) {
  tools::ReplayOptions options;
  options.policies = {policy};
  options.threads = 1;
  if (!Cell().ok()) state.SkipWithError("no cell");
  uint64_t windows = 0;
  for (auto _ : state) {
    const absl::StatusOr<tools::ReplayResult> r = tools::Replay(Cell(), options, {});
    if (!r.ok()) {
      state.SkipWithError("the replay failed");
      return;
    }
    windows += r->job_windows;
  }
  state.SetItemsProcessed(static_cast<int64_t>(windows));
  if (budget_per_s > 0) state.counters["budget_per_s"] = budget_per_s;
}
BENCHMARK_CAPTURE(BM_Replay, static, brain::Policy::kStatic, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, peak, brain::Policy::kPeak, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, vpa, brain::Policy::kVpa, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, moving_window, brain::Policy::kMovingWindow, 3e6)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, ensemble, brain::Policy::kEnsemble, 3e5)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, analogs, brain::Policy::kAnalogs, 0)->Unit(benchmark::kMillisecond);

void BM_StatePerJob(benchmark::State& state) {
  tools::ReplayOptions options;
  options.policies = {brain::Policy::kMovingWindow, brain::Policy::kEnsemble};
  options.threads = 1;
  std::map<uint32_t, size_t> bytes;
  for (auto _ : state) {
    bytes.clear();
    tools::ReplayHooks hooks;
    hooks.on_job_end = [&](JobId job, brain::PolicyPair, Resource, const brain::Lane& lane) {
      const brain::Recommender& r = lane.recommender();
      bytes[job.value] += r.state_bytes();
    };
    if (!tools::Replay(Cell(), options, hooks).ok()) state.SkipWithError("the replay failed");
  }
  std::vector<size_t> sizes;
  for (const auto& [job, size] : bytes) sizes.push_back(size);
  std::sort(sizes.begin(), sizes.end());
  if (sizes.empty()) return;
  state.counters["median_bytes"] = static_cast<double>(sizes[sizes.size() / 2]);
  state.counters["p95_bytes"] = static_cast<double>(sizes[sizes.size() * 95 / 100]);
  state.counters["budget_bytes"] = 6 * 1024;
}
BENCHMARK(BM_StatePerJob)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut

BENCHMARK_MAIN();
