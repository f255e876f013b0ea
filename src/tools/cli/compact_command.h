// taut compact: how few machines a cell's workload needs, and how many if the cell were run otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "brain/cell/machine_scores.h"
#include "tools/cli/commands.h"
#include "tools/cli/input.h"

namespace taut::tools {

struct CompactArgs {
  TraceArgs files;                       // of machines and jobs; no paths: a made cell
  std::vector<std::string> usage;        // files; empty: of event tables the usage tables beside them
  std::string at;                        // a time; empty: all jobs, or of recorded events the fullest time
  uint32_t machines = 1000;              // of a made cell
  double tasks_per_machine = 12;         // about
  uint64_t seed = 1;                     // of the made cell and of the trials
  std::vector<std::string> experiments;  // empty: all, or none but the base if there are any of the next two
  EngineArgs engine;                     // recommenders, settings_file and set: empty, none
  std::vector<std::string> predictors;   // empty: none
  std::string score = "hybrid";
  double stranded_weight = brain::CellScoring().stranded_weight;
  uint32_t trials = 11;
  double pending_percent = 0.2;
  double large_user_percent = 2;
  int threads = 0;
  std::string after = "24h";     // of usage that is compared with the packed machines
  std::string json, placements;  // paths; empty: not written
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunCompact(const CompactArgs& args);

extern const char* const kCompactHelp;
// All options but those of the output.
void AddCompact(CLI::App& verb, CompactArgs& args);

}  // namespace taut::tools
