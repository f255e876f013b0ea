// The requests that the scheduler counts for a pod: max(request of the pod, max(requests of its init
// containers, sum of its containers and sidecars)) + overhead.
//
// Source: Kubernetes, component-helpers/resource, PodRequests; "Sidecar Containers", "Pod-level resources".
#pragma once

#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Returns the larger of the requests in the container's spec and the requests that the container runs with.
// An amount is absent if there is neither.
Amounts RequestsOf(const ContainerState& container);
// Returns the requests that the pod counts above the sum of its containers; absent if there are none.
Amounts RequestsBeyondContainers(const Pod& pod);

}  // namespace taut::server
