// taut trace fetch: reads the usage in a Prometheus as a trace for taut replay.
#pragma once

#include <string>

#include "tools/cli/connection.h"

namespace taut::tools {

struct FetchArgs {
  ConnectionArgs connection;  // of the Prometheus
  std::string out;
  std::string last = "28d";
  std::string until;               // "": now
  std::string config;              // file with the mapping rules; "": the built-in rules
  std::string baseline = "limit";  // value that is used as the owner's limit
  bool quiet = false;
};
int RunFetch(const FetchArgs& args);

}  // namespace taut::tools
