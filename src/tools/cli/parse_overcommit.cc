#include "tools/cli/parse_overcommit.h"

#include "tools/cli/parse_help.h"

namespace taut::tools {

const char* const kOvercommitHelp =
    "Predicts the usage peaks of machines, generated from a trace's tasks or recorded in it, and "
    "compares them\n"
    "with the measured peaks. Tasks that are present throughout are placed on machines at random; every "
    "2 hours\n"
    "each predictor forecasts the peak of a machine's tasks within the next 24 hours, from the usage "
    "until then.\n"
    "With --machines recorded tasks are on the machines of their rows, and machines have the capacity of "
    "the\n"
    "trace (Google v3 and 2011, Alibaba 2018). With --soft a predictor sets the memory of each machine. "
    "Its tasks\n"
    "may use more than their requests until it is full, and are then killed by tier. The result is "
    "compared with\n"
    "hard limits.\n\n"
    "Examples:\n"
    "  taut overcommit 2013-07.csv.gz 2013-08.csv.gz\n"
    "  taut overcommit 2013-07.csv.gz 2013-08.csv.gz --html peaks.html\n"
    "  taut overcommit usage.csv --resource memory --machine-tasks 40 --placements 4 --seed 7\n"
    "  taut overcommit --machines recorded instance_usage-*.json.gz instance_events-*.json.gz "
    "machine_events-*.json.gz\n"
    "  taut overcommit usage.csv --predictors n-sigma:n=10:window=1w,machine-max:factor=1.3,oracle\n"
    "  taut overcommit usage.csv --decisions predictions.csv.gz --output json\n"
    "  taut overcommit usage.csv --soft --requests analogs --tiers production=0.6,batch=0.4 --kills "
    "kills.csv\n"
    "  taut overcommit --machines recorded --soft instance_usage-*.json.gz machine_events-*.json.gz";

namespace {

void AddSoftMemory(CLI::App& verb, OvercommitArgs& args) {
  verb.add_flag("--soft", args.soft, "compare kills and footprint of soft and hard memory limits");
  verb.add_option("--requests", args.requests,
                  "with --soft: the recommender whose limits are the requests, and the hard limits")
      ->capture_default_str()
      ->type_name("NAME");
  verb.add_option("--settings", args.settings_file,
                  "with --soft: that recommender's settings; `taut tune` writes them")
      ->type_name("FILE");
  verb.add_option(
          "--tiers", args.tiers,
          "with --soft: NAME=SHARE,... of the tasks, at random; default: by priority, and without one "
          "production=0.5,batch=0.5")
      ->delimiter(',')
      ->type_name("NAME=SHARE,...");
  verb.add_option("--kills", args.kills,
                  "with --soft: write every kill: time_s,world,placement,machine,task,tier,usage,request,"
                  "machine_usage,machine_memory")
      ->type_name("FILE");
}

}  // namespace

void AddOvercommit(CLI::App& verb, OvercommitArgs& args) {
  verb.get_option("paths")->required();
  verb.add_option("--resource", args.resources, "comma-separated: cpu, memory")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option(
          "--machines", args.machines,
          "made: machines of tasks placed at random; recorded: machines of the trace with their tasks")
      ->capture_default_str()
      ->check(OneOf({"made", kRecordedMachines}));
  verb.add_option("--machine-tasks", args.machine_tasks, "tasks on each made machine")
      ->check(NotNegative(UINT32_MAX))
      ->capture_default_str();
  verb.add_option(
          "--placements", args.placements,
          "number of times that all tasks are placed on generated machines; all these machines form one cell")
      ->check(NotNegative(UINT32_MAX))
      ->capture_default_str();
  verb.add_option("--seed", args.seed, "seed of the placements, and of the tiers that are drawn")
      ->check(NotNegative())
      ->capture_default_str();
  verb.add_option("--warmup-days", args.warmup_days, "days at the start of the trace that are not scored")
      ->capture_default_str();
  verb.add_option("--every", args.every, "time between two predictions")->capture_default_str();
  verb.add_option("--horizon", args.horizon, "time whose peak is predicted")->capture_default_str();
  verb.add_option("--predictors", args.predictors,
                  "comma-separated: NAME or NAME:KEY=VALUE, or oracle; names by `taut list overcommit` "
                  "(default: all)")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option("--set", args.set, "a setting: key=value; may be repeated; `taut list overcommit`")
      ->type_name("KEY=VALUE");
  verb.add_option("--compatibility", args.compatibility,
                  "version whose defaults apply to settings that are not given, such as 0.1.0; "
                  "docs/reference/configuration.md")
      ->type_name("VERSION");
  verb.add_option("--html", args.html, "write tables by predictor and machine, and charts, as one HTML file")
      ->type_name("FILE");
  verb.add_option("--json", args.json, "write the result as JSON to this file")->type_name("FILE");
  verb.add_option("--decisions", args.decisions,
                  "write every prediction: time_s,resource,placement,machine,predictor,limit,predicted,"
                  "oracle,reason")
      ->type_name("FILE");
  AddSoftMemory(verb, args);
}

}  // namespace taut::tools
