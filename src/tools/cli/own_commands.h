// The commands help, version, completion and man, which describe the command line itself.
#pragma once

#include "tools/cli/command_table.h"

namespace taut::tools {

// Adds the commands. REQUIRES: all other commands were added, and `commands` outlives the parsing.
void AddOwnCommands(CommandTable& commands);

}  // namespace taut::tools
