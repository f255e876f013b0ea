// The tasks of trials: the fleet counts them by number, actuators know them by name, and a restart gives out
// numbers anew.
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

// The names of the tasks on the trial that `decision` began; empty if it is over.
std::vector<std::string> TrialNames(const brain::GateState& gate, uint64_t decision);

// REQUIRE Committer::writer().

// Numbers of tasks on trial are those of now: others hold after a restart.
void FindTrialTasks(SharedFleet& fleet, LiveIngest& ingest);
// Tasks that a trial has taken have numbers; from here on they have names.
void NameTrialTasks(SharedFleet& fleet, LiveIngest& ingest, Unsaved& unsaved);
// Orders of trials whose tasks changed, for those that they have now.
std::vector<TargetOrder> TrialExtensions(const SharedFleet& shared, const Unsaved& unsaved);

}  // namespace taut::server
