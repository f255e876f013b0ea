#include "server/kubernetes/watch/owners_amounts.h"

#include <algorithm>
#include <optional>

namespace taut::server {
namespace {

// Returns the recorded amount, or nullopt if it exceeds `most`, the largest amount of any pod. Anyone who may
// write the pod may write its annotation.
std::optional<double> Believed(const std::optional<double>& noted, const std::optional<double>& most) {
  return noted.has_value() && most.has_value() && *noted > *most ? std::nullopt : noted;
}

Amounts Believed(const Amounts& noted, const Amounts& most) {
  return {Believed(noted.cpu, most.cpu), Believed(noted.memory, most.memory)};
}

}  // namespace

void KeepOwnersAmounts(const Pod* before, Pod& pod) {
  const bool is_same = before != nullptr && before->uid == pod.uid;
  pod.owners_known = !pod.resized || (is_same && before->owners_known);
  for (size_t i = 0; i < pod.containers.size(); ++i) {
    ContainerState& container = pod.containers[i];
    if (pod.admitted_by_us && (container.noted_limits != Amounts() || container.noted_requests != Amounts()))
      container.owner_limits = container.owner_requests = Amounts();
    if (!pod.resized) {
      container.owner_limits = container.limits;
      container.owner_requests = container.requests;
    } else if (is_same && i < before->containers.size() && before->containers[i].name == container.name) {
      container.owner_limits = before->containers[i].owner_limits;
      container.owner_requests = before->containers[i].owner_requests;
    }
  }
}

// Kubernetes uses the limit as the request of a container without a request. Amounts that are missing in the
// template may be defaults of a LimitRange, which only the annotation contains.
void TakeFromTemplate(const std::vector<ContainerState>& in_template, const Amounts& most, Pod& pod) {
  pod.owners_known = true;
  for (ContainerState& container : pod.containers) {
    const auto it = std::ranges::find(in_template, container.name, &ContainerState::name);
    if (it == in_template.end()) continue;
    const bool is_noted = it->noted_limits != Amounts() || it->noted_requests != Amounts();
    const Amounts noted_limits = Believed(container.noted_limits, most),
                  noted_requests = Believed(container.noted_requests, most);
    for (const Resource r : kPodResources) {
      std::optional<double> limit = it->limits.of(r), request = it->requests.of(r);
      if (is_noted) limit = Believed(limit, most.of(r));
      if (is_noted) request = Believed(request, most.of(r));
      container.owner_limits.of(r) = limit.has_value() ? limit : noted_limits.of(r);
      request = request.has_value() ? request : limit;
      container.owner_requests.of(r) = request.has_value() ? request : noted_requests.of(r);
    }
  }
}

void TakeNoted(const Amounts& most, Pod& pod) {
  pod.owners_known = true;
  for (ContainerState& container : pod.containers) {
    container.owner_limits = Believed(container.noted_limits, most);
    container.owner_requests = Believed(container.noted_requests, most);
  }
}

}  // namespace taut::server
