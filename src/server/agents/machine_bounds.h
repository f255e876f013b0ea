// Upper bounds of machine sizes, and checks that agents' figures are plausible.
#pragma once

#include "agent.pb.h"

namespace taut::server {

// Upper bounds of the size of any machine.
inline constexpr double kMostCores = 16'384;
inline constexpr double kMostMemoryBytes = 256.0 * (1ULL << 40);

// Returns true if a task on this machine can have these figures. A machine that does not report its size is
// treated as the largest possible machine.
bool FitsMachine(const taut::agent::v1::TaskWindow& window, const taut::agent::v1::Hello& machine);
bool FitsMachine(const taut::agent::v1::Oom& oom, const taut::agent::v1::Hello& machine);
bool FitsMachine(const taut::agent::v1::TierAct& act, const taut::agent::v1::Hello& machine);

}  // namespace taut::server
