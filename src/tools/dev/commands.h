// The commands of taut-dev, with their arguments as plain structs: parse_dev.cc fills them in.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/commands.h"
#include "tools/cli/connection.h"

namespace taut::tools {

// Reads the command line and runs the command; returns the exit code (tools/cli/cli.h).
int RunDev(int argc, char** argv);

struct FeedArgs {
  ConnectionArgs connection;
  int jobs = 200;
  int days = 0;                 // 0: FeedDays
  double speed = 600;           // cell-seconds a second; 1: the wall clock's
  std::string history = "21d";  // sent at once
  std::string live;             // of the cell's time, then it ends; empty: until a signal
  std::string every = "1m";     // scrape interval of the live phase
  uint64_t seed = 1;
  bool ooms = false;
  bool follow = false;  // as many pods run as tautd orders
  bool quiet = false;
};
// A signal is how it ends: kExitOk.
int RunFeed(const FeedArgs& args);

struct BenchWriteArgs {
  ConnectionArgs connection;
  uint32_t series = 10'000;
  double rate = 0;  // samples a second; 0: as fast as it goes
  double seconds = 10;
  int connections = 1;
  OutputForm output = OutputForm::kTable;
};
int RunBenchWrite(const BenchWriteArgs& args);

}  // namespace taut::tools
