#include "server/kubernetes/watch/pod_requests.h"

#include <algorithm>

namespace taut::server {

Amounts RequestsOf(const ContainerState& container) {
  Amounts out = container.requests;
  for (const Resource r : kPodResources) {
    const std::optional<double>& actual = container.actual_requests.of(r);
    if (actual.has_value() && *actual > out.of(r).value_or(0)) out.of(r) = actual;
  }
  return out;
}

Amounts RequestsBeyondContainers(const Pod& pod) {
  Amounts out;
  for (const Resource r : kPodResources) {
    double sum = 0;
    for (const ContainerState& container : pod.containers) sum += RequestsOf(container).of(r).value_or(0);
    const double counted =
        std::max({sum, pod.init_requests.of(r).value_or(0), pod.own_requests.of(r).value_or(0)}) +
        pod.overhead.of(r).value_or(0);
    if (counted > sum) out.of(r) = counted - sum;
  }
  return out;
}

}  // namespace taut::server
