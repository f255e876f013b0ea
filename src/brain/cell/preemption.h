// Which tasks make room for a more important one.
#pragma once

#include <cstdint>
#include <vector>

#include "brain/cell/cell_state.h"
#include "brain/cell/machine_scores.h"

namespace taut::brain {

struct PreemptionPlan {
  uint32_t machine = kNowhere;    // kNowhere: no machine has enough to preempt
  std::vector<uint32_t> victims;  // tasks on that machine; tasks of their gangs elsewhere come on top
};

// The highest tier that a task of `tier` may preempt; false if there is none. Strictly lower tiers, and
// production never preempts production.
bool TierBelow(CellTier tier, CellTier& below);

// The fewest tasks of a machine, of the lowest tiers that suffice, that must go so that `task` fits; greedy:
// within a tier the task that covers most of what is missing goes first, then those that turn out not to be
// needed stay. Of all machines (of the first `candidates`, 0: all, of the best by the first criterion): the
// lowest tier of the most important victim, then the fewest victims (a gang counts all its tasks), then the
// first machine. REQUIRES: CountJob was called if the class has own bounds. O(machines), and the tasks of the
// candidates.
PreemptionPlan FindVictims(MachineScores& scores, uint32_t task, uint32_t candidates);

// Whether the tasks of tiers up to `top` suffice on this machine. REQUIRES: as FindVictims. O(1).
bool CouldPreempt(MachineScores& scores, uint32_t machine, const CellClass& c, CellTier top);

// What one more task of the class lacks there of what all reservations leave free; <= 0: nothing.
CellAmounts MissingReservation(const CellState& state, const CellClass& c, uint32_t machine);

// The victims on one machine with tiers up to `top`, as above, that free what is missing; empty if they do not
// suffice, or nothing is missing.
std::vector<uint32_t> VictimsOn(const CellState& state, uint32_t machine, CellAmounts missing, CellTier top);

}  // namespace taut::brain
