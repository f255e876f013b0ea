// Time limits of the boosted recommender.
//   one decision: features, forecast and choice <= 20 us
//   training on 100,000 periods <= 60 s
// Each benchmark prints its time limit as budget_ns.
#include <benchmark/benchmark.h>

#include <cmath>

#include "brain/recommend/boosted_fleet.h"
#include "brain/recommend/boosted_history.h"
#include "common/base/byte_units.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

// Returns a job's history of 28 days with a daily season and noise.
BoostedHistory HistoryOf(uint64_t seed) {
  BoostedHistory history;
  Rng rng(seed);
  for (int32_t hour = 0; hour < BoostedHistory::kPeakHours; ++hour) {
    const double season = 1 + 0.4 * std::sin(6.2832 * hour / 24);
    for (int w = 0; w < 12; ++w) {
      const auto used = static_cast<float>(kGiB * season * std::exp(0.2 * rng.Normal()));
      history.Add({.hour = hour, .peak = used, .mean = used, .other = used, .owner_limit = 8 * kGiB});
    }
  }
  return history;
}

// Returns a fleet whose forest was trained on `lessons` periods.
BoostedFleet FleetOf(int lessons) {
  BoostedSettings settings;
  settings.min_days = 1;
  BoostedFleet fleet(Resource::kMemory, settings, {0.03, 0.1});
  BoostedShare share(0, settings);
  Rng rng(1);
  for (int i = 0; i < lessons; ++i) {
    BoostedLesson lesson;
    for (float& f : lesson.features) f = static_cast<float>(rng.Normal());
    lesson.outcomes[0] = static_cast<float>(0.2 * rng.Normal() + 0.3 * lesson.features[0]);
    lesson.size = 1;
    share.sample.Add(BoostedLessonKey(MixBits(static_cast<uint64_t>(i)), 0), lesson);
  }
  share.lessons = static_cast<uint64_t>(lessons);
  fleet.CloseDay(std::move(share));
  return fleet;
}

void BM_BoostedDecision(benchmark::State& state) {
  BoostedFleet fleet = FleetOf(20'000);
  fleet.CloseDay(BoostedShare(1, fleet.settings()));
  const BoostedHistory history = HistoryOf(2);
  constexpr int32_t kHour = BoostedHistory::kPeakHours;
  for (auto _ : state) {
    BoostedCase job;
    job.week_peak = *history.WeekPeak(kHour);
    job.ceiling = 2 * job.week_peak;
    job.features = history.Features(kHour, 3, job.week_peak, Resource::kMemory);
    benchmark::DoNotOptimize(ChooseBoosted(fleet.Forecast(job), job, 0.0125, 100 * kGiB));
  }
  state.counters["budget_ns"] = 20'000;
}
BENCHMARK(BM_BoostedDecision);

void BM_BoostedTraining(benchmark::State& state) {
  const BoostedFleet fleet = FleetOf(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(fleet.DueTraining()->Train());
  state.counters["budget_ns"] = 60e9;
}
BENCHMARK(BM_BoostedTraining)->Arg(100'000)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace taut::brain
