// Decides which new pods the API server sends to the mutating webhook. No I/O.
//
// Source: Kubernetes, "Dynamic Admission Control": a webhook's namespaceSelector and objectSelector.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace taut::server {

// Name of Tautline's mutating webhook in its MutatingWebhookConfiguration.
inline constexpr std::string_view kPodWebhook = "pods.tautline.dev";

// Returns OK if the webhook reviews a new pod with these labels. `configuration`: the
// MutatingWebhookConfiguration. `namespaces`: a NamespaceList that begins with the pod's namespace.
// FailedPrecondition, with the reason, if the webhook does not review the pod or has conditions on requests
// (matchConditions), which cannot be checked here. DataLoss if a text is not JSON.
absl::Status CheckWebhookScope(std::string_view configuration, std::string_view namespaces,
                               const std::vector<std::pair<std::string, std::string>>& pod_labels);

}  // namespace taut::server
