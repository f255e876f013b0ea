#include "server/kubernetes/act/resize_plan.h"

#include <algorithm>

#include "common/base/strings.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

constexpr int kHalvings = 40;

bool Same(Resource resource, const std::optional<double>& have, const std::optional<double>& wanted) {
  if (!wanted.has_value()) return true;
  return have.has_value() && IsSameAmount(resource, *have, *wanted);
}

bool Has(const Amounts& requests, const Amounts& limits, Resource resource,
         const ContainerResources& wanted) {
  return Same(resource, requests.of(resource), wanted.request) &&
         Same(resource, limits.of(resource), wanted.limit);
}

absl::Status Refuse(const Pod& pod, const ContainerState& container, std::string_view why) {
  return absl::FailedPreconditionError(
      StrCat("container ", container.name, " of pod ", FullName(pod), ": ", why));
}

bool IsEqual(const ContainerState& container, Resource resource) {
  const std::optional<double> request = container.requests.of(resource),
                              limit = container.limits.of(resource);
  return request.has_value() && limit.has_value() && IsSameAmount(resource, *request, *limit);
}

// Returns true if requests equal limits for all containers and resources of the pod, except for `resource` of
// `but`.
bool IsRestEqual(const Pod& pod, const ContainerState& but, Resource resource) {
  for (const ContainerState& container : pod.containers) {
    for (const Resource r : kPodResources) {
      if ((&container != &but || r != resource) && !IsEqual(container, r)) return false;
    }
  }
  return true;
}

// Returns OK if the resource of the container can be set, else an error with the reason.
absl::Status CheckPlace(const Pod& pod, const ContainerState& container, Resource resource,
                        const AllocationPlace& place) {
  if (place.now.limit.has_value() || place.now.request.has_value()) return absl::OkStatus();
  if (pod.pod_limits.of(resource).has_value() || pod.pod_requests.of(resource).has_value()) {
    return Refuse(
        pod, container,
        StrCat("its ", Name(resource), " is that of the whole pod (spec.resources), which has ",
               pod.containers.size(), " containers; set a request of its own in the workload's template"));
  }
  return Refuse(
      pod, container,
      StrCat("it has neither a ", Name(resource),
             " request nor a limit, and with one the pod could get another QoS class; set a request in "
             "the workload's template"));
}

absl::Status Check(const Pod& pod, const ContainerState& container, const OrderedAmount& ordered,
                   const AllocationPlace& place, const std::optional<Amounts>& allocatable) {
  const Resource resource = ordered.resource;
  if (pod.is_static) return Refuse(pod, container, "static pods cannot be resized");
  if (absl::Status s = CheckPlace(pod, container, resource, place); !s.ok()) return s;
  if (place.guaranteed && ordered.allocation.applies_to == AppliesTo::kRequestOnly) {
    return Refuse(pod, container,
                  StrCat("the pod's QoS class is Guaranteed, and ", Name(resource),
                         ".applies_to is request_only: its request has to stay equal to its limit; expected "
                         "limit or request"));
  }
  const bool restarts =
      resource == Resource::kCpu ? container.restarts_for_cpu : container.restarts_for_memory;
  if (restarts && !container.crash_loops) {  // a restart policy has no effect while no container runs
    return Refuse(pod, container,
                  StrCat("its resizePolicy for ", Name(resource),
                         " is RestartContainer; expected NotRequired, the default"));
  }
  const std::optional<double> most = allocatable.has_value() ? allocatable->of(resource) : std::nullopt;
  if (!most.has_value() || ordered.cores_or_bytes <= *most) return absl::OkStatus();
  const bool is_limit = place.now.limit.has_value() && !ordered.allocation.of_request();
  return Refuse(pod, container,
                StrCat("a ", Name(resource), is_limit ? " limit of " : " request of ",
                       Quantity(resource, ordered.cores_or_bytes), " is more than node ", pod.node, " has (",
                       Quantity(resource, *most), " allocatable)"));
}

}  // namespace

const ContainerState* ResizedContainer(const Pod& pod, std::string_view container) {
  if (container.empty()) return pod.containers.size() == 1 ? &pod.containers.front() : nullptr;
  for (const ContainerState& c : pod.containers) {
    if (c.name == container) return &c;
  }
  return nullptr;
}

AllocationPlace PlaceOf(const Pod& pod, const ContainerState& container, Resource resource) {
  AllocationPlace out;
  out.now = {container.requests.of(resource), container.limits.of(resource)};
  out.owner = {container.owner_requests.of(resource), container.owner_limits.of(resource)};
  out.rest_is_equal = IsRestEqual(pod, container, resource);
  out.guaranteed = out.rest_is_equal && IsEqual(container, resource);
  return out;
}

