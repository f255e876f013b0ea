// What the scheduler counts for a pod: max(of the pod, max(of its init containers, sum of containers and
// sidecars)) + overhead.
//
// Source: Kubernetes, component-helpers/resource, PodRequests; "Sidecar Containers", "Pod-level resources".
#pragma once

#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Of a container, the larger of what it asks for and what it runs with; absent: neither.
Amounts RequestsOf(const ContainerState& container);
// What the pod counts beyond the sum of its containers; absent: nothing.
Amounts RequestsBeyondContainers(const Pod& pod);

}  // namespace taut::server
