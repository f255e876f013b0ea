// Explains why a task is pending, and which machine lacks the least for the task.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "brain/cell/cell_state.h"
#include "brain/cell/machine_scores.h"

namespace taut::brain {

// Machines by the obstacle to one more task of a job.
struct PendingReason {
  uint32_t machines = 0;  // machines of the cell; the sum of the counts below
  uint32_t feasible = 0;  // machines without obstacle
  // Number of machines by the first obstacle that applies, in this order.
  uint32_t out_of_service = 0;  // failed or drained
  uint32_t no_attribute = 0;    // does not meet a constraint, or has no domain to spread over
  uint32_t too_small = 0;       // capacity below the request of one task
  uint32_t spread = 0;          // the machine's domain already has max_per_domain tasks of the job
  uint32_t own_job = 0;         // the machine already has max_per_machine tasks of the job
  // Machines by the first resource of which too little is free; further resources may be short, too.
  std::array<uint32_t, kMaxCellResources> no_room = {};

  // Machine with the smallest missing amounts, as the sum of shares of the task's request; kNowhere if every
  // machine has another obstacle.
  uint32_t nearest = kNowhere;
  CellAmounts missing = {};  // amounts missing on `nearest`; 0 where nothing is missing
  std::vector<uint32_t>
      victims;  // tasks of lower tiers on `nearest` that would be preempted; empty: preemption does not suffice

  // One or two sentences, with the names of the machine and of the first victim.
  std::string sentence;
};

// Explains why one more task of the job is pending. Changes only the state's CountJob scratch. O(machines).
PendingReason ExplainPending(MachineScores& scores, uint32_t job);

}  // namespace taut::brain
