// Sums of the planned amounts of all containers of a pod.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/model/allocation_plan.h"
#include "common/model/resource.h"

namespace taut {

// One container of a pod.
struct PodPart {
  // Both amounts of a resource absent: nothing is recommended. One absent: that one stays as it is.
  PerResource<ContainerResources> recommended;
  PerResource<ContainerResources> now;  // the pod's current amounts
};

struct PodTotals {
  uint32_t containers = 0;
  uint32_t recommended = 0;  // containers with a recommendation for some resource; the others stay
  // By Resource. A request is absent if no container has one. A limit is absent if any container has none,
  // since that one may use the node's rest.
  PerResource<ContainerResources> amounts;

  const ContainerResources& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Sums over the containers that run at the same time: ordinary ones and sidecars. A container with only a
// limit requests its limit, as in Kubernetes. O(parts).
PodTotals TotalsOf(std::span<const PodPart> parts);

}  // namespace taut
