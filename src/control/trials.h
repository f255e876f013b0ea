// Trials as orders: their tasks by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rollout/gate.h"

namespace taut {

// The names of the tasks on the trial that `decision` began; empty if it is over.
std::vector<std::string> TrialNames(const GateState& gate, uint64_t decision);

}  // namespace taut
