// The options of `taut replay --replicas`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/replicas_command.h"

namespace taut::tools {

// After the other options of the verb: those that do not go with --replicas are refused with it.
void AddReplicas(CLI::App& replay, ReplicasArgs& args);
// The same of `taut tune`, and those that it has itself with --replicas.
void AddTuneReplicas(CLI::App& app, TuneArgs& tune, ReplicasArgs& args);

}  // namespace taut::tools
