// taut analyze: what a trace holds, beside what is published of Google's.
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
// The options that it does not share with the other verbs.
void AddAnalyze(CLI::App& verb, AnalyzeArgs& args);

}  // namespace taut::tools
