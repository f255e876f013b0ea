// Converts a limit for a container to a patch for the pods/resize subresource, and compares the patch with the
// amounts that the kubelet reports. No I/O.
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

// Returns the container with this name. For "" returns the only container of the pod. Returns nullptr if there is
// no such container.
const ContainerState* ResizedContainer(const Pod& pod, std::string_view container);

// Returns the amounts of `container`, and the properties of its pod on which a plan for the resource depends.
AllocationPlace PlaceOf(const Pod& pod, const ContainerState& container, Resource resource);

// Returns the container with its owner's amounts, or with its current amounts if the owner's amounts are unknown.
TemplateContainer InTemplate(const Pod& pod, const ContainerState& container);

// Ordered amount of one resource of a container, and the rule that determines request and limit.
struct OrderedAmount {
  Resource resource = Resource::kCpu;
  double cores_or_bytes = 0;
  Allocation allocation = {};
  // Autoscaler that relies on the request, which must then not change (FieldClaims); "": none.
  std::string scaled_by = {};
};

// Returns the request and limit for an ordered amount (PlanAllocation). Does not add a limit to a container
// without one, because a limit cannot be removed from a pod. Returns FailedPrecondition with the reason in these
// cases:
// - The container has neither a request nor a limit.
// - The rule is kRequestOnly and the pod is Guaranteed, the pod is static, or a resize would restart the
//   container.
// - The amount exceeds `allocatable` of the pod's node.
// - The request must not change, and there is no limit, or the limit must equal the request.
absl::StatusOr<ContainerResources> PlanResize(const Pod& pod, const ContainerState& container,
                                              const OrderedAmount& ordered,
                                              const std::optional<Amounts>& allocatable);

// Returns the allowed amount that is closest to `wanted`, in whole bytes or millicores. `now` is allowed and
// `wanted` is not. Calls `is_allowed` a constant number of times (bisection).
double FittingAmount(Resource resource, double now, double wanted,
                     absl::FunctionRef<bool(double amount)> is_allowed);

// Returns the owner's request and limit from the workload's template. Returns FailedPrecondition if the template
// has no limit, because a limit cannot be removed from a pod.
absl::StatusOr<ContainerResources> PlanRelease(const Pod& pod, const ContainerState& container,
                                               Resource resource, const ContainerState& in_template);

// Returns the body of a strategic merge patch that sets the wanted amounts.
std::string ResizePatch(const ContainerState& container, Resource resource, const ContainerResources& wanted);

// Returns true if the pod's specification has the wanted amounts, rounded as the API stores quantities.
bool SpecHas(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// Returns true if the wanted request or limit is lower than in the pod's specification.
bool Lowers(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// Returns true if the container runs with the wanted amounts, according to the kubelet.
bool RunsWith(const ContainerState& container, Resource resource, const ContainerResources& wanted);

}  // namespace taut::server
