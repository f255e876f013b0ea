// Sends remote-write bodies one after the other, and retries as Prometheus does.
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
  uint64_t requests = 0;  // requests with a response, including retries
  uint64_t bytes = 0;     // bytes of accepted bodies
  uint64_t retries = 0;
  std::array<uint64_t, 6> answers{};  // number of responses by status class: answers[2] counts 2xx
};

// Not thread-safe.
class RemoteSender {
 public:
  explicit RemoteSender(std::unique_ptr<HttpClient> client) : client_(std::move(client)) {}

  // Sends a body until it is accepted. 429 and 5xx are retried with growing pauses, at most Retry-After. A
  // lost connection is retried for kPatience if an earlier request has succeeded. Other responses are
  // returned as errors with the server's message. Returns Cancelled after a signal.
  absl::Status Send(std::string_view body);
  // Sends a body once, without retries, and returns the status of the response. The response is counted in
  // the statistics.
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
