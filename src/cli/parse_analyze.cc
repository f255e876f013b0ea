#include "cli/analyze_command.h"

namespace taut {

const char* const kAnalyzeHelp =
    "Analyses the usage in a trace: how unequal its jobs are (moments, the share of the largest, the Pareto\n"
    "index, the wait that follows in a queue), usage, limits and slack by tier, and when jobs appear, with\n"
    "the values published of Google's traces beside it.\n\n"
    "Examples:\n"
    "  taut analyze 2013-07.csv.gz 2013-08.csv.gz --html analysis.html\n"
    "  taut analyze instance_usage-*.json.gz instance_events-*.json.gz\n"
    "  taut analyze cell.csv.gz --output json";

void AddAnalyze(CLI::App& verb, AnalyzeArgs& args) {
  verb.get_option("paths")->required();
  verb.add_option("--html", args.html, "write tables and charts as one HTML file")->type_name("FILE");
  verb.add_option("--json", args.json, "write the result, with every hour, as JSON to this file")
      ->type_name("FILE");
}

}  // namespace taut
