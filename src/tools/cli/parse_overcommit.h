// Adds the options of `taut overcommit`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/overcommit_command.h"

namespace taut::tools {

extern const char* const kOvercommitHelp;
// Adds the options that `taut overcommit` does not share with other commands.
void AddOvercommit(CLI::App& verb, OvercommitArgs& args);

}  // namespace taut::tools
