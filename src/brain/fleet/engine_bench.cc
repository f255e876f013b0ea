// Performance budgets for 100,000 containers, each with the moving window's memory recommender and all its
// wrappers: a recommend pass <= 0.3 s; checkpoint and restore <= 1 s each. Each benchmark prints its budget as
// budget_ns.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/fleet/policies.h"
#include "brain/recommend/made_signal.h"
#include "common/base/random.h"
#include "common/histogram/checkpoint.h"

namespace taut::brain {
namespace {

constexpr int kContainers = 100'000;
constexpr int32_t kWindows = 100;

struct Fleet {
  VerticalSettings settings;
  FleetModels models{settings};
  std::vector<std::unique_ptr<Recommender>> recommenders;

  std::unique_ptr<Recommender> New(Policy policy) {
    return NewRecommender(policy, Resource::kMemory, JobInfo(), settings, models);
  }
  explicit Fleet(Policy policy) {
    settings.moving_window.min_history_s = 0;
    settings.ensemble.min_history_s = 0;
    Rng rng(1);
    for (int c = 0; c < kContainers; ++c) {
      recommenders.push_back(New(policy));
      const double base = std::exp(rng.Uniform(17, 23));
      for (int32_t w = 0; w < kWindows; ++w) {
        recommenders.back()->Observe(MadeSignal(Resource::kMemory, w, base * std::exp(0.2 * rng.Normal())));
      }
    }
  }
};

Fleet& FleetOf(Policy policy) {
  static Fleet moving_window(Policy::kMovingWindow);
  if (policy == Policy::kMovingWindow) return moving_window;
  static Fleet ensemble(Policy::kEnsemble);
  return ensemble;
}

Policy Arg(const benchmark::State& state) {
  return state.range(0) == 0 ? Policy::kMovingWindow : Policy::kEnsemble;
}

void BM_RecommendPass(benchmark::State& state) {
  Fleet& fleet = FleetOf(Arg(state));
  int32_t next = kWindows;
  for (auto _ : state) {
    double sum = 0;
    for (auto& r : fleet.recommenders) sum += *r->Recommend(WindowId{next});
    benchmark::DoNotOptimize(sum);
    ++next;
  }
  state.counters["budget_ns"] = 0.3e9;
}
BENCHMARK(BM_RecommendPass)->ArgName("ensemble")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

std::string Checkpoint(const Fleet& fleet) {
  std::string payload;
  ByteWriter out(&payload);
  for (const auto& r : fleet.recommenders) r->Save(out);
  return SealCheckpoint(payload);
}

void BM_Checkpoint(benchmark::State& state) {
  const Fleet& fleet = FleetOf(Arg(state));
  std::string bytes;
  for (auto _ : state) bytes = Checkpoint(fleet);
  state.counters["budget_ns"] = 1e9;
  state.counters["bytes_per_container"] = static_cast<double>(bytes.size()) / kContainers;
}
BENCHMARK(BM_Checkpoint)->ArgName("ensemble")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void BM_Restore(benchmark::State& state) {
  Fleet& fleet = FleetOf(Arg(state));
  const std::string bytes = Checkpoint(fleet);
  for (auto _ : state) {
    const absl::StatusOr<std::string> payload = OpenCheckpoint(bytes);
    std::vector<std::unique_ptr<Recommender>> restored;
    ByteReader in(*payload);
    for (int c = 0; c < kContainers; ++c) {
      restored.push_back(fleet.New(Arg(state)));
      if (!restored.back()->Load(in).ok()) {
        state.SkipWithError("a checkpoint that does not load");
        return;
      }
    }
    state.PauseTiming();  // the time to destroy the copies is not part of a restore
    restored.clear();
    state.ResumeTiming();
  }
  state.counters["budget_ns"] = 1e9;
}
BENCHMARK(BM_Restore)->ArgName("ensemble")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::brain
