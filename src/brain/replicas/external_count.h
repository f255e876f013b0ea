// A wrapper that replaces a policy's number of tasks by an external number while the external number is valid.
#pragma once

#include <memory>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Creates a policy that decides on the last answer of TakeExternal, within `bounds`, while the answer is valid.
// Otherwise the policy decides on the count of `inner`, which observes every sample. Save() includes the answer.
// Load() also accepts a state of `inner` alone.
std::unique_ptr<ReplicaPolicy> WithExternalCount(std::unique_ptr<ReplicaPolicy> inner,
                                                 const ReplicaBounds& bounds);

}  // namespace taut::brain
