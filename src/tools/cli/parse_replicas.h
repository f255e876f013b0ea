// Command line of `taut replay --replicas`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/replicas_command.h"

namespace taut::tools {

// Adds the options. REQUIRES: the command's other options were added, because some of them are rejected together
// with --replicas.
void AddReplicas(CLI::App& replay, ReplicasArgs& args);
// Adds the same options to `taut tune`, and the options that `taut tune --replicas` has in addition.
void AddTuneReplicas(CLI::App& app, TuneArgs& tune, ReplicasArgs& args);

}  // namespace taut::tools
