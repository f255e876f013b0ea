// taut get bills TRACE: computes the bills of the groups of a trace's pool.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct BillArgs {
  TraceArgs trace;
  std::string prices;                // path
  std::string recommender = "none";  // recommender whose limits are billed next to the owners' limits
  std::string warmup = "7d";         // warm-up of the recommender; not billed
  std::string by = "group";          // group, tier or job
  std::string job;                   // the job to change; used with what_if
  std::vector<std::string> what_if;  // "tier=batch", "reservation=0.5", "hours=0.3"
  int limit = 30;                    // rows of the table
  std::string focus, json;           // paths; empty: not written
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunBill(const BillArgs& args);

// Adds the options that `taut get bills` has only for a trace.
void AddBill(CLI::App& command, BillArgs& args);

}  // namespace taut::tools
