// Amounts for a new pod, as the response of the mutating webhook to the API server. No I/O.
//
// Source: Kubernetes, "Dynamic Admission Control" (admission.k8s.io/v1); RFC 6902 for the patch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/model/allocation.h"
#include "common/model/resource.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// An order that applies to a container of every pod of a workload.
struct PodOrder {
  std::string container;  // "": the pod's only container
  Resource resource = Resource::kCpu;
  double amount = 0;  // cores or bytes
  Allocation allocation;
  std::string scaled_by = {};  // as in FieldClaims
  // Amount for the first minutes after a start, above `amount`. If the pod cannot have it, the pod gets
  // `amount`. Absent: there is no other amount at starts.
  std::optional<double> at_start = {};
};

// Returns the AdmissionReview that responds to the request with this UID. `more`: further members of the
// response, each preceded by a comma.
// comma.
std::string ReviewAnswer(std::string_view uid, bool allowed, std::string_view more);

struct PodAdmission {
  std::string answer;  // an AdmissionReview, which always allows the pod
  bool changed = false;
};
// Applies orders to a new pod. An order is skipped in three cases: PlanResize refuses it, no node would have
// room for the pod (`largest_node`), or the pod would break a rule of its namespace. The owner's amounts of a
// changed pod are stored in kOwnersAnnotation.
PodAdmission AdmitPod(const PodReview& review, std::span<const PodOrder> orders, const Amounts& largest_node,
                      std::span<const NamespaceRule> rules);

// Returns the containers' requests and limits in the format of kOwnersAnnotation. If `was_noted`, writes
// owner_requests and owner_limits instead.
std::string OwnersText(const std::vector<ContainerState>& containers, bool was_noted);

// Returns the reason why the replacement of this pod would not start with the amount of `resource` that is
// ordered for its container; "" if it would. Decides as AdmitPod does. `container`: as in PodOrder.
std::string WhyNotGiven(const Pod& pod, std::string_view container, Resource resource,
                        std::span<const PodOrder> orders, const Amounts& largest_node,
                        std::span<const NamespaceRule> rules);

}  // namespace taut::server
