// Sends JSON texts to a URL by POST, one after another, from a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

struct WebhookOptions {
  std::string url;      // http or https, with its path
  std::string ca_file;  // for https; "": the system's
  // Signs each body: X-Tautline-Signature is "sha256=" and the HMAC-SHA256 of the body with it, in hex. "":
  // no signature.
  std::string secret;
  size_t max_queued = 1000;  // above it the oldest is dropped
  // No answer, 408, 429 and 5xx are retried, after first_retry and twice as long each time up to
  // last_retry, max_attempts times in all; then, or at any other answer but 2xx, the text is dropped.
  int max_attempts = 8;
  std::chrono::milliseconds first_retry = std::chrono::seconds(1);
  std::chrono::milliseconds last_retry = std::chrono::minutes(5);
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

struct WebhookCounts {
  uint64_t delivered = 0, retries = 0;
  uint64_t dropped = 0;  // refused, tried too often, or pushed out of the queue
  uint64_t queued = 0;   // now
};

class Webhook {
 public:
  // InvalidArgument for a URL or CA file that cannot be used. Nothing is sent yet.
  static absl::StatusOr<std::unique_ptr<Webhook>> Start(const WebhookOptions& options);
  // Drops what is queued; waits for the request under way, at most the timeout.
  ~Webhook();

  // Never blocks. From any thread.
  void Send(std::string json);
  WebhookCounts counts() const;
  // Why the last attempt failed; "" if it did not.
  std::string last_error() const;

 private:
  struct Impl;
  explicit Webhook(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The HMAC-SHA256 of `text`, in lower-case hex.
std::string HmacSha256Hex(std::string_view key, std::string_view text);

}  // namespace taut
