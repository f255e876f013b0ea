// Answers of the API server's validating webhook that holds new pods to quota. No I/O.
//
// Source: Kubernetes, "Dynamic Admission Control" (admission.k8s.io/v1).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace taut::server {

// The name of the webhook in its ValidatingWebhookConfiguration.
inline constexpr std::string_view kQuotaWebhook = "quota.tautline.dev";

// An AdmissionReview that answers the one of this UID. Sentences are why the pod has no room: not `allowed`, the
// message of the refusal; `allowed`, warnings, each cut to 256 bytes and all to 4,096, which is what the API
// server passes on.
std::string QuotaAnswer(std::string_view uid, bool allowed, std::span<const std::string> sentences);

}  // namespace taut::server
