// taut replay --replicas: replays the number of tasks that every replica policy would have ordered, and its
// effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/commands.h"

namespace taut::tools {

inline constexpr double kMeanTasks = 12;

struct ReplicasArgs {
  bool replicas = false;  // replay a load instead of usage
  bool usage = false;     // the paths are a usage trace; a job's load is the CPU usage of its tasks
  // Label with the job's name, for loads in JSON; "": all labels together are the name.
  std::string job_label;
  std::vector<std::string> signals;   // columns of loads in CSV that function.target may name
  std::vector<std::string> policies;  // empty: all policies
  // Absent: the value in the settings file, else 0.8 and 2m.
  std::optional<double> max_utilization;
  std::optional<std::string> startup;
  double startup_sigma = 0;
  // Load that a task processes. Absent: for usage the CPU limit of a task, for loads computed from
  // mean_tasks.
  std::optional<double> capacity;
  std::optional<double> mean_tasks;  // absent: kMeanTasks
  std::string decide_every = "1m";
  std::string overload = "shed";
  uint64_t seed = 1;
};

// Runs the replay. `replay` has the options shared with the replay of usage (paths, warm-up, --set, output).
int RunReplicas(const ReplayArgs& replay, const ReplicasArgs& args);
// Runs taut tune --replicas.
int RunTuneReplicas(const TuneArgs& args, const ReplicasArgs& replicas);

}  // namespace taut::tools
