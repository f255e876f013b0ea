// help, version, completion and man: the commands about the command line itself.
#pragma once

#include "tools/cli/command_table.h"

namespace taut::tools {

// Adds the commands. REQUIRES: all other commands were added. The table must outlive the parsing.
void AddOwnCommands(CommandTable& commands);

}  // namespace taut::tools
