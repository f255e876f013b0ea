// A wrapper that applies the limits of a schedule to a replica policy.
#pragma once

#include <memory>

#include "brain/replicas/replica_policy.h"
#include "brain/replicas/schedule.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Limits the count of `inner` to the schedule's limits at the time of the sample, even if the load is absent.
// `bounds` override the schedule. Saves only the state of `inner`.
std::unique_ptr<ReplicaPolicy> WithSchedule(std::unique_ptr<ReplicaPolicy> inner, ReplicaSchedule schedule,
                                            const ReplicaBounds& bounds);

}  // namespace taut::brain
