// Formats the responses of the validating webhook for quota. No I/O.
//
// Source: Kubernetes, "Dynamic Admission Control" (admission.k8s.io/v1).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace taut::server {

// Name of the webhook in Tautline's ValidatingWebhookConfiguration.
inline constexpr std::string_view kQuotaWebhook = "quota.tautline.dev";

// Returns an AdmissionReview as the response to the request with this UID. `sentences` are the reasons why the pod
// has no room. The sentences are the message if the pod is not `allowed`, and warnings otherwise. Warnings are cut
// to 256 bytes each and 4,096 in total, as the API server requires.
std::string QuotaAnswer(std::string_view uid, bool allowed, std::span<const std::string> sentences);

}  // namespace taut::server
