// A wrapper for replica policies whose job may be scaled to zero and back.
#pragma once

#include <memory>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Applies the decisions of `inner` while the load is above KedaSettings::activation, and for the following
// cool-down. After the cool-down the job runs no task if its minimum is 0. `inner` must have the bounds of
// InnerBounds.
//
//   kKeda KEDA as published: `inner` is not called at zero, and the job starts with one task; explained as keda
//   kOurs `inner` observes every load, at zero tasks as if one task ran, and decides the number of tasks to start
//
// Load() also accepts a state of `inner` alone (kOurs), or a state saved with another minimum.
enum class Activation : uint8_t { kKeda, kOurs };
std::unique_ptr<ReplicaPolicy> WithActivation(std::unique_ptr<ReplicaPolicy> inner, Activation how,
                                              const KedaSettings& settings, const ReplicaBounds& bounds);
// Returns `bounds` with a minimum of at least one task.
ReplicaBounds InnerBounds(ReplicaBounds bounds);

}  // namespace taut::brain
