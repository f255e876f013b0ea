// Parses --mode and --policy of a replay, which define the gate between recommendations and limits.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "brain/rollout/job_policy.h"

namespace taut::tools {

// Returns the gate of a mode: nullopt (no gate) for "recommend", and a policy for ReplayOptions::managed for
// "observe", "canary" and "auto". `policy` contains key=value pairs of job settings about limit changes
// (min_change, change_period, maintenance, canary.*). If an option is invalid, returns InvalidArgument with its
// name.
absl::StatusOr<std::optional<brain::JobPolicy>> ReplayMode(const std::string& mode,
                                                           std::span<const std::string> policy);

}  // namespace taut::tools
