// What a new pod gets, as the API server's mutating webhook takes it. No I/O.
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

// What holds for a container of each pod of a workload.
struct PodOrder {
  std::string container;  // "": the only one that the pod has
  Resource resource = Resource::kCpu;
  double amount = 0;  // cores or bytes
  Allocation allocation;
  std::string scaled_by = {};  // FieldClaims::scaled_by
  // For the first minutes, more than `amount`, which the pod gets where it cannot have this; absent: none.
  std::optional<double> at_start = {};
};

// An AdmissionReview that answers the one of this UID; `more` are further members, each after a comma.
std::string ReviewAnswer(std::string_view uid, bool allowed, std::string_view more);

struct PodAdmission {
  std::string answer;  // an AdmissionReview; the pod is always allowed
  bool changed = false;
};
// An order changes nothing if PlanResize refuses it, if it exceeds `largest_node` (with a request above every
// node the pod could not be scheduled), or if the pod would break one of its namespace's rules with it (it
// would not be created). The owner's amounts of a pod that is changed are noted in kOwnersAnnotation.
PodAdmission AdmitPod(const PodReview& review, std::span<const PodOrder> orders, const Amounts& largest_node,
                      std::span<const NamespaceRule> rules);

// The containers' requests and limits as kOwnersAnnotation has them; owner_* in their place if they `was_noted`.
std::string OwnersText(const std::vector<ContainerState>& containers, bool was_noted);

// Why a pod that replaces this one would not start with what is ordered of `resource` for its container; "": it
// would, as AdmitPod has it. `container` as PodOrder::container.
std::string WhyNotGiven(const Pod& pod, std::string_view container, Resource resource,
                        std::span<const PodOrder> orders, const Amounts& largest_node,
                        std::span<const NamespaceRule> rules);

}  // namespace taut::server
