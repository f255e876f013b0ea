// The commands about capacity, money and quota, which query a tautd or read files.
#pragma once

#include "tools/cli/command_table.h"

namespace taut::tools {

void AddMoneyCommands(CommandTable& commands);

}  // namespace taut::tools
