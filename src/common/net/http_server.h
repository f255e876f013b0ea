// The HTTP/1.1 server of all programs: threads, authentication, limits, event streams.
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

// Counters since the start of the server.
struct ServerCounts {
  uint64_t accepted = 0;              // accepted connections
  uint64_t refused = 0;               // connections above max_connections, answered with 503 or closed
  uint64_t displaced = 0;             // idle unauthenticated connections, closed to make room for others
  uint64_t accept_failures = 0;       // failed calls of accept(): out of file descriptors or memory
  uint64_t tls_failures = 0;          // TLS handshakes that failed or timed out
  uint64_t timed_out = 0;             // connections whose client sent a request or read a response too slowly
  uint64_t malformed = 0;             // responses 400 and 501 of the server itself, not of the handler
  uint64_t too_large = 0;             // responses 413 and 431
  uint64_t unauthorized = 0;          // responses 401
  uint64_t other_site = 0;            // responses 403 and 421, see ServerOptions::names
  uint64_t overloaded = 0;            // responses 503 (body memory, streams) and 429 (streams of a caller)
  uint64_t handler_exceptions = 0;    // responses 500 after an exception
  uint64_t streams_cut = 0;           // event streams that ended because the client read too slowly
  std::array<uint64_t, 6> answers{};  // responses by status class: answers[2] counts 2xx
  uint64_t bytes_in = 0;              // HTTP bytes, without TLS
  uint64_t bytes_out = 0;
  uint64_t open_connections = 0;  // number of connections that are open now
  uint64_t open_streams = 0;      // number of streams that are open now
};

// A running server. Handlers may be called until Stop returns.
class HttpServer {
 public:
  // Returns the response to a request. A handler must be thread-safe: it is called concurrently on
  // options.threads threads. An exception becomes a 500. A slow handler occupies a thread. To stream, put an
  // EventStream into the response.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  // Returns a listening server, or the error of ServerOptions::Check, of an unusable TLS file or of an address in
  // use.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const ServerOptions& options, Handler handler);
  // Calls Stop().
  ~HttpServer();

  // Port of the first listen address.
  uint16_t port() const;
  // Lets current requests finish for options.grace, closes streams after their queued events, then closes the
  // remaining connections. Waits for running handlers without limit. Thread-safe and idempotent. Must not be
  // called from a handler.
  void Stop();
  // Applies the tokens and certificates of `options`; addresses and limits stay unchanged. Later requests are
  // checked against the new tokens. Event streams end, and their clients reconnect. On error nothing changes.
  // Thread-safe.
  absl::Status Reload(const ServerOptions& options);
  // Returns the counters. Each counter is exact, but together they are not a snapshot of one instant.
  ServerCounts counts() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
