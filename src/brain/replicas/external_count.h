// A wrapper that replaces a policy's number of tasks by an external one while that is valid.
#pragma once

#include <memory>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Decides the last answer of TakeExternal within `bounds`; before the first answer and after the last one's
// time, the decision of `inner`, which observes every sample. The answer is saved; a state of `inner` alone
// can also be loaded.
std::unique_ptr<ReplicaPolicy> WithExternalCount(std::unique_ptr<ReplicaPolicy> inner,
                                                 const ReplicaBounds& bounds);

}  // namespace taut::brain
