// VerticalPodAutoscalers that name Tautline as their recommender, and the status that it writes for them. No I/O.
//
// Source: the API autoscaling.k8s.io/v1 of the Vertical Pod Autoscaler 1.6; its updater and admission controller
// act on this status, also if another recommender than its own wrote it.
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

// Recommended for one container; absent: nothing yet.
struct ContainerAdvice {
  std::string container;
  Amounts target;
};

struct VpaAdvice {
  std::vector<ContainerAdvice> containers;
  bool has_pods = false;  // the workload has pods now
  std::string stays =
      {};  // requests that have no target although there is a recommendation, and why; "": none
  Amounts largest_node = {};  // of those that the pods may run on; absent: not known
};

// Whether the VPA sets this resource of the container, by its resource policy.
bool Controls(const Vpa& vpa, std::string_view container, Resource resource);

// The body of a merge patch of the VPA's status: for each container with an amount, target = lowerBound =
// upperBound, so that the updater acts as soon as a pod has something else (when to change is decided before),
// and uncappedTarget. Amounts are at most those of
// VpaAdvice::largest_node: a pod that fits no node would wait for ever.
// The resource policy holds: containers of mode Off and resources that are not controlled are left out,
// minAllowed and maxAllowed bound the target. What stays is said by the condition; where nothing else is left, an
// earlier recommendation is removed. `time`: RFC 3339, of the condition.
std::string VpaStatusPatch(const Vpa& vpa, const VpaAdvice& advice, std::string_view time);

// Whether the VPA leaves the limits of the container as they are, by its resource policy.
bool SetsRequestsOnly(const Vpa& vpa, std::string_view container);

// The target for a recommended amount, which is a request: all of it, or, where it is the limit of a container of
// `pods`, the request's share of it. That is the owner's, as the updater keeps the ratio of request and limit, or
// Allocation::request_share if that is larger: with less the pod's limit would be lower than recommended.
// `requests_only`: the limit stays, so the target is all of the amount, and at most that limit: the API server
// refuses a pod whose request is above its limit.
double VpaTarget(double amount, std::span<const PodPtr> pods, std::string_view container, Resource resource,
                 const Allocation& allocation, bool requests_only);

// The pods of the VPA's target, each container of which is a job by `naming`. nullopt: the target is no workload,
// or jobs are whole pods and containers have no recommendations of their own.
std::optional<WorkloadName> VpaPods(const Vpa& vpa, const ClusterNaming& naming);

}  // namespace taut::server
