// Sends remote-write bodies one after the other, with the patience of a Prometheus.
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
  uint64_t requests = 0;  // answered, retries included
  uint64_t bytes = 0;     // of the bodies taken
  uint64_t retries = 0;
  std::array<uint64_t, 6> answers{};  // by status class: answers[2] of 2xx
};

// Not thread-safe.
class RemoteSender {
 public:
  explicit RemoteSender(std::unique_ptr<HttpClient> client) : client_(std::move(client)) {}

  // Returns when the body is taken. 429 and 5xx are retried with growing pauses, Retry-After at most; a
  // connection lost after it once worked likewise, for kPatience. Other answers are errors with the words of
  // the server; Cancelled: a signal came.
  absl::Status Send(std::string_view body);
  // One try: any answer is fine and counted; its status. For measurements.
  absl::StatusOr<int> SendOnce(std::string_view body);

  const SendCounts& counts() const { return counts_; }

  static constexpr std::chrono::seconds kPatience{60};

 private:
  absl::StatusOr<HttpResponse> Post(std::string_view body);

  std::unique_ptr<HttpClient> client_;
  SendCounts counts_;
};

// Sleeps until then or a signal; false for a signal.
bool SleepUntil(std::chrono::steady_clock::time_point then);

}  // namespace taut::tools
