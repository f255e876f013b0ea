// The HTTP/1.1 server of the project.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/net/event_stream.h"
#include "common/net/http.h"
#include "common/net/server_options.h"

namespace taut {

struct ServerCounts {
  uint64_t accepted = 0;   // connections
  uint64_t refused = 0;    // connections over max_connections: 503
  uint64_t displaced = 0;  // idle connections without a token, closed for others when there were too many
  uint64_t accept_failures = 0;       // out of file descriptors or memory
  uint64_t tls_failures = 0;          // TLS handshakes that failed or took too long
  uint64_t timed_out = 0;             // clients too slow with a request or with taking an answer
  uint64_t malformed = 0;             // 400 of the server itself, not of the handler
  uint64_t too_large = 0;             // 413 and 431
  uint64_t unauthorized = 0;          // 401
  uint64_t other_site = 0;            // 403 and 421: see ServerOptions::names
  uint64_t overloaded = 0;            // 503: too many bytes of bodies or streams; 429: of a caller's streams
  uint64_t handler_exceptions = 0;    // 500
  uint64_t streams_cut = 0;           // clients that did not keep up with events
  std::array<uint64_t, 6> answers{};  // by status class: answers[2] of 2xx
  uint64_t bytes_in = 0;              // of HTTP, before TLS
  uint64_t bytes_out = 0;
  uint64_t open_connections = 0;  // now
  uint64_t open_streams = 0;      // now
};

class HttpServer {
 public:
  // Called on one of options.threads threads, side by side: must be thread-safe. An exception becomes a 500.
  // A handler that takes long holds one of the threads. Streams: put an EventStream into the response.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  // Listens when it returns. Errors of ServerOptions::Check, of the TLS files, and of an address that is
  // taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const ServerOptions& options, Handler handler);
  // Stop().
  ~HttpServer();

  // Of the first listen address.
  uint16_t port() const;
  // Lets requests in flight finish for options.grace, closes streams after what they hold, then cuts what is
  // left. Waits for handlers that run, however long. From any thread but a handler's; may be called again.
  void Stop();
  // Takes over the tokens and certificates of `options`; everything else stays as it was at the start.
  // Requests from now on are checked against them, event streams end (clients come back). Not OK: nothing has
  // changed.
  absl::Status Reload(const ServerOptions& options);
  // Each number is exact; they are not all of one instant.
  ServerCounts counts() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
