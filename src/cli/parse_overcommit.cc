#include "cli/parse_overcommit.h"

namespace taut {

const char* const kOvercommitHelp =
    "Predicts the usage peaks of machines that are made of a trace's tasks, and compares them with what "
    "came.\n"
    "Tasks that are present throughout are placed on machines at random; every 2 hours each predictor says\n"
    "what the tasks of a machine will use at most within the next 24 hours, from the usage until then.\n\n"
    "Examples:\n"
    "  taut overcommit 2013-07.csv.gz 2013-08.csv.gz\n"
    "  taut overcommit usage.csv --resource memory --machine-tasks 40 --placements 4 --seed 7\n"
    "  taut overcommit usage.csv --predictors n-sigma:n=10:window_h=168,machine-max:factor=1.3,oracle\n"
    "  taut overcommit usage.csv --decisions predictions.csv.gz --output json";

void AddOvercommit(CLI::App& verb, OvercommitArgs& args) {
  verb.get_option("paths")->required();
  verb.add_option("--resource", args.resources, "comma-separated: cpu, memory")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option("--machine-tasks", args.machine_tasks, "tasks on each machine")->capture_default_str();
  verb.add_option("--placements", args.placements,
                  "times that all tasks are placed; the machines of all placements are one cell")
      ->capture_default_str();
  verb.add_option("--seed", args.seed, "seed of the placements")->capture_default_str();
  verb.add_option("--warmup-days", args.warmup_days, "days at the start of the trace that are not scored")
      ->capture_default_str();
  verb.add_option("--every", args.every, "time between two predictions")->capture_default_str();
  verb.add_option("--horizon", args.horizon, "time whose peak is predicted")->capture_default_str();
  verb.add_option("--predictors", args.predictors,
                  "comma-separated: NAME or NAME:KEY=VALUE, or oracle; `taut list overcommit` has them "
                  "(default: all)")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option("--set", args.set, "a setting: key=value; may be repeated; `taut list overcommit`")
      ->type_name("KEY=VALUE");
  verb.add_option("--json", args.json, "write the result as JSON to this file")->type_name("FILE");
  verb.add_option("--decisions", args.decisions,
                  "write every prediction: time_s,resource,placement,machine,predictor,limit,predicted,"
                  "oracle,reason")
      ->type_name("FILE");
}

}  // namespace taut
