#include "tools/dev/remote_sender.h"

#include <algorithm>
#include <thread>

#include "common/base/strings.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{50}, kLongestPause{5000};

// Returns the pause before a retry: the shorter of `own` and Retry-After. A short pause does no harm, because
// there is only one sender, and rejecting a retry costs a busy receiver little.
milliseconds PauseBefore(const HttpResponse& response, milliseconds own) {
  const std::string* after = response.header("Retry-After");
  const std::optional<double> seconds = after == nullptr ? std::nullopt : ParseDouble(*after);
  if (!seconds.has_value() || *seconds < 0) return own;  // Retry-After is absent or a date
  return std::clamp(milliseconds(static_cast<int64_t>(std::min(*seconds, 60.0) * 1000)), milliseconds(10),
                    own);
}

}  // namespace

bool SleepUntil(Clock::time_point then) {
  for (auto now = Clock::now(); now < then; now = Clock::now()) {
    if (Interrupted()) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(then - now, milliseconds(50)));
  }
  return !Interrupted();
}

absl::StatusOr<HttpResponse> RemoteSender::Post(std::string_view body) {
  HttpClient::Request request;
  request.method = "POST";
  request.path = "/api/v1/write";
  request.body = body;
  request.content_type = "application/x-protobuf";
  request.headers = {{"Content-Encoding", "snappy"}, {"X-Prometheus-Remote-Write-Version", "0.1.0"}};
  absl::StatusOr<HttpResponse> response = client_->Send(request);
  if (!response.ok()) return response;
  ++counts_.requests;
  ++counts_.answers[static_cast<size_t>(std::clamp(response->status / 100, 0, 5))];
  if (response->status / 100 == 2) counts_.bytes += body.size();
  return response;
}

absl::StatusOr<int> RemoteSender::SendOnce(std::string_view body) {
  const absl::StatusOr<HttpResponse> response = Post(body);
  if (!response.ok()) return response.status();
  return response->status;
}

absl::Status RemoteSender::Send(std::string_view body) {
  milliseconds pause = kFirstPause;
  const Clock::time_point give_up = Clock::now() + kPatience;
  for (;; ++counts_.retries) {
    if (Interrupted()) return absl::CancelledError("interrupted");
    const absl::StatusOr<HttpResponse> response = Post(body);
    milliseconds wait = pause;
    if (response.ok()) {
      const bool again = response->status == 429 || response->status / 100 == 5;
      if (!again) {
        const absl::Status status = CheckAnswer(*client_, *response);
        if (!absl::IsInvalidArgument(status)) return status;
        return absl::FailedPreconditionError(StrCat("tautd rejected the request: ", Message(status)));
      }
      wait = PauseBefore(*response, pause);
    } else if (counts_.answers[2] == 0 || Clock::now() > give_up) {
      return response.status();
    }
    if (!SleepUntil(Clock::now() + wait)) return absl::CancelledError("interrupted");
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace taut::tools
