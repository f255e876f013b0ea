#include "brain/cell/preemption.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace taut::brain {
namespace {

// Returns the lowest tier such that removing all tasks of this tier and of lower tiers makes room. Returns
// kCellTiers if removing all tasks up to `top` does not suffice.
size_t TierNeeded(const CellState& state, uint32_t machine, const CellClass& c, CellTier top) {
  const size_t resources = state.index().resources();
  if (!state.space().in_service(machine)) return kCellTiers;
  CellAmounts missing = MissingReservation(state, c, machine);
  for (size_t r = 0; r < resources; ++r) {
    if (c.production && c.limit[r] > state.space().production_free(r, machine)) return kCellTiers;
  }
  for (size_t tier = 0; tier <= static_cast<size_t>(top); ++tier) {
    bool enough = true;
    for (size_t r = 0; r < resources; ++r) {
      missing[r] -= state.space().reserved(static_cast<CellTier>(tier), r, machine);
      enough = enough && missing[r] <= 0;
    }
    if (enough) return tier;
  }
  return kCellTiers;
}

// Returns the share of the missing amounts that `amount` covers, summed over resources.
double Covers(const CellAmounts& amount, const CellAmounts& missing) {
  double sum = 0;
  for (size_t r = 0; r < kMaxCellResources; ++r) {
    if (missing[r] > 0)
      sum += static_cast<double>(std::min(amount[r], missing[r])) / static_cast<double>(missing[r]);
  }
  return sum;
}

bool NothingMissing(const CellAmounts& missing) {
  return std::ranges::all_of(missing, [](int64_t m) { return m <= 0; });
}

void Subtract(CellAmounts& from, const CellAmounts& amount) {
  for (size_t r = 0; r < kMaxCellResources; ++r) from[r] -= amount[r];
}

uint64_t CountWithGangs(const CellState& state, const std::vector<uint32_t>& victims) {
  const CellIndex& index = state.index();
  uint64_t count = 0;
  for (const uint32_t v : victims) {
    const CellJob& job = index.model().jobs[index.job_of(v)];
    count += job.gang ? job.tasks : 1;
  }
  return count;
}

}  // namespace

bool TierBelow(CellTier tier, CellTier& below) {
  if (tier == CellTier::kFree) return false;
  below = IsProduction(tier) ? CellTier::kMid : static_cast<CellTier>(static_cast<int>(tier) - 1);
  return true;
}

bool CouldPreempt(MachineScores& scores, uint32_t machine, const CellClass& c, CellTier top) {
  return TierNeeded(scores.state(), machine, c, top) != kCellTiers && scores.Rules(c, machine) != kInfeasible;
}

CellAmounts MissingReservation(const CellState& state, const CellClass& c, uint32_t machine) {
  CellAmounts missing = {};
  for (size_t r = 0; r < state.index().resources(); ++r)
    missing[r] = state.counts().entry(c)[r] - state.space().free(r, machine);
  return missing;
}

std::vector<uint32_t> VictimsOn(const CellState& state, uint32_t machine, CellAmounts missing, CellTier top) {
  const CellIndex& index = state.index();
  const auto tier_of = [&](uint32_t task) { return index.model().jobs[index.job_of(task)].tier; };
  std::vector<uint32_t> left, victims;
  for (uint32_t t = state.first_on(machine); t != kNowhere; t = state.next_on(t)) {
    if (tier_of(t) <= top) left.push_back(t);
  }
  while (!NothingMissing(missing)) {
    size_t best = left.size();
    std::pair<int, double> best_rank;
    for (size_t i = 0; i < left.size(); ++i) {
      const double covers = Covers(state.counted(left[i]), missing);
      const std::pair<int, double> rank = {-static_cast<int>(tier_of(left[i])), covers};
      if (covers > 0 &&
          (best == left.size() || rank > best_rank || (rank == best_rank && left[i] < left[best]))) {
        best = i;
        best_rank = rank;
      }
    }
    if (best == left.size()) return {};
    Subtract(missing, state.counted(left[best]));
    victims.push_back(left[best]);
    left.erase(left.begin() + static_cast<ptrdiff_t>(best));
  }
  // The greedy choice may contain unnecessary victims. Unnecessary victims are removed from the choice, starting
  // with the most important task, which was chosen last.
  for (size_t i = victims.size(); i-- > 0;) {
    CellAmounts with = missing;
    const CellAmounts counted = state.counted(victims[i]);
    for (size_t r = 0; r < kMaxCellResources; ++r) with[r] += counted[r];
    if (!NothingMissing(with)) continue;
    missing = with;
    victims.erase(victims.begin() + static_cast<ptrdiff_t>(i));
  }
  return victims;
}

PreemptionPlan FindVictims(MachineScores& scores, uint32_t task, uint32_t candidates) {
  const CellState& state = scores.state();
  const CellIndex& index = state.index();
  const uint32_t job = index.job_of(task);
  const CellClass& c = index.class_of(job);
  PreemptionPlan plan;
  CellTier top = CellTier::kFree;
  if (!TierBelow(index.model().jobs[job].tier, top)) return plan;
  size_t lowest = kCellTiers;
  std::vector<uint32_t> at_lowest;
  for (uint32_t m = 0; m < state.machines(); ++m) {
    const size_t tier = TierNeeded(state, m, c, top);
    if (tier == kCellTiers || tier > lowest || scores.Rules(c, m) == kInfeasible) continue;
    if (tier < lowest) at_lowest.clear();
    lowest = tier;
    if (candidates == 0 || at_lowest.size() < candidates) at_lowest.push_back(m);
  }
  uint64_t fewest = 0;
  for (const uint32_t m : at_lowest) {
    std::vector<uint32_t> victims =
        VictimsOn(state, m, MissingReservation(state, c, m), static_cast<CellTier>(lowest));
    const uint64_t count = CountWithGangs(state, victims);
    if (victims.empty() || (plan.machine != kNowhere && count >= fewest)) continue;
    fewest = count;
    plan = {m, std::move(victims)};
  }
  return plan;
}

}  // namespace taut::brain
