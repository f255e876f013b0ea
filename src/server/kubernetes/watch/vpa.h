// VerticalPodAutoscalers whose recommender is Tautline, and the status that Tautline writes for them. No I/O.
//
// Source: the API autoscaling.k8s.io/v1 of the Vertical Pod Autoscaler 1.6. The VPA's updater and webhook use this
// status even if another recommender wrote it.
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

// The recommendation for one container. An amount is absent if unknown.
struct ContainerAdvice {
  std::string container;
  Amounts target;
};

// The recommendations for all containers of a VPA's target.
struct VpaAdvice {
  std::vector<ContainerAdvice> containers;
  bool has_pods = false;  // true if the workload has pods
  // Reason why requests with a recommendation have no target, as text for users; "" if each has a target.
  std::string stays = {};
  Amounts largest_node = {};  // largest node on which the pods may run; absent if unknown
};

// Returns true if the VPA's resource policy permits the VPA to set this resource of the container.
bool Controls(const Vpa& vpa, std::string_view container, Resource resource);

// Returns a merge patch for the VPA's status. For each container with an amount, target, lowerBound and upperBound
// are equal, so that the updater acts as soon as a pod has another amount. Tautline has already decided when to
// change the amount. uncappedTarget is the amount before all bounds.
//
// Applies the resource policy: omits containers of mode Off and resources that are not controlled, and bounds the
// target by minAllowed and maxAllowed. A target is at most VpaAdvice::largest_node, because a pod that fits on no
// node would wait for ever.
//
// The message of the condition is VpaAdvice::stays. If no container has an amount and `stays` is not "", the patch
// removes an earlier recommendation. `time` is the time of the condition in RFC 3339.
std::string VpaStatusPatch(const Vpa& vpa, const VpaAdvice& advice, std::string_view time);

// Returns true if the VPA's resource policy leaves the limits of the container unchanged.
bool SetsRequestsOnly(const Vpa& vpa, std::string_view container);

// Returns the target, which is a request, for a recommended amount. If the amount is the limit of a container of
// `pods`, the target is a share of the amount. The share is the owner's ratio of request to limit, which the
// updater keeps, or Allocation::request_share if larger. With a smaller share, the pod's limit would be below the
// recommendation. For any other container the target is the whole amount.
//
// With `requests_only`, the limit does not change. Then the target is the amount, but at most the limit, because
// the API server rejects a request above the limit.
double VpaTarget(double amount, std::span<const PodPtr> pods, std::string_view container, Resource resource,
                 const Allocation& allocation, bool requests_only);

// Returns the workload that is the VPA's target. Returns nullopt if the target is not a workload, or if jobs are
// whole pods by `naming`, whose containers have no recommendations.
std::optional<WorkloadName> VpaPods(const Vpa& vpa, const ClusterNaming& naming);

}  // namespace taut::server
