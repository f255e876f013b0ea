// Sends remote-write bodies one after the other, with the retries of Prometheus.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "tools/cli/connection.h"

namespace taut::tools {

struct SendCounts {
  uint64_t requests = 0;  // number of responses, including responses to retries
  uint64_t bytes = 0;     // total size of the accepted bodies
  uint64_t retries = 0;
  std::array<uint64_t, 6> answers{};  // number of responses by status class; index 2 counts 2xx
};

// A client of one remote-write receiver. Not thread-safe.
class RemoteSender {
 public:
  explicit RemoteSender(std::unique_ptr<HttpClient> client) : client_(std::move(client)) {}

  // Sends a body until the receiver accepts the body. Retries after 429 and 5xx, with growing pauses of at most
  // Retry-After. Retries after a lost connection for kPatience if an earlier request succeeded. Returns any other
  // response as an error with the server's message, and Cancelled after a signal.
  absl::Status Send(std::string_view body);
  // Sends a body once, without retries, and returns the status of the response. Statistics include the response.
  absl::StatusOr<int> SendOnce(std::string_view body);

  const SendCounts& counts() const { return counts_; }

  static constexpr std::chrono::seconds kPatience{60};

 private:
  absl::StatusOr<HttpResponse> Post(std::string_view body);

  std::unique_ptr<HttpClient> client_;
  SendCounts counts_;
};

// Sleeps until `then`. Returns false if a signal arrived.
bool SleepUntil(std::chrono::steady_clock::time_point then);

}  // namespace taut::tools
