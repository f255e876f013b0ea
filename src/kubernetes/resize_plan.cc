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

absl::Status Check(const Pod& pod, const ContainerState& container, Resource resource, double limit,
                   const std::optional<Amounts>& allocatable) {
  if (pod.is_static) return Refuse(pod, container, "static pods cannot be resized");
  const bool has_limit = Of(container.limits, resource).has_value();
  if (!has_limit && !Of(container.requests, resource).has_value()) {
    return Refuse(
        pod, container,
        StrCat("it has neither a ", Name(resource),
               " request nor a limit, and with one the pod could get another QoS class; set a request in "
               "the workload's template"));
  }
  if (resource == Resource::kCpu ? container.restarts_for_cpu : container.restarts_for_memory) {
    return Refuse(pod, container,
                  StrCat("its resizePolicy for ", Name(resource),
                         " is RestartContainer; expected NotRequired, the default"));
  }
  const std::optional<double> most = allocatable.has_value() ? Of(*allocatable, resource) : std::nullopt;
  if (most.has_value() && limit > *most) {
    return Refuse(
        pod, container,
        StrCat("a ", Name(resource), has_limit ? " limit of " : " request of ", Quantity(resource, limit),
               " is more than node ", pod.node, " has (", Quantity(resource, *most), " allocatable)"));
  }
  return absl::OkStatus();
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
                                              Resource resource, double limit,
                                              const std::optional<Amounts>& allocatable) {
  const double rounded = std::max(RoundedUp(resource, limit), Step(resource));
  if (absl::Status s = Check(pod, container, resource, rounded, allocatable); !s.ok()) return s;
  ContainerResources out;
  if (!Of(container.limits, resource).has_value()) {
    out.request = rounded;
    return out;
  }
  out.limit = rounded;
  const std::optional<double> request = Of(container.requests, resource);
  if (!request.has_value()) return out;
  const double before = *Of(container.limits, resource);
  if (Same(resource, request, before)) {
    out.request = rounded;
    return out;
  }
  // To the nearest step: rounding up at every change would let the request creep towards the limit.
  const double step = Step(resource);
  const double ratio = before > 0 ? std::clamp(*request / before, 0.0, 1.0) : 0;
  const double wanted = std::round(rounded * ratio / step) * step;
  out.request = std::clamp(wanted, std::min(step, *request), std::max(rounded - step, 0.0));
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

bool SpecHas(const ContainerState& container, Resource resource, const ContainerResources& wanted) {
  return Has(container.requests, container.limits, resource, wanted);
}

bool RunsWith(const ContainerState& container, Resource resource, const ContainerResources& wanted) {
  return Has(container.actual_requests, container.actual_limits, resource, wanted);
}

}  // namespace taut
