// Chooses the tasks to preempt for a more important task.
#pragma once

#include <cstdint>
#include <vector>

#include "brain/cell/cell_state.h"
#include "brain/cell/machine_scores.h"

namespace taut::brain {

// Result of FindVictims.
struct PreemptionPlan {
  uint32_t machine = kNowhere;    // kNowhere if preemption does not suffice on any machine
  std::vector<uint32_t> victims;  // tasks on `machine`; the other tasks of a victim's gang are evicted, too
};

// Sets `below` to the highest tier that a task of `tier` may preempt. Returns false if `tier` may preempt no
// tier. Only strictly lower tiers may be preempted, and production never preempts production.
bool TierBelow(CellTier tier, CellTier& below);

// Finds a machine, and tasks on the machine whose removal makes room for `task`. The victims are from the lowest
// tiers that suffice. Within a tier, a greedy search chooses the task that covers most of the missing amounts;
// unnecessary victims are removed from the choice at the end.
// The machine is chosen by the lowest tier of its most important victim, then by the fewest victims (a gang
// counts all its tasks), then by the lowest machine number. Only the first `candidates` machines of the best
// tier are compared; 0: all machines are compared. REQUIRES: CountJob was called if the task's job has a spread or
// a bound per machine. O(machines + tasks of the candidates).
PreemptionPlan FindVictims(MachineScores& scores, uint32_t task, uint32_t candidates);

// Returns true if removing all tasks of tiers up to `top` would make room on this machine. REQUIRES: CountJob
// was called if the class's job has a spread or a bound per machine. O(1).
bool CouldPreempt(MachineScores& scores, uint32_t machine, const CellClass& c, CellTier top);

// Returns the amounts that one more task of the class needs beyond the machine's unreserved capacity; <= 0 if
// nothing is missing.
CellAmounts MissingReservation(const CellState& state, const CellClass& c, uint32_t machine);

// Returns tasks of one machine, of tiers up to `top`, whose removal frees the missing amounts. The choice is the
// greedy choice of FindVictims. Returns no task if nothing is missing, or if removing all tasks of these tiers
// does not suffice.
std::vector<uint32_t> VictimsOn(const CellState& state, uint32_t machine, CellAmounts missing, CellTier top);

}  // namespace taut::brain
