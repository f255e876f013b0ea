#include "tools/cli/analyze_command.h"

namespace taut::tools {

const char* const kAnalyzeHelp =
    "Analyses the usage in a trace: how unequal its jobs are (moments, the share of the largest, the Pareto\n"
    "index, the wait that follows in a queue), usage, limits and slack by tier, and when jobs appear, with\n"
    "the values published of Google's traces beside it. For tables of events and machines (Google v3 and "
    "2011,\n"
    "Alibaba 2018, Alibaba's GPU trace of 2023), shows submissions, scheduling delays and ends by tier, "
    "machine\nshapes, alloc sets and autoscaling modes.\n\n"
    "Examples:\n"
    "  taut analyze 2013-07.csv.gz 2013-08.csv.gz --html analysis.html\n"
    "  taut analyze instance_usage-*.json.gz instance_events-*.json.gz\n"
    "  taut analyze collection_events-*.json.gz instance_events-*.json.gz machine_events-*.json.gz\n"
    "  taut analyze gpu2023_nodes.csv gpu2023_pods.csv --html events.html\n"
    "  taut analyze cell.csv.gz --output json";

void AddAnalyze(CLI::App& verb, AnalyzeArgs& args) {
  verb.get_option("paths")->required();
  verb.add_option("--html", args.html, "write tables and charts as one HTML file")->type_name("FILE");
  verb.add_option("--json", args.json, "write the result, with every hour, as JSON to this file")
      ->type_name("FILE");
}

}  // namespace taut::tools