TemplateContainer InTemplate(const Pod& pod, const ContainerState& container) {
  TemplateContainer out;
  out.is_init = container.is_sidecar;
  out.guaranteed = pod.qos == "Guaranteed";
  out.rest_is_equal = std::ranges::all_of(pod.containers, [&](const ContainerState& other) {
    return &other == &container ||
           std::ranges::all_of(kPodResources, [&](Resource r) { return IsEqual(other, r); });
  });
  const Amounts& requests = container.knows_owner() ? container.owner_requests : container.requests;
  const Amounts& limits = container.knows_owner() ? container.owner_limits : container.limits;
  for (const Resource r : kPodResources) out.amounts[static_cast<size_t>(r)] = {requests.of(r), limits.of(r)};
  return out;
}

absl::StatusOr<ContainerResources> PlanResize(const Pod& pod, const ContainerState& container,
                                              const OrderedAmount& ordered,
                                              const std::optional<Amounts>& allocatable) {
  const Resource resource = ordered.resource;
  OrderedAmount rounded = ordered;
  rounded.cores_or_bytes =
      std::max(RoundedAmount(resource, ordered.cores_or_bytes), SmallestAmount(resource));
  AllocationPlace place = PlaceOf(pod, container, resource);
  if (!ordered.scaled_by.empty()) {
    const std::string why = WhyRequestMayNotStay(resource, ordered.allocation, place, ordered.scaled_by);
    if (!why.empty()) return Refuse(pod, container, why);
    place.request_stays = true;
  }
  if (absl::Status s = Check(pod, container, rounded, place, allocatable); !s.ok()) return s;
  return PlanAllocation(resource, rounded.cores_or_bytes, ordered.allocation, place);
}

double FittingAmount(Resource resource, double now, double wanted,
                     absl::FunctionRef<bool(double amount)> is_allowed) {
  double fits = now, not_fits = wanted;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (fits + not_fits) / 2;
    (is_allowed(middle) ? fits : not_fits) = middle;
  }
  // The API stores whole bytes and millicores, and rounds up.
  const double whole = RoundedAmount(resource, not_fits);
  return is_allowed(whole) ? whole : RoundedAmount(resource, fits);
}

absl::StatusOr<ContainerResources> PlanRelease(const Pod& pod, const ContainerState& container,
                                               Resource resource, const ContainerState& in_template) {
  if (pod.is_static) return Refuse(pod, container, "static pods cannot be resized");
  ContainerResources out{in_template.requests.of(resource), in_template.limits.of(resource)};
  if (!out.limit.has_value() && container.limits.of(resource).has_value()) {
    return Refuse(pod, container,
                  StrCat("its template has no ", Name(resource),
                         " limit, and one that a pod has cannot be removed; a new pod has none"));
  }
  // Like the API server, use the limit as the request of a container without a request.
  if (!out.request.has_value()) out.request = out.limit;
  return out;
}

std::string ResizePatch(const ContainerState& container, Resource resource,
                        const ContainerResources& wanted) {
  const auto part = [&](const char* name, const std::optional<double>& value) {
    return value.has_value()
               ? StrCat("\"", name, "\":{\"", Name(resource), "\":\"", Quantity(resource, *value), "\"}")
               : std::string();
  };
  const std::string requests = part("requests", wanted.request), limits = part("limits", wanted.limit);
  if (container.of_pod(resource)) {
    return StrCat(R"({"spec":{"resources":{)", requests, requests.empty() || limits.empty() ? "" : ",",
                  limits, "}}}");
  }
  return StrCat(R"({"spec":{")", container.is_sidecar ? "initContainers" : "containers", R"(":[{"name":")",
                container.name, R"(","resources":{)", requests, requests.empty() || limits.empty() ? "" : ",",
                limits, "}}]}}");
}

bool Lowers(const ContainerState& container, Resource resource, const ContainerResources& wanted) {
  const bool is_cpu = resource == Resource::kCpu;
  const auto below = [](const std::optional<double>& to, const std::optional<double>& from) {
    return to.has_value() && (!from.has_value() || *to < *from);
  };
  // Adding a request does not lower an amount.
  const std::optional<double> request = is_cpu ? container.requests.cpu : container.requests.memory;
  return below(wanted.limit, is_cpu ? container.limits.cpu : container.limits.memory) ||
         (request.has_value() && below(wanted.request, request));
}

bool SpecHas(const ContainerState& container, Resource resource, const ContainerResources& wanted) {
  return Has(container.requests, container.limits, resource, wanted);
}

bool RunsWith(const ContainerState& container, Resource resource, const ContainerResources& wanted) {
  return Has(container.actual_requests, container.actual_limits, resource, wanted);
}

}  // namespace taut::server
