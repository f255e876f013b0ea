#include "server/kubernetes/watch/vpa.h"

#include <algorithm>

#include "common/base/strings.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

struct Bounded {
  std::optional<double> target, uncapped;
};

// Returns the container's own policy, else the policy of "*"; nullptr if there is neither.
const VpaContainerPolicy* PolicyOf(const Vpa& vpa, std::string_view container) {
  const VpaContainerPolicy* every = nullptr;
  for (const VpaContainerPolicy& policy : vpa.policies) {
    if (policy.container == container) return &policy;
    if (policy.container == "*") every = &policy;
  }
  return every;
}

Bounded Bound(const std::optional<double>& amount, const std::optional<double>& min,
              const std::optional<double>& max, const std::optional<double>& node) {
  Bounded out;
  if (!amount.has_value()) return out;
  out.uncapped = amount;
  double target = std::max(*amount, min.value_or(*amount));
  target = std::min(target, max.value_or(target));
  out.target = std::min(target, node.value_or(target));
  return out;
}

// Returns the JSON of one container's recommendation; "" if no resource has a target.
std::string ContainerJson(const Vpa& vpa, const ContainerAdvice& advice, const Amounts& largest_node) {
  const VpaContainerPolicy standard;
  const VpaContainerPolicy* policy = PolicyOf(vpa, advice.container);
  if (policy == nullptr) policy = &standard;
  if (policy->is_off) return "";
  Bounded cpu, memory;
  if (policy->controls_cpu)
    cpu = Bound(advice.target.cpu, policy->min_allowed.cpu, policy->max_allowed.cpu, largest_node.cpu);
  if (policy->controls_memory) {
    memory = Bound(advice.target.memory, policy->min_allowed.memory, policy->max_allowed.memory,
                   largest_node.memory);
  }
  if (!cpu.target.has_value() && !memory.target.has_value()) return "";
  const std::string target = QuantitiesJson(cpu.target, memory.target);
  return StrCat(R"({"containerName":")", advice.container, R"(","target":)", target, R"(,"lowerBound":)",
                target, R"(,"upperBound":)", target, R"(,"uncappedTarget":)",
                QuantitiesJson(cpu.uncapped, memory.uncapped), "}");
}

std::string ConditionJson(std::string_view type, std::string_view status, std::string_view message,
                          std::string_view time) {
  return StrCat(R"({"type":")", type, R"(","status":")", status, R"(","lastTransitionTime":")", time,
                R"(","reason":"","message":")", message, R"("})");
}

}  // namespace

bool Controls(const Vpa& vpa, std::string_view container, Resource resource) {
  const VpaContainerPolicy* policy = PolicyOf(vpa, container);
  if (policy == nullptr) return true;
  return !policy->is_off && (resource == Resource::kCpu ? policy->controls_cpu : policy->controls_memory);
}

std::string VpaStatusPatch(const Vpa& vpa, const VpaAdvice& advice, std::string_view time) {
  std::string containers;
  for (const ContainerAdvice& container : advice.containers) {
    const std::string json = ContainerJson(vpa, container, advice.largest_node);
    if (!json.empty()) StrAppend(&containers, containers.empty() ? "" : ",", json);
  }
  const bool provided = !containers.empty();
  std::string conditions =
      ConditionJson("RecommendationProvided", provided ? "True" : "False",
                    provided || !advice.stays.empty() ? std::string_view(advice.stays)
                                                      : "tautd has no recommendation for its containers yet",
                    time);
  if (!advice.has_pods) {
    StrAppend(&conditions, ",",
              ConditionJson("NoPodsMatched", "True", "no pod of the target is there now", time));
  }
  std::string recommendation;
  if (provided) {
    recommendation = StrCat(R"("recommendation":{"containerRecommendations":[)", containers, "]},");
  } else if (!advice.stays.empty()) {
    recommendation = R"("recommendation":null,)";
  }
  return StrCat(R"({"status":{)", recommendation, R"("conditions":[)", conditions, "]}}");
}

bool SetsRequestsOnly(const Vpa& vpa, std::string_view container) {
  const VpaContainerPolicy* policy = PolicyOf(vpa, container);
  return policy != nullptr && policy->requests_only;
}

double VpaTarget(double amount, std::span<const PodPtr> pods, std::string_view container, Resource resource,
                 const Allocation& allocation, bool requests_only) {
  if (allocation.of_request() && !requests_only) return amount;
  for (const PodPtr& pod : pods) {
    const ContainerState* found = ResizedContainer(*pod, container);
    if (found == nullptr) continue;
    const AllocationPlace place = PlaceOf(*pod, *found, resource);
    if (!place.now.limit.has_value()) return amount;
    if (requests_only) return std::min(amount, *place.now.limit);
    return amount *
           std::max(RequestShareOf(resource, allocation, place), RequestShareOf(resource, {}, place));
  }
  return amount;
}

std::optional<WorkloadName> VpaPods(const Vpa& vpa, const ClusterNaming& naming) {
  if (naming.jobs != KubernetesJobs::kContainers || vpa.target_name.empty()) return std::nullopt;
  return WorkloadName{vpa.namespace_name, KindInNames(vpa.target_kind), vpa.target_name, ""};
}

}  // namespace taut::server
