// Sends one JSON text at a time to a fixed URL: the interface, and its implementation over HttpClient.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"

namespace taut {

// One object, one thread.
class HttpPoster {
 public:
  virtual ~HttpPoster() = default;
  // Blocks until the response or the deadline. Any status is a response, redirects included, which are not
  // followed. An error: no connection, no complete response in time, or one that is too large.
  virtual absl::StatusOr<HttpResponse> Post(std::string_view json, std::vector<HttpHeader> headers) = 0;
};

struct HttpPosterOptions {
  std::string url = {};      // http or https, with path and query, without user and password
  std::string ca_file = {};  // for https, whose certificates are always verified; "": the system's CAs
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  // of a whole request
  size_t max_response_bytes = size_t{64} << 10;
};

// InvalidArgument: what is wrong with the URL, of which it shows no user and password, or with the CA file.
// Connects at the first request.
absl::StatusOr<std::unique_ptr<HttpPoster>> MakeHttpPoster(const HttpPosterOptions& options);

// What is sent there can be read and changed on the network: http, and the host is not loopback.
bool IsUnprotectedUrl(std::string_view url);

}  // namespace taut
