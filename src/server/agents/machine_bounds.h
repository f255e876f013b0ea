// What a machine can have, and what an agent may therefore say.
#pragma once

#include "agent.pb.h"

namespace taut::server {

// No machine is larger.
inline constexpr double kMostCores = 16'384;
inline constexpr double kMostMemoryBytes = 256.0 * (1ULL << 40);

// Figures that a task on this machine can have. A machine that does not say its size has the largest there
// is.
bool FitsMachine(const taut::agent::v1::TaskWindow& window, const taut::agent::v1::Hello& machine);
bool FitsMachine(const taut::agent::v1::Oom& oom, const taut::agent::v1::Hello& machine);
bool FitsMachine(const taut::agent::v1::TierAct& act, const taut::agent::v1::Hello& machine);

}  // namespace taut::server
