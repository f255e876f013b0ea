// taut get capacity FILE: replays the sale of a pool's slack over a recorded series. Shows the sellable part of
// the slack, and how often the promises of the sales were kept.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct ActuaryArgs {
  std::string file;
  std::string use;             // column with the usage of higher tiers
  std::string capacity = "1";  // a number, or the name of a column
  std::string step = "5m", horizon = "1d", reclaim = "0s", warmup = "7d";
  std::string promise = "98%";
  OutputForm output = OutputForm::kTable;
};
int RunActuary(const ActuaryArgs& args);

// Adds the options for a file, except --step, which the command for a running tautd also has.
void AddActuary(CLI::App& command, ActuaryArgs& args);

}  // namespace taut::tools
