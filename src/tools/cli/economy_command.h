// taut economy: replays a shared pool over a trace, under several policies for selling the pool's slack.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct EconomyArgs {
  TraceArgs trace;
  std::string prices;                 // path of the price file
  std::vector<std::string> tiers;     // rules such as "batch=slack"; other tiers keep their default
  std::vector<std::string> policies;  // names; empty: all policies
  // amounts such as "cpu=100" or "memory=1TiB"; empty: the pool of the price file, or capacity_share
  std::vector<std::string> capacity;
  double capacity_share = 0.5;  // share of the highest sum of the owners' limits
  std::string quota;            // path of a quota file; empty: no quota
  // recommender whose limits replace the owners' limits; "none": owners' limits
  std::string recommender = "none";
  std::string warmup = "7d", horizon = "1d", reclaim = "10m", patience = "10m";
  std::string penalty;  // share of the charges, from 0 to 1; empty: the price file's service credits
  std::string bills, lines, decisions, report, json;  // paths; empty: not written
  int limit = 10;                                     // maximum number of rows in the table of bills
  int threads = 0;
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunEconomy(const EconomyArgs& args);

extern const char* const kEconomyHelp;
// Adds the options that only `taut economy` has.
void AddEconomy(CLI::App& verb, EconomyArgs& args);

}  // namespace taut::tools
