// What a recommended amount becomes in a Kubernetes container: its request and its limit.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/allocation.h"
#include "common/model/resource.h"

namespace taut {

// What a container has of a resource, or is to have; absent: not set, or stays.
struct ContainerResources {
  std::optional<double> request, limit;
  bool operator==(const ContainerResources&) const = default;
};

// A container as its workload's template has it, as far as its pods tell.
struct TemplateContainer {
  bool is_init = false;                     // a sidecar: an init container that is always restarted
  bool guaranteed = false;                  // the QoS class of its pods
  bool rest_is_equal = false;               // the requests and limits of all other containers are equal
  PerResource<ContainerResources> amounts;  // by Resource

  // The autoscaler that counts on the request, which therefore stays; "": none. By Resource.
  PerResource<std::string> scaled_by;

  const ContainerResources& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Where an amount is to be set.
struct AllocationPlace {
  ContainerResources now;
  ContainerResources owner;  // as the container's owner has set them, as far as that is known
  bool guaranteed = false;   // the pod's QoS class: all of its requests and limits are equal
  // All others of the pod are equal: these two alone keep it from being Guaranteed.
  bool rest_is_equal = false;
  // The request is not to change: another counts on it.
  bool request_stays = false;
};

// The smallest amount that the API keeps: a millicore, a byte.
double SmallestAmount(Resource resource);
// To whole ones, up: no less than recommended.
double RoundedAmount(Resource resource, double amount);
// Of request and limit, as the API keeps them.
bool IsSameAmount(Resource resource, double a, double b);

// Request ÷ limit that a plan keeps, in [0, 1]: that of the allocation, else the owner's, else the one that is
// there now; 1 in a Guaranteed pod, and where there is no request.
double RequestShareOf(Resource resource, const Allocation& allocation, const AllocationPlace& place);

// Why the limit alone cannot follow a recommendation while the request stays, on which the autoscaler `scaled_by`
// counts; "": it can.
std::string WhyRequestMayNotStay(Resource resource, const Allocation& allocation,
                                 const AllocationPlace& place, std::string_view scaled_by);

// Request and limit for a recommendation of `amount` cores or bytes, as `allocation` says: the amount is the
// limit or the request, and the other one follows by RequestShareOf. A container without a limit gets the amount
// as its request and still no limit. With kRequestOnly the request is at most the limit. A request that stays is
// absent, and the amount is the limit, but no less than the request. The pod keeps its QoS
// class: request and limit of a Guaranteed one stay equal, and the last ones that would make another one
// Guaranteed differ by the smallest amount.
ContainerResources PlanAllocation(Resource resource, double amount, const Allocation& allocation,
                                  const AllocationPlace& place);

// What a cluster bills of a task whose recommended amount, or the one in force, is `amount`: the request that
// PlanAllocation makes of it where the owner has one beside the limit, else the amount.
double BilledAmount(Resource resource, double amount, const Allocation& allocation,
                    const ContainerResources& owner);

}  // namespace taut
