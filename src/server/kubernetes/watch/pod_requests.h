// The requests that the scheduler counts for a pod: max(request of the pod, max(requests of its init containers,
// sum over its containers and sidecars)) + overhead.
//
// Source: Kubernetes, component-helpers/resource, PodRequests; "Sidecar Containers", "Pod-level resources".
#pragma once

#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Returns the larger of a container's specified and current requests; absent if there is neither.
Amounts RequestsOf(const ContainerState& container);
// Returns the requests of the pod beyond the sum of its containers; absent if there are none.
Amounts RequestsBeyondContainers(const Pod& pod);

}  // namespace taut::server
