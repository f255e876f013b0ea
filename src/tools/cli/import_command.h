// taut trace import vpa: reads the state that a Vertical Pod Autoscaler has learnt from the autoscaler's
// checkpoints. The state becomes the first bounds of jobs.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct ImportArgs {
  std::string what;   // "vpa"
  std::string file;   // "-": standard input
  std::string rules;  // path of the rules file; empty: not written
  std::string floor = "target";
  std::string cluster;  // prefix of the names of jobs
  OutputForm output = OutputForm::kTable;
};
int RunImport(const ImportArgs& args);

extern const char* const kImportHelp;
void AddImport(CLI::App& verb, ImportArgs& args);

}  // namespace taut::tools
