// Explains why a task is pending, and which machine is closest to having room for the task.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "brain/cell/cell_state.h"
#include "brain/cell/machine_scores.h"

namespace taut::brain {

// Numbers of machines, by the obstacle to one more task of a job.
struct PendingReason {
  uint32_t machines = 0;  // number of machines of the cell, which is the sum of the counts below
  uint32_t feasible = 0;  // machines without an obstacle
  // Numbers of machines by their first obstacle. The order of the fields is the order of the checks.
  uint32_t out_of_service = 0;  // machines that failed or are drained
  uint32_t no_attribute = 0;    // machines that do not meet a constraint, or have no domain to spread over
  uint32_t too_small = 0;       // machines with less capacity than the request of one task
  uint32_t spread = 0;          // machines in a domain that already has max_per_domain tasks of the job
  uint32_t own_job = 0;         // machines that already have max_per_machine tasks of the job
  // Numbers of machines by the first resource of which too little is free. Other resources may be short, too.
  std::array<uint32_t, kMaxCellResources> no_room = {};

  // Machine for which the sum over resources of (missing amount / requested amount) is smallest. kNowhere if every
  // machine has another obstacle.
  uint32_t nearest = kNowhere;
  CellAmounts missing = {};  // amounts that are missing on `nearest`; 0 for a resource that is not short
  // Tasks of lower tiers on `nearest` that would be preempted; empty if preemption does not suffice.
  std::vector<uint32_t> victims;

  // Explanation of one or two sentences, with the names of the machine and of the first victim.
  std::string sentence;
};

// Explains why one more task of the job is pending. Changes only scratch data of `scores`. O(machines).
PendingReason ExplainPending(MachineScores& scores, uint32_t job);

}  // namespace taut::brain
