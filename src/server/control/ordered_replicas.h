// The number of tasks that another program may take from the daemon and act on.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/control/control_plane.h"

namespace taut::server {

// What the policy of replicas has ordered for a job and has in force, 0 for a job that is to run no task; only
// for jobs in a mode that acts (canary, auto). FailedPrecondition: its mode or settings order no number, or
// there is none so far. The message names the job and what to change.
absl::StatusOr<int64_t> OrderedReplicas(const brain::LiveJob& job);
// The same for the job of this name; NotFound: no such job. Any thread.
absl::StatusOr<int64_t> OrderedReplicas(const ControlPlane& control, const std::string& job);

}  // namespace taut::server
