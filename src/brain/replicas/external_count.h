// A number of tasks from outside in place of a policy's own, as long as it holds.
#pragma once

#include <memory>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Decides what TakeExternal was given last, within `bounds`, and what `inner` decides before the first answer
// and after the last one's time. `inner` sees every sample. The answer is part of the state, which may also be
// that of `inner` alone.
std::unique_ptr<ReplicaPolicy> WithExternalCount(std::unique_ptr<ReplicaPolicy> inner,
                                                 const ReplicaBounds& bounds);

}  // namespace taut::brain
