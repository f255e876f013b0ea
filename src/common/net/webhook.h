// Posts JSON texts to a URL, in order, from a thread of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut {

struct WebhookOptions {
  std::string url;      // http or https, with a path
  std::string ca_file;  // CA for https; "": the system's CAs
  // Key for X-Tautline-Signature, which is "sha256=" and the HMAC-SHA256 of the body in hex. "": no
  // signature.
  std::string secret;
  size_t max_queued = 1000;  // limit of the queue; above this limit the oldest text is dropped
  // A text without a response, or with the response 408, 429 or 5xx, is sent again after first_retry. The delay
  // doubles up to last_retry. After max_attempts attempts, or after any other status that is not 2xx, the text is
  // dropped.
  int max_attempts = 8;
  std::chrono::milliseconds first_retry = std::chrono::seconds(1);
  std::chrono::milliseconds last_retry = std::chrono::minutes(5);
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

struct WebhookCounts {
  uint64_t delivered = 0, retries = 0;
  uint64_t dropped = 0;  // texts that were rejected, tried too often, or pushed out of a full queue
  uint64_t queued = 0;   // texts in the queue now
};

class Webhook {
 public:
  // Starts the thread. InvalidArgument if the URL or the CA file is unusable. Sends nothing yet.
  static absl::StatusOr<std::unique_ptr<Webhook>> Start(const WebhookOptions& options);
  // Drops the queue and waits for the current request, at most for the timeout.
  ~Webhook();

  // Queues a text. Thread-safe; never waits for the network.
  void Send(std::string json);
  WebhookCounts counts() const;
  // Error of the last attempt; "" if the attempt succeeded.
  std::string last_error() const;

 private:
  struct Impl;
  explicit Webhook(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns the HMAC-SHA256 of `text` in lower-case hex.
std::string HmacSha256Hex(std::string_view key, std::string_view text);

}  // namespace taut
