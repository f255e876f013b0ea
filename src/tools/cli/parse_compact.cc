#include "brain/cell/cell_experiments.h"
#include "brain/cell/scheduler.h"
#include "tools/cli/compact_command.h"
#include "tools/cli/parse_help.h"

namespace taut::tools {

const char* const kCompactHelp =
    "Finds how many machines the workload of a cell needs: removes machines at random and packs all tasks "
    "again,\nuntil they no longer fit. Experiments do so without reclamation, in separate cells, with "
    "rounded limits or\nby another score. Without files: a generated cell.\n"
    "With usage of the tasks, from tables of the trace or by --usage, further experiments pack by the "
    "limits of a\nrecommender or by a predictor's forecast for a task or for a machine's tasks together, "
    "and report how often\nthe packed machines would have had too little.\n\n"
    "Examples:\n"
    "  taut compact machines.csv jobs.csv\n"
    "  taut compact --machines 1000 --seed 7\n"
    "  taut compact gpu2023_nodes.csv gpu2023_pods.csv --experiments segregate,best-fit --output json\n"
    "  taut compact machine_events-*.json.gz collection_events-*.json.gz instance_events-*.json.gz --at 14d\n"
    "  taut compact google2019/ --at 14d --recommender moving_window,analogs --predictors "
    "rc-like,reservation\n"
    "  taut compact machines.csv jobs.csv --usage usage.csv.gz --recommender combined\n"
    "  taut compact machines.csv --usage 2013-07.csv.gz 2013-08.csv.gz --recommender analogs --at 40d\n"
    "  taut compact machines.csv --usage 2013-07.csv.gz 2013-08.csv.gz --predictors rc-like,n-sigma,pool "
    "--at 53d\n"
    "  taut list experiments";

namespace {

// Adds the options about the cell, its workload and its usage.
void AddCell(CLI::App& verb, CompactArgs& args) {
  verb.add_option(
          "paths", args.files.paths,
          "a CSV of machines and one of jobs, or event tables of a trace, see docs/reference/traces.md")
      ->type_name("PATH");
  verb.add_option(
      "--at", args.at,
      "jobs and machines of this time (10d, 36h) after the beginning (default: for event tables the time "
      "of the highest requested CPU; for CSV files all jobs, at the end of the usage)");
  verb.add_option(
          "--usage", args.usage,
          "trace of the tasks' usage. Its jobs belong to the cell's jobs of the same name; with only a "
          "file of machines, all jobs count (default: the tables of usage beside event tables)")
      ->type_name("PATH");
  verb.add_option("--recommender", args.engine.recommenders,
                  "comma-separated, as for `taut replay`: experiments with the limits of these "
                  "recommenders at that time")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option(
          "--predictors", args.predictors,
          "comma-separated: NAME or NAME:KEY=VALUE, names by `taut list overcommit`. Adds experiments with "
          "their forecasts for each task, or for all tasks of a machine together")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option("--settings", args.engine.settings_file,
                  "settings file (YAML) of the recommenders; `taut list settings` lists the keys")
      ->type_name("FILE");
  verb.add_option("--set", args.engine.set, "a setting of the recommenders: key=value; may be repeated")
      ->type_name("KEY=VALUE");
  verb.add_option("--unit-cpu", args.files.unit_cpu_cores, "of event tables: cores of the trace's CPU unit")
      ->capture_default_str();
  verb.add_option("--unit-memory", args.files.unit_memory, "of event tables: memory of the trace's unit")
      ->capture_default_str();
  verb.add_option("--machines", args.machines, "without files: machines of the generated cell")
      ->check(NotNegative(UINT32_MAX))
      ->capture_default_str();
  verb.add_option("--tasks-per-machine", args.tasks_per_machine, "without files: mean number")
      ->capture_default_str();
  verb.add_option("--seed", args.seed, "seed of the trials and of the generated cell")
      ->check(NotNegative())
      ->capture_default_str();
  verb.add_flag("--strict", args.files.strict, "stop at the first bad row");
}

}  // namespace

void AddCompact(CLI::App& verb, CompactArgs& args) {
  AddCell(verb, args);
  std::vector<std::string> scores;
  for (const brain::CellScoreInfo& s : brain::CellScores()) scores.emplace_back(s.name);
  verb.add_option("--experiments", args.experiments,
                  "comma-separated; names by `taut list experiments` (default: all; with --recommender or "
                  "--predictors only the base)")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option("--score", args.score, "how a task's machine is chosen: best_fit, worst_fit or hybrid")
      ->capture_default_str()
      ->check(OneOf(scores));
  verb.add_option("--stranded-weight", args.stranded_weight,
                  "weight of capacity that a full resource makes unusable, against free capacity, in the "
                  "hybrid score")
      ->capture_default_str();
  verb.add_option("--trials", args.trials,
                  "random orders in which machines are removed; the result is the 90th percentile")
      ->check(NotNegative(UINT32_MAX))
      ->capture_default_str();
  verb.add_option("--pending", args.pending_percent, "percentage of tasks that may stay pending")
      ->capture_default_str();
  verb.add_option("--large-user", args.large_user_percent,
                  "percentage of the cell's memory above which a user is large")
      ->capture_default_str();
  verb.add_option("--threads", args.threads, "threads; 0: one per core; the result does not depend on it")
      ->capture_default_str();
  verb.add_option("--after", args.after,
                  "with usage: time after --at whose usage is compared with the packed machines' capacity; "
                  "0h: none")
      ->capture_default_str();
  verb.add_option("--json", args.json, "write the result as JSON to this file")->type_name("FILE");
  verb.add_option("--placements", args.placements,
                  "write the machine of each task of each trial: "
                  "experiment,trial,machine,machine_name,job,task")
      ->type_name("FILE");
}

}  // namespace taut::tools
