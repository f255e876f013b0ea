// Why a task is pending, and what is closest to changing that.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "brain/cell/cell_state.h"
#include "brain/cell/machine_scores.h"

namespace taut::brain {

struct PendingReason {
  uint32_t machines = 0;  // of the cell; those below add up to it
  uint32_t feasible = 0;  // not short of anything
  // Machines by the first of these that applies, in this order.
  uint32_t out_of_service = 0;  // failed, or drained
  uint32_t no_attribute = 0;    // does not meet a constraint, or has no domain to spread over
  uint32_t too_small = 0;       // less capacity than one task asks for
  uint32_t spread = 0;          // its domain has as many of the job's tasks as it may
  uint32_t own_job = 0;         // and so has the machine
  // Short of the resource now, and maybe of later ones.
  std::array<uint32_t, kMaxCellResources> no_room = {};

  // The machine that is short of the least, in shares of what the task asks for; kNowhere if no machine is
  // short of amounts only.
  uint32_t nearest = kNowhere;
  CellAmounts missing = {};  // there; 0 where nothing is missing
  std::vector<uint32_t>
      victims;  // tasks of lower tiers there that would have to go; empty: they do not suffice

  // One or two sentences, with the names of the machine and of the first of the victims.
  std::string sentence;
};

// Of one more task of the job. Changes nothing but what CountJob changes. O(machines).
PendingReason ExplainPending(MachineScores& scores, uint32_t job);

}  // namespace taut::brain
