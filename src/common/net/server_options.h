// Configuration of an HTTP server: addresses, authentication, limits and timeouts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/http.h"

namespace taut {

class BearerVerifier;   // access.h
class BrowserSessions;  // access.h

struct ListenAddress {
  std::string host = "127.0.0.1";  // IP address, v6 without brackets
  uint16_t port = 0;               // 0: any free port
};
// Parses "127.0.0.1:9190", "[::1]:9190" or "localhost:9190" (127.0.0.1). InvalidArgument for anything else.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);
// Returns the address as ParseListenAddress accepts it.
std::string FormatAddress(const ListenAddress& address);
// Returns true for an IP address, v6 without brackets.
bool IsIpAddress(const std::string& host);
// Returns true for 127.0.0.0/8 and ::1.
bool IsLoopback(std::string_view host);

// A bearer token, or the password of HTTP Basic. `name` is the token's owner, for records; "" for none. A
// token for the people of groups has `bindings`.
struct AccessToken {
  AccessToken(std::string t, std::string n = "", GroupBindings b = {})
      : token(std::move(t)), name(std::move(n)), bindings(std::move(b)) {}
  AccessToken(const char* t) : token(t) {}
  std::string token, name;
  GroupBindings bindings;

  bool operator==(const AccessToken&) const = default;
};
// Returns InvalidArgument if the token is too short for a secret or contains characters that a header must
// not contain. The error does not show the token.
absl::Status CheckToken(std::string_view token);

// Check() validates the options as a whole.
struct ServerOptions {
  std::vector<ListenAddress> listen = {ListenAddress{}};
  // Number of handlers that run at once; further requests wait. One more thread serves connections and events,
  // regardless of the duration of handlers.
  int threads = 2;

  // PEM files; certificate_file contains the chain. The server uses TLS if both are set.
  std::string certificate_file;
  std::string key_file;
  // CA of client certificates. If set, a client with a certificate of this CA receives client_role; without tokens
  // every client must have such a certificate.
  std::string client_ca_file;
  Role client_role = Role::kOperator;

  // Tokens by role, also accepted as passwords of HTTP Basic with any user name. Without tokens, verifier and
  // client CA every caller has the role operator, and Check() allows only loopback addresses.
  std::vector<AccessToken> writer_tokens;
  std::vector<AccessToken> group_tokens;  // each has a name and bindings
  std::vector<AccessToken> reader_tokens;
  std::vector<AccessToken> platform_tokens;
  std::vector<AccessToken> operator_tokens;
  // Verifies tokens that are not in the lists of tokens above. Kept over a reload. Null: no verifier.
  std::shared_ptr<const BearerVerifier> verifier;
  // Checks the session cookie of a request without a valid token. Kept over a reload. Null: no sessions.
  std::shared_ptr<const BrowserSessions> sessions;
  // Paths that need no role, such as "/healthz".
  std::vector<std::string> open_paths;
  // Names of this server besides localhost and IP addresses. Against DNS rebinding, a server without
  // authentication requires that the Host header contains one of `names`, localhost or an IP address. Pages
  // with one of `names` as Origin may send changing requests, as pages of the same origin may.
  std::vector<std::string> names;

  size_t max_header_bytes = 16 << 10;
  size_t max_body_bytes = 16 << 20;
  // Pairs of path prefix and limit in bytes; the longest matching prefix applies.
  std::vector<std::pair<std::string, size_t>> body_limits;
  // Limit of the total size of all bodies that are being received. Above this limit, requests get 503.
  size_t max_buffered_bytes = 512 << 20;
  // Open connections, also limited to half of the process' limit of open files. At the limit, idle
  // connections without authentication are closed first, beginning with the address that has the most
  // connections.
  size_t max_connections = 1024;
  size_t max_connections_per_address = 512;  // limit for one IPv4 address or IPv6 /64
  size_t max_streams = 64;
  // Limit of streams per role and name, or per address for callers without a name. Above this limit, requests get
  // 429.
  size_t max_streams_per_caller = 16;

  using Duration = std::chrono::milliseconds;
  // Time between two requests; header_timeout replaces this time for an unauthenticated client where a token is
  // needed.
  Duration idle_timeout = std::chrono::seconds(120);
  // Time for a header, from accept or from the header's first byte, and time for a TLS handshake.
  Duration header_timeout = std::chrono::seconds(5);
  // Time for a body or a response, plus one second per min_bytes_per_second.
  Duration body_timeout = std::chrono::seconds(20);
  Duration write_timeout = std::chrono::seconds(20);
  size_t min_bytes_per_second = 16 << 10;
  Duration heartbeat = std::chrono::seconds(15);  // interval of comments on an idle event stream
  Duration grace = std::chrono::seconds(10);      // time for current requests when the server stops

  // True if text above 1 KiB is compressed with gzip when the client accepts gzip and the handler has not
  // encoded the text.
  bool compress = true;
  // Headers that are added to every response that does not set them.
  std::vector<HttpHeader> default_headers;

  // Called with a handler's exception, on the handler's thread. The client receives only a 500. May be empty.
  std::function<void(const HttpRequest&, std::string_view what)> on_exception;

  bool has_tls() const { return !certificate_file.empty(); }
  bool has_tokens() const {
    return !writer_tokens.empty() || !group_tokens.empty() || !reader_tokens.empty() ||
           !platform_tokens.empty() || !operator_tokens.empty();
  }
  // True if no authentication is required.
  bool is_open() const { return !has_tokens() && verifier == nullptr && client_ca_file.empty(); }
  // Returns the size limit of the body of a request to `path`, in bytes.
  size_t BodyLimitOf(std::string_view path) const;

  // Returns InvalidArgument, with a remedy, if options contradict each other or leave the server open to
  // other machines.
  absl::Status Check() const;
};

// Returns Content-Security-Policy and related headers for a page that loads its own files only.
std::vector<HttpHeader> PageSecurityHeaders();

}  // namespace taut
