#include "brain/cell/scheduler.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/simulate_command.h"
#include "tools/sim/cell_runs.h"

namespace taut::tools {
namespace {

void AddMade(CLI::App& verb, SimulateArgs& args) {
  brain::MadeCellEventsOptions& made = args.made;
  verb.add_option("--machines", made.cell.machines, "without files: machines of the generated cell")
      ->check(NotNegative(UINT32_MAX))
      ->capture_default_str();
  verb.add_option("--tasks-per-machine", made.cell.tasks_per_machine,
                  "without files: approximate number of running tasks per machine")
      ->capture_default_str();
  verb.add_option("--load", made.cell.other_cpu,
                  "without files: CPU requested at a time by jobs other than production, as a share of the "
                  "cell's")
      ->capture_default_str();
  verb.add_option("--time", args.time, "without files: duration, such as 2d or 12h")->capture_default_str();
  verb.add_option("--failure-days", made.failure_days,
                  "without files: mean days between failures of a machine; 0: none")
      ->capture_default_str();
  verb.add_option("--maintenance-days", made.maintenance_days,
                  "without files: days in which each machine is drained once; 0: none")
      ->capture_default_str();
  verb.add_option("--limit-changes", made.changes_a_day,
                  "without files: limits that the autoscaler changes per job and day")
      ->capture_default_str();
  verb.add_option("--seed", made.cell.seed, "seed of the generated cell and of run times")
      ->check(NotNegative())
      ->capture_default_str();
}

}  // namespace

const char* const kSimulateHelp =
    "Runs a cell over time: jobs come and end, machines fail and are drained, an autoscaler changes "
    "limits, and\n"
    "the scheduler places, preempts and evicts. Prints waiting times of jobs by tier, evicted and lost "
    "tasks with\n"
    "their causes, and how full the cell was. --compare repeats the run with another score, or without "
    "reclamation,\n"
    "preemption, autoscaler or failures. Without files, the cell is generated.\n\n"
    "Examples:\n"
    "  taut simulate machines.csv jobs.csv events.csv --report cell.html\n"
    "  taut simulate --machines 1000 --time 2d --compare no-reclamation,owner-limits,worst-fit\n"
    "  taut simulate --time 4d --warmup 1d --compare peak,moving-window,vpa\n"
    "  taut simulate gpu2023_nodes.csv gpu2023_pods.csv --warmup 100d --compare best-fit\n"
    "  taut simulate machine_events-*.json.gz collection_events-*.json.gz instance_events-*.json.gz "
    "--warmup 1d\n"
    "  taut simulate --machines 200 --load 0.6 --events events.csv.gz --output json\n"
    "  taut list setups";

void AddSimulate(CLI::App& verb, SimulateArgs& args) {
  std::vector<std::string> scores;
  for (const brain::CellScoreInfo& s : brain::CellScores()) scores.emplace_back(s.name);
  verb.add_option(
          "paths", args.files.paths,
          "CSV files of machines, jobs and events, or event tables of a trace, see docs/reference/traces.md")
      ->type_name("PATH");
  verb.add_option("--unit-cpu", args.files.unit_cpu_cores, "of event tables: cores of the trace's CPU unit")
      ->capture_default_str();
  verb.add_option("--unit-memory", args.files.unit_memory, "of event tables: memory of the trace's unit")
      ->capture_default_str();
  AddMade(verb, args);
  verb.add_option("--until", args.until,
                  "with files: end of the simulation (default: the last end of a job or event)");
  verb.add_option("--warmup", args.warmup,
                  "time at the beginning that is not measured (default: a quarter of a generated cell, "
                  "none of files)");
  verb.add_option("--compare", args.compare, "comma-separated; names by `taut list setups` (default: none)")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option("--score", args.score, "how a task's machine is chosen: best_fit, worst_fit or hybrid")
      ->capture_default_str()
      ->check(OneOf(scores));
  verb.add_option(
          "--enough", args.enough,
          "number of machines with room among which a task's machine is chosen; machines are examined in random order (0: all)")
      ->check(NotNegative(UINT32_MAX))
      ->capture_default_str();
  verb.add_option("--pass-every", args.pass_every, "minimum time between two scheduling passes")
      ->capture_default_str();
  verb.add_option("--threads", args.threads, "threads, at most one per setup; 0: one per core")
      ->capture_default_str();
  verb.add_flag("--strict", args.files.strict, "stop at the first bad row");
  verb.add_option("--json", args.json, "write the result as JSON to this file")->type_name("FILE");
  verb.add_option("--report", args.report, "write an HTML file with charts")->type_name("FILE");
  verb.add_option("--events", args.events, "write the events of each task and machine as CSV")
      ->type_name("FILE");
}

}  // namespace taut::tools
