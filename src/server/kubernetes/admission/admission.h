// Amounts for a new pod, as the response of the API server's mutating webhook. No I/O.
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

// An order that applies to a container of each pod of a workload.
struct PodOrder {
  std::string container;  // "": the pod's only container
  Resource resource = Resource::kCpu;
  double amount = 0;  // cores or bytes
  Allocation allocation;
  std::string scaled_by = {};  // as in FieldClaims
  // Amount for the first minutes, above `amount`, which the pod gets if it cannot have this one; absent:
  // none.
  std::optional<double> at_start = {};
};

// Returns the AdmissionReview that responds to the one with this UID. `more`: further members, each after a
// comma.
std::string ReviewAnswer(std::string_view uid, bool allowed, std::string_view more);

struct PodAdmission {
  std::string answer;  // an AdmissionReview, which always allows the pod
  bool changed = false;
};
// Applies orders to a new pod. An order changes nothing in three cases: PlanResize refuses it, it exceeds
// `largest_node`, or the pod would break a rule of its namespace. No node could run the pod then, or the API
// server would refuse it. The owner's amounts of a changed pod are stored in kOwnersAnnotation.
PodAdmission AdmitPod(const PodReview& review, std::span<const PodOrder> orders, const Amounts& largest_node,
                      std::span<const NamespaceRule> rules);

// Returns the containers' requests and limits in the form of kOwnersAnnotation; owner_* instead if they
// `was_noted`.
std::string OwnersText(const std::vector<ContainerState>& containers, bool was_noted);

// Returns why the replacement of this pod would not start with what is ordered of `resource` for its
// container; "": it would. Decides as AdmitPod does. `container` as in PodOrder.
std::string WhyNotGiven(const Pod& pod, std::string_view container, Resource resource,
                        std::span<const PodOrder> orders, const Amounts& largest_node,
                        std::span<const NamespaceRule> rules);

}  // namespace taut::server
