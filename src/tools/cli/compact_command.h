// taut compact: finds the smallest number of machines for a cell's workload and for variations of the workload.
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
  TraceArgs files;                 // machines and jobs; no paths: a generated cell
  std::vector<std::string> usage;  // files of usage; empty: tables of usage beside the event tables
  std::string at;  // time of the cell; empty: the time with most tasks, or all jobs if there are no times
  uint32_t machines = 1000;       // number of machines of a generated cell
  double tasks_per_machine = 12;  // approximate mean number of tasks in a generated cell
  uint64_t seed = 1;              // seed of the generated cell and of the trials
  // Empty: all experiments, or only the base if there are recommenders or predictors.
  std::vector<std::string> experiments;
  // Only the members recommenders, settings_file and set are used. Without recommenders, none is replayed.
  EngineArgs engine;
  std::vector<std::string> predictors;  // names; empty: no predictor
  std::string score = "hybrid";
  double stranded_weight = brain::CellScoring().stranded_weight;
  uint32_t trials = 11;
  double pending_percent = 0.2;
  double large_user_percent = 2;
  int threads = 0;
  std::string after = "24h";     // length of the usage that is measured after packing
  std::string json, placements;  // paths; empty: not written
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunCompact(const CompactArgs& args);

extern const char* const kCompactHelp;
// Adds all options except the output options.
void AddCompact(CLI::App& verb, CompactArgs& args);

}  // namespace taut::tools
