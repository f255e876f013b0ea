// Computes the amounts of a new pod, as the response of the mutating webhook to the API server. No I/O.
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

// An order for a container of every pod of a workload.
struct PodOrder {
  std::string container;  // name of the container; "": the only container of the pod
  Resource resource = Resource::kCpu;
  double amount = 0;  // ordered amount in cores or bytes
  Allocation allocation;
  std::string scaled_by = {};  // autoscaler that relies on the request, as in FieldClaims; "": none
  // Amount in the first minutes after a start, above `amount`; absent: none. If the pod cannot have this amount,
  // it starts with `amount`.
  std::optional<double> at_start = {};
};

// Returns an AdmissionReview as the response to the request with this UID. `more` contains further members of the
// response, each preceded by a comma.
std::string ReviewAnswer(std::string_view uid, bool allowed, std::string_view more);

struct PodAdmission {
  std::string answer;  // an AdmissionReview that allows the pod
  bool changed = false;
};
// Applies orders to a new pod. Skips an order if PlanResize() rejects it, if no node (`largest_node`) would have
// room for the pod, or if the pod would violate a rule of its namespace. A changed pod records the owner's amounts
// in kOwnersAnnotation.
PodAdmission AdmitPod(const PodReview& review, std::span<const PodOrder> orders, const Amounts& largest_node,
                      std::span<const NamespaceRule> rules);

// Returns the containers' requests and limits in the format of kOwnersAnnotation. With `was_noted`, uses
// owner_requests and owner_limits.
std::string OwnersText(const std::vector<ContainerState>& containers, bool was_noted);

// Returns the reason why AdmitPod() would not set the ordered amount of `resource` for the container in a
// replacement of this pod; "" if it would. `container` is as in PodOrder.
std::string WhyNotGiven(const Pod& pod, std::string_view container, Resource resource,
                        std::span<const PodOrder> orders, const Amounts& largest_node,
                        std::span<const NamespaceRule> rules);

}  // namespace taut::server
