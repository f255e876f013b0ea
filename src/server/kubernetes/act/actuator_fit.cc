// KubernetesActuator: accepted patches that the watch does not show yet, and the part of an order that the
// namespace's rules allow.
#include <algorithm>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/client/quantity.h"
#include "server/kubernetes/watch/namespace_rules.h"

namespace taut::server {
namespace {

void SetAmounts(const ContainerResources& amounts, Resource resource, ContainerState& container) {
  if (amounts.request.has_value()) container.requests.of(resource) = amounts.request;
  if (amounts.limit.has_value()) container.limits.of(resource) = amounts.limit;
}

// Adds the pod's amounts to the remaining amounts of the quotas, because the used amount of a quota includes the
// pod.
void CountPod(const Pod& pod, std::vector<NamespaceRule>& rules) {
  for (NamespaceRule& rule : rules) {
    for (const ContainerState& container : pod.containers) {
      for (const Resource r : kPodResources) {
        if (std::optional<double>& left = rule.requests_left.of(r); left.has_value())
          *left += container.requests.of(r).value_or(0);
        if (std::optional<double>& left = rule.limits_left.of(r); left.has_value())
          *left += container.limits.of(r).value_or(0);
      }
    }
  }
}

}  // namespace

std::optional<Pod> KubernetesActuator::AsSent(const Work& work, const Pod& pod) {
  const auto found = sent_.find(pod.uid);
  if (found == sent_.end()) return std::nullopt;
  const Resource resource = work.key.second.resource();
  const ContainerState* const own = ResizedContainer(pod, work.workload.container);
  std::optional<Pod> out;
  std::erase_if(found->second, [&](const Sent& sent) {
    const ContainerState* const container = ResizedContainer(pod, sent.container);
    // Forget a patch that the watch shows, or that the watch did not show in time.
    if (container == nullptr || sent.until_s <= options_.steady_s()) return true;
    if (SpecHas(*container, sent.resource, sent.amounts)) return true;
    if (container == own && sent.resource == resource) return false;
    if (!out.has_value()) out = pod;
    SetAmounts(sent.amounts, sent.resource,
               out->containers[static_cast<size_t>(container - pod.containers.data())]);
    return false;
  });
  if (found->second.empty()) sent_.erase(found);
  return out;
}

StandingOrder KubernetesActuator::Fitting(const Work& work, const Pod& pod, const StandingOrder& order,
                                          std::string& why) {
  const Resource resource = work.key.second.resource();
  const ContainerState* const container = ResizedContainer(pod, work.workload.container);
  if (!order.value.has_value() || container == nullptr) return order;
  std::vector<NamespaceRule> rules;
  if (options_.rules) rules = options_.rules(pod.namespace_name);
  if (rules.empty() && pod.pod_limits == Amounts() && pod.pod_requests == Amounts()) return order;
  CountPod(pod, rules);
  const FieldClaims claims = ClaimsOn(work.workload, *container, resource);
  const auto planned = [&](double amount) -> std::optional<Pod> {
    const auto plan = PlanResize(pod, *container, {resource, amount, work.terms.allocation, claims.scaled_by},
                                 std::nullopt);
    if (!plan.ok()) return std::nullopt;  // carrying out the order reports the reason
    Pod next = pod;
    SetAmounts(*plan, resource, next.containers[static_cast<size_t>(container - pod.containers.data())]);
    return next;
  };
  const auto broken = [&](double amount) -> std::string {
    const std::optional<Pod> next = planned(amount);
    return next.has_value() ? BrokenRule(pod, *next, rules) : "";
  };
  const std::string rule = broken(*order.value);
  const std::optional<double> now =
      work.terms.allocation.of_request() || !container->limits.of(resource).has_value()
          ? container->requests.of(resource)
          : container->limits.of(resource);
  // For a pod that already violates a rule, no smaller amount is allowed, so leave the decision to the API server.
  if (rule.empty() || !now.has_value() || !broken(*now).empty()) return order;
  const double most =
      FittingAmount(resource, *now, *order.value, [&](double amount) { return broken(amount).empty(); });
  if (!broken(most).empty()) return order;
  // If no raise is allowed, send the whole order for a pod that was never resized, so that the API server's
  // message is reported. Exception: the API server would accept containers that together exceed the pod's limit.
  const std::optional<Pod> next = planned(*order.value);
  const bool is_refused = !next.has_value() || AbovePod(pod, *next).empty();
  if (is_refused && IsSameAmount(resource, most, *now) && !pod.resized_by_us) return order;
  why = StrCat("pod ", FullName(pod), ": ", rule, "; ", Quantity(resource, most), " of ",
               Quantity(resource, *order.value), " fit");
  return {order.decision, most};
}

}  // namespace taut::server
