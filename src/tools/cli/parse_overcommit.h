// The options of `taut overcommit`.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/overcommit_command.h"

namespace taut::tools {

extern const char* const kOvercommitHelp;
// Those that it does not share with the other verbs.
void AddOvercommit(CLI::App& verb, OvercommitArgs& args);

}  // namespace taut::tools
