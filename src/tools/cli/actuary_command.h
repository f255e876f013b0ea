// taut get capacity FILE: how much of a pool's slack can be sold, and how such promises would have turned out.
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

// The options of a file, without --step, which a running tautd has as well.
void AddActuary(CLI::App& command, ActuaryArgs& args);

}  // namespace taut::tools
