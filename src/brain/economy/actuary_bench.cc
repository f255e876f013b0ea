// Benchmarks a step and a quote of the actuary at a horizon of a day. The daemon computes both for each pool and
// tier every 300 s.
#include <benchmark/benchmark.h>

#include "brain/economy/actuary.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

void Observe(benchmark::State& state) {
  ActuaryOptions options;
  options.horizon_steps = state.range(0);
  Actuary actuary = *Actuary::Make(options);
  Rng rng(3);
  for (int i = 0; i < 40 * 288; ++i) actuary.Observe(1, rng.Uniform(0.3, 0.5));
  for (auto _ : state) actuary.Observe(1, rng.Uniform(0.3, 0.5));
}
BENCHMARK(Observe)->Arg(12)->Arg(288)->Arg(2016)->Arg(8640);

void Ask(benchmark::State& state) {
  ActuaryOptions options;
  options.horizon_steps = state.range(0);
  Actuary actuary = *Actuary::Make(options);
  Rng rng(3);
  for (int i = 0; i < 40 * 288; ++i) actuary.Observe(1, rng.Uniform(0.3, 0.5));
  for (auto _ : state) benchmark::DoNotOptimize(actuary.Ask());
}
BENCHMARK(Ask)->Arg(12)->Arg(288)->Arg(2016)->Arg(8640);

}  // namespace
}  // namespace taut::brain
