// The commands about capacity, money and quota, of a running tautd or of files.
#pragma once

#include "tools/cli/command_table.h"

namespace taut::tools {

void AddMoneyCommands(CommandTable& commands);

}  // namespace taut::tools
