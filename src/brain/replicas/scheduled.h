// A replica policy within the limits of a schedule.
#pragma once

#include <memory>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/schedule.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// The count is at least and at most what the schedule says at the time of the sample, also while the load is
// absent; the bounds hold in any case. The state is that of `inner`.
std::unique_ptr<ReplicaPolicy> WithSchedule(std::unique_ptr<ReplicaPolicy> inner, ReplicaSchedule schedule,
                                            const ReplicaBounds& bounds);

}  // namespace taut::brain
