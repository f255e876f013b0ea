// Adds the options of `taut replay --replicas`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/replicas_command.h"

namespace taut::tools {

// Adds the options. Call it after the other options of the command were added: the options that contradict
// --replicas are then rejected in combination with it.
void AddReplicas(CLI::App& replay, ReplicasArgs& args);
// Adds the same options to `taut tune`, and the options that `taut tune` has only with --replicas.
void AddTuneReplicas(CLI::App& app, TuneArgs& tune, ReplicasArgs& args);

}  // namespace taut::tools
