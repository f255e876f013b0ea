// What the verbs over load series share: their options, and what is read.
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
  std::vector<double> limits;  // of usage: of each job's tasks, cores; 0: not known
  std::string description;     // for people
  bool interrupted = false;    // reading was
};

// InvalidArgument names the option, its value and what is allowed. What the settings file says, and no option,
// is taken into `args`: the policy and the capacity of a task.
absl::StatusOr<ReplicaReplayOptions> ToReplicaOptions(const EngineArgs& engine, ReplicasArgs& args);
// Says on standard error what was read where nothing of it can be used.
absl::StatusOr<ReplicaInput> ReadReplicaInput(const TraceArgs& trace, const ReplicasArgs& args, bool quiet);
// The capacity of a task of the job at this place; NotFound says why there is none.
absl::StatusOr<double> TaskCapacityOf(const ReplicaInput& input, size_t at, const ReplicasArgs& args);
// What tautd would know of other jobs; absent where --mode does not ask for tautd.
std::optional<FleetMoves> FleetMovesOf(const ReplicaInput& input, const ReplicaReplayOptions& options);
// The policies to replay, once each. InvalidArgument: a name that is none.
absl::StatusOr<std::vector<std::string>> ToReplicaPolicies(const std::vector<std::string>& asked);
// What holds for all policies, for people.
std::string ReplicaConditions(const ReplicaReplayOptions& options, const ReplicasArgs& args);

}  // namespace taut::tools
