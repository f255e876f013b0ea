// Shared parts of the commands that read load series: options and input.
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
  std::vector<double> limits;  // CPU limit of each job's tasks, cores, if the input is usage; 0: unknown
  std::string description;     // description of the input for users
  bool interrupted = false;    // true if reading was interrupted
};

// Converts the options. An InvalidArgument error contains the option, its value and the allowed range. Stores
// the policy and the capacity of a task from the settings file in `args`, unless an option overrides them.
absl::StatusOr<ReplicaReplayOptions> ToReplicaOptions(const EngineArgs& engine, ReplicasArgs& args);
// Reads the loads. If no row can be used, prints the counts of the rows to stdout before it returns the error.
absl::StatusOr<ReplicaInput> ReadReplicaInput(const TraceArgs& trace, const ReplicasArgs& args, bool quiet);
// Returns the capacity of a task of the job with this index. If the capacity is unknown, returns NotFound
// with the reason.
absl::StatusOr<double> TaskCapacityOf(const ReplicaInput& input, size_t at, const ReplicasArgs& args);
// Returns the moves of all jobs, which tautd would know; absent if --mode does not simulate tautd.
std::optional<FleetMoves> FleetMovesOf(const ReplicaInput& input, const ReplicaReplayOptions& options);
// Returns the policies to replay, each once. Returns InvalidArgument for an unknown name.
absl::StatusOr<std::vector<std::string>> ToReplicaPolicies(const std::vector<std::string>& asked);
// Returns a text for users about the conditions that all policies share.
std::string ReplicaConditions(const ReplicaReplayOptions& options, const ReplicasArgs& args);

}  // namespace taut::tools
