// The request that sends an order to the owner's endpoint, and the meaning of the response.
// docs/operate/notices.md, "A webhook", is the contract for receivers. No I/O.
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

// Returns the JSON body of a request. `sent_s` is the Unix time of this attempt.
std::string WebhookBody(const TargetOrder& order, int64_t decided_s, int64_t sent_s);
// Returns "INSTANCE-DECISION", or "INSTANCE-DECISION-tN" for an order for N tasks. The key is equal for all
// attempts, and changes when the decision is extended to more tasks.
std::string IdempotencyKey(std::string_view instance, const TargetOrder& order);
// Returns the headers Idempotency-Key, Tautline-Timestamp and Tautline-Signature. The signature is "v1=" and the
// HMAC-SHA256 of timestamp, dot and body.
std::vector<HttpHeader> WebhookHeaders(std::string_view idempotency_key, std::string_view secret,
                                       std::string_view body, int64_t sent_s);

// The result of one attempt to send an order.
struct WebhookResult {
  enum class Kind : uint8_t {
    kApplied,
    kRefused,     // the receiver refused the order permanently, so there is no retry
    kRetry,       // the receiver failed temporarily, so the order is sent again
    kUnavailable  // no order can be delivered now: no response, 429 or 503
  };
  Kind kind = Kind::kApplied;
  std::string text;                     // printable text for users, at most about 300 bytes
  std::optional<double> retry_after_s;  // delay that the receiver requested, in seconds; absent: none
};
WebhookResult ResultOf(const absl::StatusOr<HttpResponse>& response);

// ---- saved orders ----
void SaveOrder(const TargetOrder& order, ByteWriter& out);
// Parses an order from SaveOrder(). Returns nullopt if the data is damaged.
std::optional<TargetOrder> LoadOrder(ByteReader& in);

}  // namespace taut::server
