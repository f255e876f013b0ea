// Parses `--mode` and `--policy` of a replay: the gate between recommendations and limits.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "brain/rollout/job_policy.h"

namespace taut::tools {

// Returns the gate of a mode. "recommend": nullopt, no gate. "observe", "canary", "auto": the job policy for
// ReplayOptions::managed. `policy` contains key=value pairs of the job settings about limit changes
// (min_change, change_period, maintenance, canary.*). An InvalidArgument error names the option.
absl::StatusOr<std::optional<brain::JobPolicy>> ReplayMode(const std::string& mode,
                                                           std::span<const std::string> policy);

}  // namespace taut::tools
