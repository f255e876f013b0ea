#include "common/model/allocation_plan.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"

namespace taut {
namespace {

// Most decimal fractions of a core are not exact as doubles: 0.1 * 3 must not round up to 301m.
constexpr double kRounding = 1e-6;

bool AreEqual(Resource resource, const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() && b.has_value() && IsSameAmount(resource, *a, *b);
}

// Plans a container that has a limit.
ContainerResources PlanBoth(Resource resource, double amount, const Allocation& allocation,
                            const AllocationPlace& place) {
  const double step = SmallestAmount(resource);
  const double share = RequestShareOf(resource, allocation, place);
  ContainerResources out;
  switch (allocation.applies_to) {
    case AppliesTo::kLimit: {
      out.limit = amount;
      if (!place.now.request.has_value()) return out;
      // Round to the nearest step: rounding up at every change would let the request creep towards the limit.
      const double wanted = std::round(amount * share / step) * step;
      const double most = share == 1 ? amount : std::max(amount - step, 0.0);
      out.request = std::clamp(wanted, std::min({step, *place.now.request, most}), most);
      return out;
    }
    case AppliesTo::kRequest:
      out.request = amount;
      // A request of 0 has no ratio to its limit.
      out.limit = share > 0 ? RoundedAmount(resource, amount / share) : std::max(amount, *place.now.limit);
      return out;
    case AppliesTo::kRequestOnly:
      out.request = std::min(amount, *place.now.limit);
      return out;
  }
  return out;
}

}  // namespace

double SmallestAmount(Resource resource) { return UnitOf(resource).smallest; }

double RoundedAmount(Resource resource, double amount) {
  if (InBytes(resource)) return std::ceil(std::clamp(amount, 0.0, 0x1p62));
  return std::ceil(std::clamp(amount, 0.0, 1e12) * 1000 - kRounding) * 1e-3;
}

bool IsSameAmount(Resource resource, double a, double b) {
  return std::abs(a - b) < SmallestAmount(resource) / 2;
}

double RequestShareOf(Resource resource, const Allocation& allocation, const AllocationPlace& place) {
  if (place.guaranteed) return 1;
  if (allocation.request_share.has_value()) return *allocation.request_share;
  const bool by_owner = place.owner.request.has_value() && place.owner.limit.has_value();
  const ContainerResources& of = by_owner ? place.owner : place.now;
  if (!of.request.has_value() || !of.limit.has_value() || AreEqual(resource, of.request, of.limit)) return 1;
  return *of.limit > 0 ? std::clamp(*of.request / *of.limit, 0.0, 1.0) : 0;
}

std::string WhyRequestMayNotStay(Resource resource, const Allocation& allocation,
                                 const AllocationPlace& place, std::string_view scaled_by) {
  std::string why;
  if (!place.now.limit.has_value()) {
    why = "the container has no limit to set";
  } else if (place.guaranteed) {
    why = "the pod's QoS class is Guaranteed, and its limit has to stay equal";
  } else if (allocation.of_request()) {
    why =
        StrCat(Name(resource), ".applies_to is ", kAppliesToNames[static_cast<size_t>(allocation.applies_to)],
               ": with limit the limit alone would be set");
  } else {
    return "";
  }
  return StrCat(scaled_by, " scales its workload by the ", Name(resource),
                " utilization, a share of the request, which therefore stays; ", why);
}

ContainerResources PlanAllocation(Resource resource, double amount, const Allocation& allocation,
                                  const AllocationPlace& place) {
  const double rounded = std::max(RoundedAmount(resource, amount), SmallestAmount(resource));
  if (!place.now.limit.has_value()) return {rounded, std::nullopt};
  if (place.request_stays) {
    const double limit = std::max(rounded, place.now.request.value_or(0));
    const bool becomes_equal = place.rest_is_equal && AreEqual(resource, place.now.request, limit);
    return {std::nullopt, becomes_equal ? limit + SmallestAmount(resource) : limit};
  }
  ContainerResources out = PlanBoth(resource, rounded, allocation, place);
  const std::optional<double> request = out.request.has_value() ? out.request : place.now.request;
  const std::optional<double> limit = out.limit.has_value() ? out.limit : place.now.limit;
  if (place.guaranteed || !place.rest_is_equal || !AreEqual(resource, request, limit)) return out;
  if (allocation.applies_to == AppliesTo::kRequest) {
    *out.limit += SmallestAmount(resource);
  } else if (out.request.has_value()) {
    *out.request = std::max(*out.request - SmallestAmount(resource), 0.0);
  }
  return out;
}

double BilledAmount(Resource resource, double amount, const Allocation& allocation,
                    const ContainerResources& owner) {
  if (!owner.request.has_value() || !owner.limit.has_value()) return amount;
  if (amount == *owner.limit) return *owner.request;
  const AllocationPlace place{.now = owner, .owner = owner};
  return PlanAllocation(resource, amount, allocation, place).request.value_or(amount);
}

}  // namespace taut
