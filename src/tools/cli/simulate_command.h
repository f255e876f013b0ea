// taut simulate: simulates the scheduling of a cell over time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "brain/cell/cell_simulation.h"
#include "brain/cell/made_events.h"
#include "tools/cli/commands.h"
#include "tools/cli/input.h"

namespace taut::tools {

struct SimulateArgs {
  TraceArgs files;  // machines, jobs and events; no paths: a generated cell
  brain::MadeCellEventsOptions made;
  std::string time = "2d";  // simulated time of a generated cell
  std::string until;        // end of a simulation of files; empty: the last end of a job or last event
  // time before scoring; empty: a quarter of `time` for a generated cell, none for files
  std::string warmup;
  std::string score = "hybrid";
  std::string pass_every = "1s";
  uint32_t enough = 0;
  std::vector<std::string> compare;  // names of the setups to compare
  int threads = 0;
  std::string json, report, events;  // paths; empty: not written
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunSimulate(const SimulateArgs& args);

extern const char* const kSimulateHelp;
// Adds all options except the output options.
void AddSimulate(CLI::App& verb, SimulateArgs& args);

}  // namespace taut::tools
