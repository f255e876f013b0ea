// For tests: an HttpPoster in memory that replays a script of responses and records the requests.
// Thread-safe.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/net/http_poster.h"

namespace taut {

class ScriptedPoster final : public HttpPoster {
 public:
  struct Request {
    std::string body;
    std::vector<HttpHeader> headers;
    std::string header(std::string_view name) const {
      const std::string* value = FindHeader(headers, name);
      return value == nullptr ? "" : *value;
    }
  };

  // Appends a response. Post returns the responses in turn, then 200 without a body.
  void Add(absl::StatusOr<HttpResponse> response) {
    const std::lock_guard lock(mutex_);
    responses_.push_back(std::move(response));
  }
  std::vector<Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  absl::StatusOr<HttpResponse> Post(std::string_view json, std::vector<HttpHeader> headers) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back({std::string(json), std::move(headers)});
    if (responses_.empty()) return HttpResponse{};
    absl::StatusOr<HttpResponse> out = std::move(responses_.front());
    responses_.pop_front();
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<absl::StatusOr<HttpResponse>> responses_;
  std::vector<Request> requests_;
};

}  // namespace taut
