// taut analyze: summarizes a trace, next to the published figures of Google's traces.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct AnalyzeArgs {
  TraceArgs trace;
  std::string html, json;  // paths; empty: not written
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunAnalyze(const AnalyzeArgs& args);

extern const char* const kAnalyzeHelp;
// Adds the options that only `taut analyze` has.
void AddAnalyze(CLI::App& verb, AnalyzeArgs& args);

}  // namespace taut::tools
