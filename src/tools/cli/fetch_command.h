// taut trace fetch: reads usage from a Prometheus and writes the usage as a trace for taut replay.
#pragma once

#include <string>

#include "tools/cli/connection.h"

namespace taut::tools {

struct FetchArgs {
  ConnectionArgs connection;  // connection to the Prometheus
  std::string out;
  std::string last = "28d";
  std::string until;               // end of the fetched time; "": now
  std::string config;              // path of a tautd.yaml with mapping rules; "": the built-in rules
  std::string baseline = "limit";  // amount that the trace contains as the owner's limit
  bool quiet = false;
};
int RunFetch(const FetchArgs& args);

}  // namespace taut::tools
