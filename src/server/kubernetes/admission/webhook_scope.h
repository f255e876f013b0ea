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

// Name of the webhook in Tautline's MutatingWebhookConfiguration.
inline constexpr std::string_view kPodWebhook = "pods.tautline.dev";

// Returns OK if the webhook reviews a new pod with these labels. `configuration` is the
// MutatingWebhookConfiguration, and `namespaces` a NamespaceList that starts with the pod's namespace. Returns
// FailedPrecondition with the reason if the webhook does not review the pod, or has matchConditions, which cannot
// be evaluated here. Returns DataLoss if a text is not JSON.
absl::Status CheckWebhookScope(std::string_view configuration, std::string_view namespaces,
                               const std::vector<std::pair<std::string, std::string>>& pod_labels);

}  // namespace taut::server
