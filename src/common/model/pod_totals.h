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
  // Recommended amounts, indexed by Resource. If both amounts are absent, nothing is recommended; if one is
  // absent, the current amount stays.
  PerResource<ContainerResources> recommended;
  PerResource<ContainerResources> now;  // the pod's current amounts
};

struct PodTotals {
  uint32_t containers = 0;
  uint32_t recommended = 0;  // containers with a recommendation for some resource
  // Indexed by Resource. A request is absent if no container has a request. A limit is absent if any container has
  // no limit, since a container without a limit may use the rest of the node.
  PerResource<ContainerResources> amounts;

  const ContainerResources& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Sums over the containers that run at the same time: ordinary containers and sidecars. A container with only a
// limit requests its limit, as in Kubernetes. O(parts).
PodTotals TotalsOf(std::span<const PodPart> parts);

}  // namespace taut
