// Commands of taut-dev. parse_dev.cc fills the arguments, which are plain structs.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/commands.h"
#include "tools/cli/connection.h"

namespace taut::tools {

// Parses the command line and runs the command. Returns the exit code (tools/cli/cli.h).
int RunDev(int argc, char** argv);

struct FeedArgs {
  ConnectionArgs connection;
  int jobs = 200;
  int days = 0;                 // length of the data set; 0: FeedDays()
  double speed = 600;           // simulated seconds per second of real time; 1: real time
  std::string history = "21d";  // length of the usage that is sent before the live phase
  std::string live;             // length of the live phase in simulated time; empty: until a signal arrives
  std::string every = "1m";     // scrape interval of the live phase in simulated time
  uint64_t seed = 1;
  bool ooms = false;
  bool follow = false;  // true: the number of pods follows the orders of tautd
  bool quiet = false;
};
// Sends a simulated cell to tautd. Returns kExitOk at the end of the live phase and after a signal.
int RunFeed(const FeedArgs& args);

struct BenchWriteArgs {
  ConnectionArgs connection;
  uint32_t series = 10'000;
  double rate = 0;  // samples per second; 0: as fast as possible
  double seconds = 10;
  int connections = 1;
  OutputForm output = OutputForm::kTable;
};
// Measures the throughput of a remote-write receiver. Returns kExitOk, or kExitPartial after a signal.
int RunBenchWrite(const BenchWriteArgs& args);

}  // namespace taut::tools
