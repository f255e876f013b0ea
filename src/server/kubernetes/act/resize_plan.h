// Converts a limit for a container to a patch for the pods/resize subresource, and compares the patch with
// the amounts that the kubelet reports. No I/O.
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

// Returns the container that a job's limit is for: the container with this name or, for "", the pod's only
// container. nullptr if no container has the name, or if the name is "" and the pod has several containers.
const ContainerState* ResizedContainer(const Pod& pod, std::string_view container);

// Returns the amounts of `container`, one of the pod's, and the properties of its pod that a plan for the
// resource depends on.
AllocationPlace PlaceOf(const Pod& pod, const ContainerState& container, Resource resource);

// Returns the container with its owner's amounts. If the owner's amounts are unknown, it has the present
// amounts.
TemplateContainer InTemplate(const Pod& pod, const ContainerState& container);

// An amount of one resource that is ordered for a container, and the rule by which request and limit follow
// from it.
struct OrderedAmount {
  Resource resource = Resource::kCpu;
  double cores_or_bytes = 0;
  Allocation allocation = {};
  // An autoscaler that relies on the request (FieldClaims), so that the request must stay; "": none.
  std::string scaled_by = {};
};

// Returns request and limit for an ordered amount, by PlanAllocation. A container without a limit does not
// get one, because an added limit could not be removed. FailedPrecondition, with the reason, in these cases:
// - The container has neither request nor limit now.
// - kRequestOnly in a Guaranteed pod, a static pod, or a resize policy that restarts the running container.
// - The amount exceeds `allocatable` of the pod's node.
// - The request must stay, and there is no limit, or the limit may not differ from the request.
absl::StatusOr<ContainerResources> PlanResize(const Pod& pod, const ContainerState& container,
                                              const OrderedAmount& ordered,
                                              const std::optional<Amounts>& allocatable);

// Returns the largest allowed amount between `now`, which is allowed, and `wanted`, which is not. The result
// is in whole bytes or millicores. Found by bisection, with O(log) calls of `is_allowed`.
double FittingAmount(Resource resource, double now, double wanted,
                     absl::FunctionRef<bool(double amount)> is_allowed);

// Returns the owner's request and limit from the workload's template. FailedPrecondition if the template has
// no limit, because a pod's limit cannot be removed.
absl::StatusOr<ContainerResources> PlanRelease(const Pod& pod, const ContainerState& container,
                                               Resource resource, const ContainerState& in_template);

// Returns the body of a strategic merge patch that sets the wanted amounts.
std::string ResizePatch(const ContainerState& container, Resource resource, const ContainerResources& wanted);

// Returns true if the pod's specification has these amounts, compared as the API stores quantities.
bool SpecHas(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// Returns true if the wanted request or limit is lower than in the pod's specification.
bool Lowers(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// Returns true if the kubelet reports that the container runs with these amounts.
bool RunsWith(const ContainerState& container, Resource resource, const ContainerResources& wanted);

}  // namespace taut::server
