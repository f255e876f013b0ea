#include "tools/sim/overcommit_intervals.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/base/random.h"

namespace taut::tools {
namespace {

constexpr size_t kDraws = 1000;
constexpr uint64_t kDrawSeed = 1;

// Returns the numbers of the machines with predictions.
std::vector<uint32_t> ScoredMachines(const OvercommitResult::Row& row) {
  std::vector<uint32_t> out;
  for (uint32_t m = 0; m < row.by_machine.size(); ++m) {
    if (row.by_machine[m].predictions > 0) out.push_back(m);
  }
  return out;
}

ScoreInterval Middle95(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.025), at(0.975)};
}

}  // namespace

size_t IndependentMachines(const OvercommitResult& result) {
  if (result.rows.empty()) return 0;
  const OvercommitResult::Row& row = result.rows.front();
  if (result.of_recorded) return ScoredMachines(row).size();
  return row.by_machine.size() / std::max<size_t>(1, row.by_placement.size());
}

std::optional<ScoreIntervals> IntervalsOf(const OvercommitResult& result, const OvercommitResult::Row& row) {
  const std::vector<uint32_t> machines = ScoredMachines(row);
  if (machines.size() < 2) return std::nullopt;
  const size_t drawn = IndependentMachines(result);
  Rng rng(kDrawSeed);
  std::vector<double> footprints, below;
  for (size_t draw = 0; draw < kDraws; ++draw) {
    OvercommitScore sum;
    for (size_t i = 0; i < drawn; ++i) {
      const OvercommitScore& one = row.by_machine[machines[rng.Below(machines.size())]];
      sum.predictions += one.predictions;
      sum.below += one.below;
      sum.predicted += one.predicted;
      sum.limit += one.limit;
    }
    footprints.push_back(sum.footprint());
    below.push_back(sum.below_share());
  }
  return ScoreIntervals{Middle95(std::move(footprints)), Middle95(std::move(below))};
}

}  // namespace taut::tools
