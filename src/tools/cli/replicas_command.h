// taut replay --replicas: replays the numbers of tasks that replica policies would have ordered, and their
// consequences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/commands.h"

namespace taut::tools {

inline constexpr double kMeanTasks = 12;

struct ReplicasArgs {
  bool replicas = false;  // true: replay a load instead of usage
  bool usage = false;     // true: the load of a job is the CPU usage of its tasks in a usage trace
  // Label of a JSON load that contains the job's name; "": all labels together form the name.
  std::string job_label;
  std::vector<std::string> signals;   // columns of a CSV load that function.target may use
  std::vector<std::string> policies;  // names; empty: all policies
  // Maximum utilization and start-up time; absent: values of the settings file, or else 0.8 and 2m.
  std::optional<double> max_utilization;
  std::optional<std::string> startup;
  double startup_sigma = 0;
  // Load that one task processes. Absent: with `usage` the CPU limit of a task, else computed from mean_tasks.
  std::optional<double> capacity;
  std::optional<double> mean_tasks;  // mean number of busy tasks; absent: kMeanTasks
  std::string decide_every = "1m";
  std::string overload = "shed";
  uint64_t seed = 1;
};

// Runs the replay. `replay` contains the options shared with the replay of limits: paths, warm-up, --set, output.
int RunReplicas(const ReplayArgs& replay, const ReplicasArgs& args);
// Runs `taut tune --replicas`.
int RunTuneReplicas(const TuneArgs& args, const ReplicasArgs& replicas);

}  // namespace taut::tools
