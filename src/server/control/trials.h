// Tasks on trial. The fleet identifies tasks by number, and actuators identify tasks by name. A restart assigns
// new numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "brain/rollout/gate.h"
#include "server/control/actuator.h"
#include "server/control/live_ingest.h"
#include "server/control/shared_fleet.h"
#include "server/control/unsaved.h"

namespace taut::server {

// Returns the names of the tasks on the trial that `decision` began; empty if the trial is over.
std::vector<std::string> TrialNames(const brain::GateState& gate, uint64_t decision);

// All functions below REQUIRE Committer::writer().

// Updates the numbers of tasks on trial from the tasks' names. A restart, or the return of a forgotten job,
// changes the numbers.
void FindTrialTasks(SharedFleet& fleet, LiveIngest& ingest);
// Sets the names of tasks that a trial has just selected by number. Drops tasks that have ended.
void NameTrialTasks(SharedFleet& fleet, LiveIngest& ingest, Unsaved& unsaved);
// Returns the orders of trials whose tasks changed, with their present tasks.
std::vector<TargetOrder> TrialExtensions(const SharedFleet& shared, const Unsaved& unsaved);

}  // namespace taut::server
