// Command line of `taut overcommit`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/overcommit_command.h"

namespace taut::tools {

extern const char* const kOvercommitHelp;
// Adds the options that only `taut overcommit` has.
void AddOvercommit(CLI::App& verb, OvercommitArgs& args);

}  // namespace taut::tools
