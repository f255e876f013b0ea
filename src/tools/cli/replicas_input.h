// Shared parts of the commands over load series: their options and their input.
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
  std::vector<double> limits;  // for usage: CPU limit of each job's tasks, cores; 0: not known
  std::string description;     // for people
  bool interrupted = false;    // true if reading was interrupted
};

// Converts the options. InvalidArgument contains the option, its value and the allowed range. Values of the
// settings file that no option overrides are stored in `args`: the policy and the capacity of a task.
absl::StatusOr<ReplicaReplayOptions> ToReplicaOptions(const EngineArgs& engine, ReplicasArgs& args);
// Reads the loads. If no row can be used, prints the counts of the rows to stdout before it returns the error.
absl::StatusOr<ReplicaInput> ReadReplicaInput(const TraceArgs& trace, const ReplicasArgs& args, bool quiet);
// Returns the capacity of a task of the job with this index; NotFound contains the reason if there is none.
absl::StatusOr<double> TaskCapacityOf(const ReplicaInput& input, size_t at, const ReplicasArgs& args);
// Returns tautd's knowledge of other jobs; absent if --mode does not simulate tautd.
std::optional<FleetMoves> FleetMovesOf(const ReplicaInput& input, const ReplicaReplayOptions& options);
// Returns the policies to replay, once each. InvalidArgument for an unknown name.
absl::StatusOr<std::vector<std::string>> ToReplicaPolicies(const std::vector<std::string>& asked);
// Returns the conditions that all policies share, for people.
std::string ReplicaConditions(const ReplicaReplayOptions& options, const ReplicasArgs& args);

}  // namespace taut::tools
