// VerticalPodAutoscalers that name Tautline as their recommender, and the status that Tautline writes for
// such VPAs. No I/O.
//
// Source: the API autoscaling.k8s.io/v1 of the Vertical Pod Autoscaler 1.6. The VPA's updater and webhook use
// this status even if it is not from the VPA's own recommender.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/allocation.h"
#include "common/model/resource.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// The recommendation for one container. An amount is absent if it is not known yet.
struct ContainerAdvice {
  std::string container;
  Amounts target;
};

// The recommendations for all containers of a VPA's target.
struct VpaAdvice {
  std::vector<ContainerAdvice> containers;
  bool has_pods = false;  // the workload has pods now
  // Text for people: requests that have no target although there is a recommendation, and the reasons. "" if
  // there are none.
  std::string stays = {};
  Amounts largest_node = {};  // largest node on which the pods may run; absent if unknown
};

// Returns true if the VPA sets this resource of the container, according to its resource policy.
bool Controls(const Vpa& vpa, std::string_view container, Resource resource);

// Returns the body of a merge patch of the VPA's status. Each container with an amount has target =
// lowerBound = upperBound, so that the updater acts as soon as a pod has another amount: Tautline has already
// decided when to change it. uncappedTarget is the amount before all bounds. The resource policy is applied:
// containers of mode Off and resources that are not controlled are left out, and minAllowed and maxAllowed
// bound the target. Targets are at most VpaAdvice::largest_node, because a pod that fits on no node would
// wait for ever.
// The condition's message is VpaAdvice::stays. If no container has an amount and `stays` is not "", an
// earlier recommendation is removed. `time`: time of the condition, RFC 3339.
std::string VpaStatusPatch(const Vpa& vpa, const VpaAdvice& advice, std::string_view time);

// Returns true if the VPA leaves the limits of the container unchanged, according to its resource policy.
bool SetsRequestsOnly(const Vpa& vpa, std::string_view container);

// Returns the target, which is a request, for a recommended amount. If the amount is the limit of a container
// of `pods`, the target is a share of it: the owner's ratio of request and limit, which the updater keeps, or
// Allocation::request_share if that is larger. With a smaller share the pod's limit would be lower than
// recommended. For any other container the target is the whole amount.
// `requests_only`: the limit stays. The target is then the whole amount, but at most the limit, because the
// API server refuses a request above its limit.
double VpaTarget(double amount, std::span<const PodPtr> pods, std::string_view container, Resource resource,
                 const Allocation& allocation, bool requests_only);

// Returns the workload whose pods are the VPA's target. nullopt if the target is not a workload, or if jobs
// are whole pods by `naming`, because their containers have no recommendations.
std::optional<WorkloadName> VpaPods(const Vpa& vpa, const ClusterNaming& naming);

}  // namespace taut::server
