// taut get capacity FILE: the sellable part of a pool's slack, and the observed rate at which such promises
// were kept.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct ActuaryArgs {
  std::string file;
  std::string use;             // a column
  std::string capacity = "1";  // a number or a column
  std::string step = "5m", horizon = "1d", reclaim = "0s", warmup = "7d";
  std::string promise = "98%";
  OutputForm output = OutputForm::kTable;
};
int RunActuary(const ActuaryArgs& args);

// Adds the options of a file. --step is not among them, because a running tautd has it as well.
void AddActuary(CLI::App& command, ActuaryArgs& args);

}  // namespace taut::tools
