// Makes the responses of the validating webhook that checks new pods against quota. No I/O.
//
// Source: Kubernetes, "Dynamic Admission Control" (admission.k8s.io/v1).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace taut::server {

// Name of Tautline's validating webhook in its ValidatingWebhookConfiguration.
inline constexpr std::string_view kQuotaWebhook = "quota.tautline.dev";

// Returns the AdmissionReview that responds to the request with this UID. `sentences`: the reasons why the
// pod has no room. If the pod is not `allowed`, the sentences are the message. Otherwise they are warnings,
// cut to 256 bytes each and 4,096 in total, as the API server requires.
std::string QuotaAnswer(std::string_view uid, bool allowed, std::span<const std::string> sentences);

}  // namespace taut::server
