// Parses `--mode` and `--policy` of a replay: the gate between recommendations and limits.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "brain/rollout/job_policy.h"

namespace taut::tools {

// "recommend": no gate. "observe", "canary", "auto": as ReplayOptions::managed. `policy` has key=value pairs
// of the job settings about limit changes (min_change, change_period, maintenance, canary.*). InvalidArgument
// names the option.
absl::StatusOr<std::optional<brain::JobPolicy>> ReplayMode(const std::string& mode,
                                                           std::span<const std::string> policy);

}  // namespace taut::tools
