// taut overcommit: replays peak predictors over machines. Shows the share of the limits that each predictor would
// reserve, and how often usage exceeded the reservation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/commands.h"
#include "tools/cli/json_text.h"
#include "tools/sim/overcommit_replay.h"

namespace taut::tools {

struct OvercommitArgs {
  TraceArgs trace;
  std::vector<std::string> resources;   // names; empty: both resources
  std::vector<std::string> predictors;  // names; empty: the default predictors
  std::string compatibility;            // version of taut whose defaults apply; "": this version
  std::vector<std::string> set;         // key=value
  std::string machines = "made";        // kind of machines: "made" (generated placements) or "recorded"
  uint32_t machine_tasks = 25;
  uint32_t placements = 2;
  uint64_t seed = 1;
  double warmup_days = 14;
  std::string every = "2h";
  std::string horizon = "24h";
  std::string decisions, json, html;  // paths; empty: not written
  bool soft = false;                  // true: replay soft memory limits instead of predictions
  std::string requests = "analogs";
  std::string settings_file;  // path of a settings file for the recommender of `requests`
  std::vector<std::string>
      // Shares as name=share, for jobs without a priority; empty: half batch, half production.
      tiers;
  std::string kills;  // path of the CSV of kills; empty: not written
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
inline constexpr const char* kRecordedMachines = "recorded";
int RunOvercommit(const OvercommitArgs& args);

// Returns lines that count the rows, tasks and machines of a replay of recorded machines.
std::string RecordedUseText(Resource resource, size_t tasks, size_t machines, const RecordedUse& use);
Json RecordedUseJson(const RecordedUse& use);

// Runs the replay of --soft. `options` contains the machines and predictors of `args`.
int RunSoftMemory(const OvercommitArgs& args, const OvercommitOptions& options);

}  // namespace taut::tools
