// taut economy: replays a shared pool over a trace, under several policies for selling the pool's slack.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct EconomyArgs {
  TraceArgs trace;
  std::string prices;                 // path
  std::vector<std::string> tiers;     // "batch=slack"; tiers that are not named have their default
  std::vector<std::string> policies;  // empty: all policies
  // "cpu=100", "memory=1TiB"; empty: the price file's pool, or capacity_share.
  std::vector<std::string> capacity;
  double capacity_share = 0.5;       // share of the highest sum of the owners' limits
  std::string quota;                 // path; empty: none
  std::string recommender = "none";  // recommender whose limits are requested instead of the owners' limits
  std::string warmup = "7d", horizon = "1d", reclaim = "10m", patience = "10m";
  std::string penalty;                                // share; empty: the price file's service credits
  std::string bills, lines, decisions, report, json;  // paths; empty: not written
  int limit = 10;                                     // rows of the table of bills
  int threads = 0;
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunEconomy(const EconomyArgs& args);

extern const char* const kEconomyHelp;
// Adds the options that `taut economy` does not share with other commands.
void AddEconomy(CLI::App& verb, EconomyArgs& args);

}  // namespace taut::tools
