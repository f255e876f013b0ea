// Explains why a task is pending, and which machine comes closest to running it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "brain/cell/cell_state.h"
#include "brain/cell/machine_scores.h"

namespace taut::brain {

// Machines by what they lack for one more task of a job.
struct PendingReason {
  uint32_t machines = 0;  // of the cell; the sum of the counts below
  uint32_t feasible = 0;  // lack nothing
  // Number of machines by the first obstacle that applies, in this order.
  uint32_t out_of_service = 0;  // failed or drained
  uint32_t no_attribute = 0;    // does not meet a constraint, or has no domain to spread over
  uint32_t too_small = 0;       // capacity below the request of one task
  uint32_t spread = 0;          // its domain has the most tasks of the job that are allowed
  uint32_t own_job = 0;         // the machine has the most tasks of the job that are allowed
  // By the first resource of which too little is free; later resources may be short, too.
  std::array<uint32_t, kMaxCellResources> no_room = {};

  // Machine that lacks the least, as the sum of shares of the task's request; kNowhere if no machine lacks
  // only amounts.
  uint32_t nearest = kNowhere;
  CellAmounts missing = {};  // amounts missing on `nearest`; 0 where nothing is missing
  std::vector<uint32_t>
      victims;  // tasks of lower tiers there that would have to go; empty: they do not suffice

  // One or two sentences, with the names of the machine and of the first victim.
  std::string sentence;
};

// Explains why one more task of the job is pending. Changes only the state's CountJob scratch. O(machines).
PendingReason ExplainPending(MachineScores& scores, uint32_t job);

}  // namespace taut::brain
