// Converts a limit for a container to a patch for the pods/resize subresource, and compares it with what the
// kubelet made of it. No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/model/allocation_plan.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Returns the container that a job's limit is for: the one of this name or, for "", the pod's only container.
// nullptr if the pod has several, or none of this name.
const ContainerState* ResizedContainer(const Pod& pod, std::string_view container);

// Returns where `container`, one of the pod's, gets an amount of the resource.
AllocationPlace PlaceOf(const Pod& pod, const ContainerState& container, Resource resource);

// Returns the owner's amounts of the container, without amounts set in place as far as they were seen.
TemplateContainer InTemplate(const Pod& pod, const ContainerState& container);

// An amount of one resource ordered for a container, and how request and limit follow from it.
struct OrderedAmount {
  Resource resource = Resource::kCpu;
  double cores_or_bytes = 0;
  Allocation allocation = {};
  // An autoscaler that relies on the request (FieldClaims), which then stays; "": none.
  std::string scaled_by = {};
};

// Returns request and limit for an ordered amount, by PlanAllocation. A container without a limit gets none,
// since an added one could not be removed. FailedPrecondition with the reason if it is impossible:
// - The container has neither request nor limit now.
// - kRequestOnly in a Guaranteed pod, a static pod, or a resize policy that restarts the running container.
// - The amount exceeds `allocatable` of the pod's node.
// - The request must stay, and there is no limit to set or none that may differ from it.
absl::StatusOr<ContainerResources> PlanResize(const Pod& pod, const ContainerState& container,
                                              const OrderedAmount& ordered,
                                              const std::optional<Amounts>& allocatable);

// Returns the largest allowed amount between `now`, which is allowed, and `wanted`, which is not; whole bytes
// and millicores. By bisection.
double FittingAmount(Resource resource, double now, double wanted,
                     absl::FunctionRef<bool(double amount)> is_allowed);

// Returns the owner's request and limit from the workload's template. FailedPrecondition if the template has
// no limit, since a limit cannot be removed.
absl::StatusOr<ContainerResources> PlanRelease(const Pod& pod, const ContainerState& container,
                                               Resource resource, const ContainerState& in_template);

// Returns the body of a strategic merge patch.
std::string ResizePatch(const ContainerState& container, Resource resource, const ContainerResources& wanted);

// True if the pod's specification has these amounts, as the API stores quantities.
bool SpecHas(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// True if request or limit would be lower than in the pod's specification.
bool Lowers(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// True if the kubelet reports that the container runs with these amounts.
bool RunsWith(const ContainerState& container, Resource resource, const ContainerResources& wanted);

}  // namespace taut::server
