// A limit for a container, as the patch that the pods/resize subresource takes, and what the kubelet made of it.
// No I/O.
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

// The container of a pod that a job's limit is for: the one of this name, or with "" the only one that the pod
// has. nullptr: the pod has several, or none of this name.
const ContainerState* ResizedContainer(const Pod& pod, std::string_view container);

// Where `container`, one of the pod's, gets an amount.
AllocationPlace PlaceOf(const Pod& pod, const ContainerState& container, Resource resource);

// What its owner wants of it: amounts that were set in place are not in it, as far as that was seen.
TemplateContainer InTemplate(const Pod& pod, const ContainerState& container);

// An amount of one resource that is ordered for a container, and how request and limit come from it.
struct OrderedAmount {
  Resource resource = Resource::kCpu;
  double cores_or_bytes = 0;
  Allocation allocation = {};
  std::string scaled_by =
      {};  // an autoscaler that counts on the request (FieldClaims), which stays; "": none
};

// Request and limit for an ordered amount by PlanAllocation. A container without a
// limit gets none: one that is added could not be removed.
// FailedPrecondition says what forbids it: neither request nor limit now, kRequestOnly in a Guaranteed pod, a
// static pod, a resize policy that restarts the container while it runs, more than `allocatable` of the pod's
// node, or a request that stays where there is no limit to set, or none that may differ from it.
absl::StatusOr<ContainerResources> PlanResize(const Pod& pod, const ContainerState& container,
                                              const OrderedAmount& ordered,
                                              const std::optional<Amounts>& allocatable);

// The largest amount that `is_allowed`, between `now`, which is, and `wanted`, which is not; whole bytes and
// millicores.
double FittingAmount(Resource resource, double now, double wanted,
                     absl::FunctionRef<bool(double amount)> is_allowed);

// The owner's request and limit again, as the workload's template has them. FailedPrecondition: the template has
// no limit, and one cannot be removed.
absl::StatusOr<ContainerResources> PlanRelease(const Pod& pod, const ContainerState& container,
                                               Resource resource, const ContainerState& in_template);

// The body of a strategic merge patch.
std::string ResizePatch(const ContainerState& container, Resource resource, const ContainerResources& wanted);

// Whether the pod's spec has it, as the API keeps quantities.
bool SpecHas(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// Whether the request or the limit would be lower than the pod's specification has it.
bool Lowers(const ContainerState& container, Resource resource, const ContainerResources& wanted);
// Whether the kubelet reports it as what the container runs with.
bool RunsWith(const ContainerState& container, Resource resource, const ContainerResources& wanted);

}  // namespace taut::server
