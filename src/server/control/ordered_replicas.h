// The ordered number of tasks, for another program that reads it from the daemon and acts on it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/control/control_plane.h"

namespace taut::server {

// Returns the number of tasks that the replica policy has in force, in modes canary and auto; 0 if the job is to
// run no task. Returns FailedPrecondition if mode or settings order no number, or if no number was ordered so far.
// The message names the job and the setting to change.
absl::StatusOr<int64_t> OrderedReplicas(const brain::LiveJob& job);
// Returns the number for the job of this name; NotFound if there is no such job. Thread-safe.
absl::StatusOr<int64_t> OrderedReplicas(const ControlPlane& control, const std::string& job);

}  // namespace taut::server
