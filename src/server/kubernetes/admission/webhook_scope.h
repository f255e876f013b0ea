// Which new pods the API server's mutating webhook is asked about. No I/O.
//
// Source: Kubernetes, "Dynamic Admission Control": a webhook's namespaceSelector and objectSelector.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace taut::server {

// The name of Tautline's webhook in its MutatingWebhookConfiguration.
inline constexpr std::string_view kPodWebhook = "pods.tautline.dev";

// OK: it is asked about a new pod with these labels. `configuration`: the MutatingWebhookConfiguration;
// `namespaces`: a NamespaceList that begins with the pod's. FailedPrecondition: why it is not, for people;
// DataLoss: not JSON. Of what depends on the request (matchConditions) nothing is known: it is not, then.
absl::Status CheckWebhookScope(std::string_view configuration, std::string_view namespaces,
                               const std::vector<std::pair<std::string, std::string>>& pod_labels);

}  // namespace taut::server
