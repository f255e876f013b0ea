// What all containers of a pod are to have together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/model/allocation_plan.h"
#include "common/model/resource.h"

namespace taut {

// One container of a pod, by Resource.
struct PodPart {
  // Both of a resource absent: nothing is recommended. One of them: that one stays as it is.
  PerResource<ContainerResources> recommended;
  PerResource<ContainerResources> now;  // as the pod has it
};

struct PodTotals {
  uint32_t containers = 0;
  uint32_t recommended = 0;  // those of them that have a recommendation for some resource; the others stay
  // By Resource. A request is absent where no container has one, a limit where some container has none, which may
  // use what the node has.
  PerResource<ContainerResources> amounts;

  const ContainerResources& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Sums over the containers that run side by side: the ordinary ones and sidecars. A container with a limit alone
// requests that, as Kubernetes has it. O(parts).
PodTotals TotalsOf(std::span<const PodPart> parts);

}  // namespace taut
