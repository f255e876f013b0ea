// taut trace import vpa: reads the state that a Vertical Pod Autoscaler has learnt from its checkpoints, as
// first bounds of jobs.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct ImportArgs {
  std::string what;   // "vpa"
  std::string file;   // "-": standard input
  std::string rules;  // a path; empty: not written
  std::string floor = "target";
  std::string cluster;  // prefix of the names of jobs
  OutputForm output = OutputForm::kTable;
};
int RunImport(const ImportArgs& args);

extern const char* const kImportHelp;
void AddImport(CLI::App& verb, ImportArgs& args);

}  // namespace taut::tools
