// taut get bills TRACE: computes the bills of the groups of a trace's pool.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct BillArgs {
  TraceArgs trace;
  std::string prices;  // path of the price file
  // recommender whose limits determine a second bill; "none": no second bill
  std::string recommender = "none";
  std::string warmup = "7d";         // warm-up of the recommender, which is not billed
  std::string by = "group";          // kind of the table rows: group, tier or job
  std::string job;                   // job to which what_if applies
  std::vector<std::string> what_if;  // changes such as "tier=batch", "reservation=0.5" or "hours=0.3"
  int limit = 30;                    // maximum number of rows in the table
  std::string focus, json;           // paths; empty: not written
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunBill(const BillArgs& args);

// Adds the options of `taut get bills` that require a trace.
void AddBill(CLI::App& command, BillArgs& args);

}  // namespace taut::tools
