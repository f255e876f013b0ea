#include "kubernetes/resize_plan.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "kubernetes/quantity.h"

namespace taut {
namespace {

std::string Quantity(Resource resource, double value) {
  return resource == Resource::kCpu ? CpuQuantity(value) : MemoryQuantity(value);
}

// The smallest amount that the API keeps.
double Step(Resource resource) { return resource == Resource::kCpu ? 0.001 : 1; }

double RoundedUp(Resource resource, double value) { return *ParseQuantity(Quantity(resource, value)); }

std::optional<double> Of(const Amounts& amounts, Resource resource) {
  return resource == Resource::kCpu ? amounts.cpu : amounts.memory;
}

bool Same(Resource resource, const std::optional<double>& have, const std::optional<double>& wanted) {
  if (!wanted.has_value()) return true;
  return have.has_value() && std::abs(*have - *wanted) < Step(resource) / 2;
}

bool Has(const Amounts& requests, const Amounts& limits, Resource resource,
         const ContainerResources& wanted) {
  return Same(resource, Of(requests, resource), wanted.request) &&
         Same(resource, Of(limits, resource), wanted.limit);
}

absl::Status Refuse(const Pod& pod, const ContainerState& container, std::string_view why) {
  return absl::FailedPreconditionError(
      StrCat("container ", container.name, " of pod ", pod.namespace_name, "/", pod.name, ": ", why));
}

// Whether every container has equal requests and limits, one of them with these: the QoS class Guaranteed.
bool IsGuaranteed(const Pod& pod, const ContainerState& changed = {}, Resource resource = Resource::kCpu,
                  const ContainerResources& wanted = {}) {
  for (const ContainerState& container : pod.containers) {
    for (const Resource r : kResources) {
      std::optional<double> request = Of(container.requests, r), limit = Of(container.limits, r);
      if (&container == &changed && r == resource) {
        request = wanted.request.has_value() ? wanted.request : request;
        limit = wanted.limit.has_value() ? wanted.limit : limit;
      }
      if (!request.has_value() || !limit.has_value() || !Same(r, request, limit)) return false;
    }
  }
  return true;
}

absl::Status Check(const Pod& pod, const ContainerState& container, Resource resource, double amount,
                   const Allocation& allocation, const std::optional<Amounts>& allocatable) {
  if (pod.is_static) return Refuse(pod, container, "static pods cannot be resized");
  const bool has_limit = Of(container.limits, resource).has_value();
  if (!has_limit && !Of(container.requests, resource).has_value()) {
    return Refuse(
        pod, container,
        StrCat("it has neither a ", Name(resource),
               " request nor a limit, and with one the pod could get another QoS class; set a request in "
               "the workload's template"));
  }
  if (has_limit && IsGuaranteed(pod) && allocation.applies_to == AppliesTo::kRequestOnly) {
    return Refuse(pod, container,
                  StrCat("the pod's QoS class is Guaranteed, and ", Name(resource),
                         ".applies_to is request_only: its request has to stay equal to its limit; expected "
                         "limit or request"));
  }
  if (resource == Resource::kCpu ? container.restarts_for_cpu : container.restarts_for_memory) {
    return Refuse(pod, container,
                  StrCat("its resizePolicy for ", Name(resource),
                         " is RestartContainer; expected NotRequired, the default"));
  }
  const std::optional<double> most = allocatable.has_value() ? Of(*allocatable, resource) : std::nullopt;
  if (most.has_value() && amount > *most) {
    const bool is_limit = has_limit && !allocation.of_request();
    return Refuse(
        pod, container,
        StrCat("a ", Name(resource), is_limit ? " limit of " : " request of ", Quantity(resource, amount),
               " is more than node ", pod.node, " has (", Quantity(resource, *most), " allocatable)"));
  }
  return absl::OkStatus();
}

// Request ÷ limit that the plan keeps, in [0, 1].
double ShareOf(const Pod& pod, const ContainerState& container, Resource resource,
               const Allocation& allocation) {
  if (IsGuaranteed(pod)) return 1;
  if (allocation.request_share.has_value()) return *allocation.request_share;
  std::optional<double> request = Of(container.owner_requests, resource);
  std::optional<double> limit = Of(container.owner_limits, resource);
  if (!request.has_value() || !limit.has_value()) {
    request = Of(container.requests, resource);
    limit = Of(container.limits, resource);
  }
  if (!request.has_value() || Same(resource, request, limit)) return 1;
  return *limit > 0 ? std::clamp(*request / *limit, 0.0, 1.0) : 0;
}

// For a container with a limit.
ContainerResources Plan(Resource resource, double amount, double share, const Allocation& allocation,
                        const ContainerState& container) {
  const double step = Step(resource);
  const std::optional<double> request = Of(container.requests, resource);
  ContainerResources out;
  switch (allocation.applies_to) {
    case AppliesTo::kLimit: {
      out.limit = amount;
      if (!request.has_value()) return out;
      // To the nearest step: rounding up at every change would let the request creep towards the limit.
      const double wanted = std::round(amount * share / step) * step;
      const double most = share == 1 ? amount : std::max(amount - step, 0.0);
      out.request = std::clamp(wanted, std::min({step, *request, most}), most);
      return out;
    }
    case AppliesTo::kRequest:
      out.request = amount;
      // A request of 0 has no ratio to its limit.
      out.limit =
          share > 0 ? RoundedUp(resource, amount / share) : std::max(amount, *Of(container.limits, resource));
      return out;
    case AppliesTo::kRequestOnly:
      out.request = std::min(amount, *Of(container.limits, resource));
      return out;
  }
  return out;
}

}  // namespace

const ContainerState* ResizedContainer(const Pod& pod, std::string_view container) {
  if (container.empty()) return pod.containers.size() == 1 ? &pod.containers.front() : nullptr;
  for (const ContainerState& c : pod.containers) {
    if (c.name == container) return &c;
  }
  return nullptr;
}

absl::StatusOr<ContainerResources> PlanResize(const Pod& pod, const ContainerState& container,
                                              Resource resource, double amount, const Allocation& allocation,
                                              const std::optional<Amounts>& allocatable) {
  const double rounded = std::max(RoundedUp(resource, amount), Step(resource));
  if (absl::Status s = Check(pod, container, resource, rounded, allocation, allocatable); !s.ok()) return s;
  if (!Of(container.limits, resource).has_value()) return ContainerResources{rounded, std::nullopt};
  ContainerResources out =
      Plan(resource, rounded, ShareOf(pod, container, resource, allocation), allocation, container);
  if (IsGuaranteed(pod) || !IsGuaranteed(pod, container, resource, out)) return out;
  if (allocation.applies_to == AppliesTo::kRequest) {
    *out.limit += Step(resource);
  } else if (out.request.has_value()) {
    *out.request = std::max(*out.request - Step(resource), 0.0);
  }
  return out;
}

absl::StatusOr<ContainerResources> PlanRelease(const Pod& pod, const ContainerState& container,
                                               Resource resource, const ContainerState& in_template) {
  if (pod.is_static) return Refuse(pod, container, "static pods cannot be resized");
  ContainerResources out{Of(in_template.requests, resource), Of(in_template.limits, resource)};
  if (!out.limit.has_value() && Of(container.limits, resource).has_value()) {
    return Refuse(pod, container,
                  StrCat("its template has no ", Name(resource),
                         " limit, and one that a pod has cannot be removed; a new pod has none"));
  }
  // What admission sets for a container that names a limit only.
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
  return StrCat(R"({"spec":{")", container.is_sidecar ? "initContainers" : "containers", R"(":[{"name":")",
                container.name, R"(","resources":{)", requests, requests.empty() || limits.empty() ? "" : ",",
                limits, "}}]}}");
}

bool Lowers(const ContainerState& container, Resource resource, const ContainerResources& wanted) {
  const bool is_cpu = resource == Resource::kCpu;
  const auto below = [](const std::optional<double>& to, const std::optional<double>& from) {
    return to.has_value() && (!from.has_value() || *to < *from);
  };
  // A request where there was none is no less than before.
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

}  // namespace taut
