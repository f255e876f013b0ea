// Posts JSON texts, one at a time, to a fixed URL: the interface, and its implementation over HttpClient.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"

namespace taut {

// Not thread-safe.
class HttpPoster {
 public:
  virtual ~HttpPoster() = default;
  // Blocks until the response or the timeout. Any status is a response; redirects are returned and not
  // followed. Errors: no connection, no complete response in time, a response that is too large.
  virtual absl::StatusOr<HttpResponse> Post(std::string_view json, std::vector<HttpHeader> headers) = 0;
};

struct HttpPosterOptions {
  std::string url = {};      // http or https, with path and query, without user and password
  std::string ca_file = {};  // CA for https, where certificates are always verified; "": the system's CAs
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  // time limit of a whole request
  size_t max_response_bytes = size_t{64} << 10;
};

// Returns a poster. InvalidArgument if the URL or the CA file is invalid; the error does not contain user and
// password. The first Post connects.
absl::StatusOr<std::unique_ptr<HttpPoster>> MakeHttpPoster(const HttpPosterOptions& options);

// Returns true if others can read and change the traffic: the URL is http and its host is not loopback.
bool IsUnprotectedUrl(std::string_view url);

}  // namespace taut
