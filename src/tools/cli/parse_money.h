// The commands about capacity, money and quota, for a running tautd or for files.
#pragma once

#include "tools/cli/command_table.h"

namespace taut::tools {

void AddMoneyCommands(CommandTable& commands);

}  // namespace taut::tools
