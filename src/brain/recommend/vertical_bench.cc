// Time limits of the recommenders for one job at a time. Benchmarks of the whole fleet are in src/brain/fleet
// and bench/.
//   ensemble, 64 models, one job-window <= 3 us
//   work function <= 1 us
//   analogs, one decision <= 50 us
// Each benchmark prints its time limit as budget_ns.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "brain/recommend/analogs.h"
#include "brain/recommend/ensemble.h"
#include "brain/recommend/made_signal.h"
#include "brain/recommend/moving_window.h"
#include "brain/recommend/work_function.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

constexpr int32_t kHistory = 8 * kWindowsPerDay;

// Returns the windows of a job with one task, a daily season and noise.
std::vector<std::unique_ptr<MadeSignal>> Windows(Resource resource, uint64_t seed) {
  std::vector<std::unique_ptr<MadeSignal>> signals;
  Rng rng(seed);
  const double unit = resource == Resource::kCpu ? 0.3 : 1e9;
  for (int32_t w = 0; w < kHistory; ++w) {
    const double season = 1 + 0.4 * std::sin(6.2832 * w / kWindowsPerDay);
    if (resource == Resource::kMemory) {
      signals.push_back(
          std::make_unique<MadeSignal>(resource, w, unit * season * std::exp(0.1 * rng.Normal())));
      continue;
    }
    MadeSignal::AtBuckets at;
    for (int s = 0; s < 12; ++s)
      at.weights[Grid::Cpu().BucketOf(unit * season * std::exp(0.4 * rng.Normal()))] += 25;
    signals.push_back(std::make_unique<MadeSignal>(resource, w, at));
  }
  return signals;
}

// Observes eight days of windows repeatedly, at advancing times.
template <typename R>
void Step(benchmark::State& state, R& recommender, Resource resource, double budget_ns) {
  const auto signals = Windows(resource, 3);
  int32_t w = 0;
  const auto next = [&] {
    Signal s = signals[static_cast<size_t>(w % kHistory)]->get();
    s.window = WindowId{w++};
    recommender.Observe(s);
    return recommender.Recommend(s.window.next());
  };
  while (w < kHistory) benchmark::DoNotOptimize(next());
  for (auto _ : state) benchmark::DoNotOptimize(next());
  state.counters["budget_ns"] = budget_ns;
  state.counters["state_bytes"] = static_cast<double>(recommender.state_bytes());
}

void BM_EnsembleWindow(benchmark::State& state) {
  const EnsembleConfig config{EnsembleSettings()};
  const auto resource = static_cast<Resource>(state.range(0));
  EnsembleRecommender r(resource, config, OomSettings());
  Step(state, r, resource, 3000);
  state.counters["models"] = config.num_models();
}
BENCHMARK(BM_EnsembleWindow)->ArgName("memory")->Arg(0)->Arg(1);

void BM_WorkFunctionWindow(benchmark::State& state) {
  const auto resource = static_cast<Resource>(state.range(0));
  const WorkFunctionFleet fleet(resource, WorkFunctionSettings());
  WorkFunctionRecommender r(fleet, OomSettings());
  Step(state, r, resource, 1000);
}
BENCHMARK(BM_WorkFunctionWindow)->ArgName("memory")->Arg(0)->Arg(1);

void BM_MovingWindowWindow(benchmark::State& state) {
  const auto resource = static_cast<Resource>(state.range(0));
  MovingWindowRecommender r(resource, MovingWindowSettings(), OomSettings());
  Step(state, r, resource, 333);  // 333 ns are 3 million job-windows per second
}
BENCHMARK(BM_MovingWindowWindow)->ArgName("memory")->Arg(0)->Arg(1);

// A fleet with a full history of 100,000 rows.
class BigFleet {
 public:
  static constexpr int kJobs = 5000;
  BigFleet() : fleet_(Resource::kMemory, AnalogSettings()) {
    Rng rng(5);
    for (int j = 0; j < kJobs; ++j) {
      jobs_.push_back(std::make_unique<AnalogsRecommender>(fleet_, nullptr, OomSettings()));
    }
    std::vector<double> bases(kJobs);
    for (double& b : bases) b = std::exp(rng.Uniform(17, 24));
    for (int32_t day = 0; day <= kDays; ++day) {
      FleetRows rows;
      for (size_t j = 0; j < jobs_.size(); ++j) {
        jobs_[j]->StartDay(day);
        for (int32_t i = 0; i < kWindowsPerDay; i += 48) {
          jobs_[j]->Observe(MadeSignal(Resource::kMemory, day * kWindowsPerDay + i,
                                       bases[j] * std::exp(0.2 * rng.Normal()), 4 * bases[j]));
        }
        jobs_[j]->EndDay(day, rows);
        if (!rows.empty()) rows.back().job = MixBits(j);
      }
      // Train once, on the last day with the full history; the days before only fill the history.
      if (day < kDays) {
        for (const FleetRow& row : rows) {
          if (row.lesson.has_value()) lessons_.push_back({row.lesson->features, row.lesson->outcome});
        }
      }
      history_.push_back(std::move(rows));
    }
  }
  void Learn() {
    for (int32_t day = 0; day <= kDays; ++day) fleet_.CloseDay(day, history_[static_cast<size_t>(day)]);
    history_.clear();
  }
  std::vector<std::unique_ptr<AnalogsRecommender>>& jobs() { return jobs_; }
  const AnalogFleet& fleet() const { return fleet_; }
  const std::vector<DistributionForest::Row>& lessons() const { return lessons_; }
  static constexpr int32_t kDays = 22;  // day of the training, when the history is full after 110,000 rows

 private:
  AnalogFleet fleet_;
  std::vector<std::unique_ptr<AnalogsRecommender>> jobs_;
  std::vector<FleetRows> history_;
  std::vector<DistributionForest::Row> lessons_;
};

BigFleet& TheFleet() {
  static BigFleet fleet;
  return fleet;
}

// This benchmark has no time limit, because a fleet retrains only every few days, each resource on its own thread.
void BM_ForestTraining(benchmark::State& state) {
  const auto& lessons = TheFleet().lessons();
  DistributionForest forest;
  for (auto _ : state) forest.Train(lessons, ForestSettings(), 1);
  state.counters["rows"] = static_cast<double>(lessons.size());
  state.counters["forest_bytes"] = static_cast<double>(forest.state_bytes());
}
BENCHMARK(BM_ForestTraining)->Unit(benchmark::kSecond)->Iterations(1);

// Benchmarks the daily decision of one job: features, forecast and choice.
void BM_AnalogsDecision(benchmark::State& state) {
  static const bool learnt = (TheFleet().Learn(), true);
  benchmark::DoNotOptimize(learnt);
  auto& jobs = TheFleet().jobs();
  if (!TheFleet().fleet().ready()) {
    state.SkipWithError("the fleet did not learn");
    return;
  }
  size_t i = 0;
  for (auto _ : state) {
    AnalogsRecommender& r = *jobs[i++ % jobs.size()];
    r.StartDay(BigFleet::kDays + 1);
    benchmark::DoNotOptimize(r.Recommend(WindowId{(BigFleet::kDays + 1) * kWindowsPerDay}));
  }
  state.counters["budget_ns"] = 50'000;
  state.counters["rows"] = static_cast<double>(TheFleet().fleet().forest().rows());
}
BENCHMARK(BM_AnalogsDecision);

}  // namespace
}  // namespace taut::brain
