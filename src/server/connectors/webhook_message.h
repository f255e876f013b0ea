// The request that carries one order to the owner's endpoint, and what its response means. Values only.
// docs/operate/notices.md, "A webhook", is the contract with receivers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/net/http.h"
#include "server/control/actuator.h"

namespace taut::server {

// The JSON of the body. `sent_s`: Unix time of this attempt.
std::string WebhookBody(const TargetOrder& order, int64_t decided_s, int64_t sent_s);
// "INSTANCE-DECISION", of some tasks "INSTANCE-DECISION-tN" with their number: the same on each attempt, another
// one when the same decision is extended to more tasks.
std::string IdempotencyKey(std::string_view instance, const TargetOrder& order);
// Idempotency-Key, Tautline-Timestamp and Tautline-Signature: "v1=" and the HMAC-SHA256 of the timestamp, a dot
// and the body.
std::vector<HttpHeader> WebhookHeaders(std::string_view idempotency_key, std::string_view secret,
                                       std::string_view body, int64_t sent_s);

// What one attempt led to.
struct WebhookResult {
  enum class Kind : uint8_t {
    kApplied,
    kRefused,     // for good: not repeated
    kRetry,       // the receiver failed at this order
    kUnavailable  // nothing can be delivered now: no response, 429 or 503
  };
  Kind kind = Kind::kApplied;
  std::string text;                     // for people: printable, at most some hundred bytes
  std::optional<double> retry_after_s;  // the receiver's wish
};
WebhookResult ResultOf(const absl::StatusOr<HttpResponse>& response);

// ---- stored orders ----
void SaveOrder(const TargetOrder& order, ByteWriter& out);
// nullopt: damaged.
std::optional<TargetOrder> LoadOrder(ByteReader& in);

}  // namespace taut::server
