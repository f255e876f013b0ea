// taut trace import vpa: converts checkpoints of a Vertical Pod Autoscaler to lower bounds for the jobs of tautd.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

struct ImportArgs {
  std::string what;   // kind of the imported data, which must be "vpa"
  std::string file;   // path of the checkpoints; "-": standard input
  std::string rules;  // path of the output file with rules; empty: not written
  std::string floor = "target";
  std::string cluster;  // cluster with which the names of jobs start
  OutputForm output = OutputForm::kTable;
};
int RunImport(const ImportArgs& args);

extern const char* const kImportHelp;
void AddImport(CLI::App& verb, ImportArgs& args);

}  // namespace taut::tools
