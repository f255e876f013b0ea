// VerticalPodAutoscalers that name Tautline as their recommender, and the status that Tautline writes for
// them. No I/O.
//
// Source: the API autoscaling.k8s.io/v1 of the Vertical Pod Autoscaler 1.6. Its updater and its webhook act
// on this status even if another recommender than its own wrote it.
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

// The recommendation for one container; absent amounts are not known yet.
struct ContainerAdvice {
  std::string container;
  Amounts target;
};

// The recommendations for all containers of a VPA's target.
struct VpaAdvice {
  std::vector<ContainerAdvice> containers;
  bool has_pods = false;  // the workload has pods now
  // Requests that have no target although there is a recommendation, and why, for people; "" if there are none.
  std::string stays = {};
  Amounts largest_node = {};  // the largest node on which the pods may run; absent if not known
};

// Returns true if the VPA sets this resource of the container, by its resource policy.
bool Controls(const Vpa& vpa, std::string_view container, Resource resource);

// Returns the body of a merge patch of the VPA's status.
// Each container with an amount has target = lowerBound = upperBound, so that the updater acts as soon as a
// pod has another amount; when to change is decided before. uncappedTarget is the amount before all bounds.
// The resource policy holds: containers of mode Off and resources that are not controlled are left out, and
// minAllowed and maxAllowed bound the target. Targets are at most VpaAdvice::largest_node, since a pod that
// fits no node would wait for ever.
// The condition's message is VpaAdvice::stays; if no container has an amount and `stays` is not "", an
// earlier recommendation is removed. `time`: RFC 3339, of the condition.
std::string VpaStatusPatch(const Vpa& vpa, const VpaAdvice& advice, std::string_view time);

// Returns true if the VPA leaves the limits of the container unchanged, by its resource policy.
bool SetsRequestsOnly(const Vpa& vpa, std::string_view container);

// Returns the target, which is a request, for a recommended amount. It is all of the amount unless the amount
// is the limit of a container of `pods`. Then it is the request's share: the owner's, as the updater keeps
// the ratio of request and limit, or Allocation::request_share if that is larger. With a smaller share the
// pod's limit would be lower than recommended.
// `requests_only`: the limit stays, so the target is all of the amount, but at most the limit, because the
// API server refuses a request above its limit.
double VpaTarget(double amount, std::span<const PodPtr> pods, std::string_view container, Resource resource,
                 const Allocation& allocation, bool requests_only);

// Returns the workload whose pods the VPA targets; by `naming` each of their containers is a job. nullopt if
// the target is no workload, or jobs are whole pods, whose containers have no recommendations.
std::optional<WorkloadName> VpaPods(const Vpa& vpa, const ClusterNaming& naming);

}  // namespace taut::server
