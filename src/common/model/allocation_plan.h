// Computes the request and limit of a Kubernetes container from a recommended amount.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/allocation.h"
#include "common/model/resource.h"

namespace taut {

// Present or planned amounts of one resource, in cores or bytes; absent: not set, or unchanged by the plan.
struct ContainerResources {
  std::optional<double> request, limit;
  bool operator==(const ContainerResources&) const = default;
};

// A container of a workload's template, with properties of the workload's pods.
struct TemplateContainer {
  bool is_init = false;                     // true for a sidecar: an init container that is always restarted
  bool guaranteed = false;                  // true if the pods have the QoS class Guaranteed
  bool rest_is_equal = false;               // true if requests equal limits in all other containers
  PerResource<ContainerResources> amounts;  // amounts, indexed by Resource

  // Indexed by Resource: name of the autoscaler that uses the request; "": none. The request must not change if an
  // autoscaler uses it.
  PerResource<std::string> scaled_by;

  const ContainerResources& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Properties of the container for which an amount is planned.
struct AllocationPlace {
  ContainerResources now;
  ContainerResources owner;  // the owner's amounts, as far as they are known
  bool guaranteed = false;   // true if the pod has the QoS class Guaranteed
  // True if requests equal limits in the rest of the pod: the two planned amounts then decide whether the pod
  // is Guaranteed.
  bool rest_is_equal = false;
  // True if the request must not change, because an autoscaler uses it.
  bool request_stays = false;
};

// Returns the smallest amount that the API represents: a millicore or a byte.
double SmallestAmount(Resource resource);
// Rounds up to whole millicores or bytes, so that a plan never falls below the recommendation.
double RoundedAmount(Resource resource, double amount);
// Returns true if the API stores both amounts as the same value.
bool IsSameAmount(Resource resource, double a, double b);

// Returns the ratio request ÷ limit, in [0, 1], that a plan keeps: the ratio in `allocation`, else the owner's
// ratio, else the current ratio. Returns 1 in a Guaranteed pod, and if there is no request.
double RequestShareOf(Resource resource, const Allocation& allocation, const AllocationPlace& place);

// Returns the reason why the limit cannot be set without the request, which the autoscaler `scaled_by` uses; "" if
// the limit can be set alone.
std::string WhyRequestMayNotStay(Resource resource, const Allocation& allocation,
                                 const AllocationPlace& place, std::string_view scaled_by);

// Returns request and limit for a recommendation of `amount` cores or bytes. `allocation` determines whether the
// amount is the request or the limit; RequestShareOf determines the other amount. Special cases:
//  - Without a limit, the amount is the request, and no limit is set.
//  - With kRequestOnly the request is at most the limit.
//  - A request that must stay is absent. The amount is then the limit, but at least the present request.
//  - The pod keeps its QoS class: a Guaranteed pod's request and limit stay equal. Amounts that would make another
//    pod Guaranteed differ by the smallest amount.
ContainerResources PlanAllocation(Resource resource, double amount, const Allocation& allocation,
                                  const AllocationPlace& place);

// Returns the amount that a cluster bills for a task with a recommended or current amount. If the owner has set
// both request and limit, the result is the request that PlanAllocation computes, else the amount itself.
double BilledAmount(Resource resource, double amount, const Allocation& allocation,
                    const ContainerResources& owner);

}  // namespace taut
