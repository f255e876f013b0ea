// taut trace fetch: reads usage from a Prometheus and writes it as a trace for taut replay.
#pragma once

#include <string>

#include "tools/cli/connection.h"

namespace taut::tools {

struct FetchArgs {
  ConnectionArgs connection;  // connection to the Prometheus
  std::string out;
  std::string last = "28d";
  std::string until;               // "": now
  std::string config;              // file with the mapping rules; "": the built-in rules
  std::string baseline = "limit";  // value that is written as the owner's limit
  bool quiet = false;
};
int RunFetch(const FetchArgs& args);

}  // namespace taut::tools
