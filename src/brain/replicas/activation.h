// A replica policy whose job may go to zero, and back.
#pragma once

#include <memory>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// What `inner` decides runs only while the load is above KedaSettings::activation, and for its cool-down after
// that; then no task does, if the minimum is 0. `inner` has the bounds that InnerBounds gives.
//   kKeda  KEDA as published: at zero `inner` is not asked, and the job starts with one task; explained as keda
//   kOurs  `inner` sees every load, at zero as if one task ran, and says how many tasks the job starts with
// The state may also be that of `inner` alone for kOurs, and the one of another minimum.
enum class Activation : uint8_t { kKeda, kOurs };
std::unique_ptr<ReplicaPolicy> WithActivation(std::unique_ptr<ReplicaPolicy> inner, Activation how,
                                              const KedaSettings& settings, const ReplicaBounds& bounds);
// At least one task.
ReplicaBounds InnerBounds(ReplicaBounds bounds);

}  // namespace taut::brain
