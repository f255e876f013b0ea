#include "tools/cli/parse_replicas.h"

#include "tools/cli/parse_help.h"

namespace taut::tools {
namespace {

constexpr const char* kGroup = "Replicas";

// Options that only a replay of limits has.
constexpr const char* kOfUsage[] = {"--recommender",  "--resource", "--feedback", "--restart-delay",
                                    "--cap-at-owner", "--story",    "--show",     "--weights",
                                    "--oom-days",     "--changes"};
// Options that only commands for traces have.
constexpr const char* kOfTraces[] = {"--format",   "--group",       "--from",        "--to",
                                     "--unit-cpu", "--unit-memory", "--spill-memory"};

// Rejects options that contradict each other or lack another option. CLI11's needs() and excludes() are not used,
// because they would list the other options in the help.
void CheckTogether(const CLI::App& replay, const ReplicasArgs& args) {
  const auto has = [&](const char* name) {
    const CLI::Option* option = replay.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  };
  for (const char* other : kOfUsage) {
    if (args.replicas && has(other)) throw CLI::ExcludesError("--replicas", other);
  }
  for (const char* other : kOfTraces) {
    if (args.replicas && !args.usage && has(other)) throw CLI::RequiresError(other, "--usage");
  }
  for (const char* other : {"--mean-tasks", "--job-label", "--signals"}) {
    if (args.usage && has(other)) throw CLI::ExcludesError("--usage", other);
  }
  if (has("--capacity") && has("--mean-tasks")) throw CLI::ExcludesError("--capacity", "--mean-tasks");
  for (const CLI::Option* option : replay.get_options()) {
    if (!args.replicas && option->get_group() == kGroup && option->count() > 0)
      throw CLI::RequiresError(option->get_name(), "--replicas");
  }
}

// Adds the options about the replayed load.
void AddLoad(CLI::App& replay, ReplicasArgs& args) {
  const auto add = [&](CLI::Option* option) { option->group(kGroup); };
  add(replay.add_flag("--usage", args.usage,
                      "the paths are a usage trace: a job's load is the CPU of all its tasks, in cores"));
  add(replay
          .add_option("--job-label", args.job_label,
                      "JSON: label whose value names a job, such as pod (default: all labels)")
          ->type_name("LABEL"));
  add(replay
          .add_option("--signals", args.signals,
                      "comma-separated columns of the CSV that function.target may name, such as "
                      "queue_length in max(queue_length, 10m)")
          ->delimiter(',')
          ->type_name("NAME,..."));
}

// Adds the options about the simulated tasks and policies.
void AddReplicaReplay(CLI::App& replay, ReplicasArgs& args) {
  const auto add = [&](CLI::Option* option) { option->group(kGroup); };
  add(replay
          .add_option(
              "--policies", args.policies,
              "comma-separated: static, autopilot, hpa, keda, function, forecast, clairvoyant (default: all)")
          ->delimiter(',')
          ->type_name("NAME,..."));
  add(replay
          .add_option("--target-utilization", args.max_utilization,
                      "a minute is overloaded above this utilisation of the ready tasks")
          ->default_str("0.8"));
  add(replay.add_option("--startup", args.startup, "time from the start of a task until it is ready")
          ->default_str("2m"));
  add(replay
          .add_option("--startup-sigma", args.startup_sigma,
                      "sigma of a log-normal start-up time around --startup; 0: fixed")
          ->capture_default_str());
  add(replay
          .add_option("--mean-tasks", args.mean_tasks,
                      "scale each job's load to a mean of this many busy tasks")
          ->default_str("12"));
  add(replay.add_option("--capacity", args.capacity,
                        "load that one task processes at 100 %, instead of --mean-tasks; with --usage "
                        "instead of the CPU limit of a task"));
  add(replay.add_option("--decide-every", args.decide_every, "time between two decisions")
          ->capture_default_str());
  add(replay
          .add_option("--overload", args.overload,
                      "load above the ready capacity: shed (it is lost) or queue (it waits)")
          ->check(OneOf({"shed", "queue"}))
          ->capture_default_str());
  add(replay.add_option("--seed", args.seed, "seed of the start-up times")
          ->check(NotNegative())
          ->capture_default_str());
}

}  // namespace

void AddReplicas(CLI::App& replay, ReplicasArgs& args) {
  CLI::Option* const on =
      replay.add_flag("--replicas", args.replicas,
                      "replay load (CSV of time,job,load or time,value, or JSON of Prometheus' query_range) "
                      "through the replica policies");
  on->group(kGroup);
  replay.get_option("--settings")
      ->description(
          "settings file (YAML); `taut list settings` lists the keys; with --replicas job settings "
          "replicas.*, as `taut tune --replicas` writes them");
  replay.get_option("--mode")->description(
      "recommend: every recommendation is a limit at once; observe, canary, auto: limits as tautd would "
      "show, "
      "try or set them. With --replicas: recommend, or auto for orders as tautd would give them");
  replay.get_option("--policy")
      ->description(
          "with --mode: a job setting that limits changes (min_change, change_period, maintenance, "
          "version, watch_version, canary.*; with --replicas replicas.change_period, replicas.settle, "
          "maintenance); may be repeated");
  AddLoad(replay, args);
  AddReplicaReplay(replay, args);
  replay.final_callback([&replay, &args] { CheckTogether(replay, args); });
}

void AddTuneReplicas(CLI::App& app, TuneArgs& tune, ReplicasArgs& args) {
  AddReplicas(app, args);
  app.get_option("--replicas")
      ->description(
          "sweep the settings of replica policies over load (CSV of time,job,load or time,value, or "
          "JSON of Prometheus' query_range)");
  const auto add = [&](CLI::Option* option) { option->group(kGroup); };
  add(app.add_option("--overloaded", tune.overloaded, "maximum share of time overloaded")
          ->capture_default_str());
  add(app.add_option("--replica-changes", tune.replica_changes, "maximum of changes of a job's tasks a day")
          ->capture_default_str());
  add(app.add_option("--holdout", tune.holdout,
                     "last share of the measured time, on which the chosen settings are only judged")
          ->capture_default_str());
}

}  // namespace taut::tools
