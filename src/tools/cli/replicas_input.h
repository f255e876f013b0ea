// Parses options and reads input for the commands that replay load series.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/load_series.h"
#include "tools/cli/input.h"
#include "tools/cli/replicas_command.h"
#include "tools/sim/replica_replay.h"

namespace taut::tools {

struct ReplicaInput {
  std::vector<LoadSeries> loads;
  std::vector<double> limits;  // CPU limit of a task by job, in cores, for a usage trace; 0: unknown
  std::string description;     // describes the input for users
  bool interrupted = false;    // true if reading was interrupted
};

// Converts the options. Reads the policy and the capacity of a task from the settings file into `args`, unless an
// option overrides them. If an option is invalid, returns InvalidArgument with its name, its value and the allowed
// range.
absl::StatusOr<ReplicaReplayOptions> ToReplicaOptions(const EngineArgs& engine, ReplicasArgs& args);
// Reads the loads. If no row can be used, prints the counts of skipped rows to stdout and returns an error.
absl::StatusOr<ReplicaInput> ReadReplicaInput(const TraceArgs& trace, const ReplicasArgs& args, bool quiet);
// Returns the capacity of a task of job `at`. Returns NotFound with the reason if the capacity is unknown.
absl::StatusOr<double> TaskCapacityOf(const ReplicaInput& input, size_t at, const ReplicasArgs& args);
// Returns the load changes of all jobs, from which tautd would learn; absent if --mode does not simulate tautd.
std::optional<FleetMoves> FleetMovesOf(const ReplicaInput& input, const ReplicaReplayOptions& options);
// Returns the policies to replay, each policy once. Returns InvalidArgument for an unknown name.
absl::StatusOr<std::vector<std::string>> ToReplicaPolicies(const std::vector<std::string>& asked);
// Returns lines for users about the conditions that all policies share.
std::string ReplicaConditions(const ReplicaReplayOptions& options, const ReplicasArgs& args);

}  // namespace taut::tools
