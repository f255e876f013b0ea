// What a server listens to, whom it lets in, and how much it takes.
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
class BrowserSessions;  // likewise

struct ListenAddress {
  std::string host = "127.0.0.1";  // an IP address, v6 without brackets
  uint16_t port = 0;               // 0: any that is free
};
// "127.0.0.1:9190", "[::1]:9190", "localhost:9190" (127.0.0.1). InvalidArgument for anything else.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);
// As ParseListenAddress takes it.
std::string FormatAddress(const ListenAddress& address);
// An IP address, v6 without brackets.
bool IsIpAddress(const std::string& host);
// 127.0.0.0/8 or ::1.
bool IsLoopback(std::string_view host);

// A bearer token, or the password of HTTP Basic. `name`: its owner, for the record; "" for no one in
// particular. `bindings`: of a token of groups' people.
struct AccessToken {
  AccessToken(std::string t, std::string n = "", GroupBindings b = {})
      : token(std::move(t)), name(std::move(n)), bindings(std::move(b)) {}
  AccessToken(const char* t) : token(t) {}
  std::string token, name;
  GroupBindings bindings;

  bool operator==(const AccessToken&) const = default;
};
// InvalidArgument if it is too short to be a secret, or cannot stand in a header; the error does not show it.
absl::Status CheckToken(std::string_view token);

struct ServerOptions {
  std::vector<ListenAddress> listen = {ListenAddress{}};
  // How many handlers run side by side; more requests wait. There is one thread more, so that clients are
  // heard and events sent however long handlers take.
  int threads = 2;

  // TLS if both are set: PEM files, the certificate with its chain.
  std::string certificate_file;
  std::string key_file;
  // If set: clients with a certificate of this CA have client_role. Without tokens every client must have
  // one.
  std::string client_ca_file;
  Role client_role = Role::kOperator;

  // Bearer tokens, or passwords of HTTP Basic with any user name. With none of them and no client_ca_file
  // everybody is operator, and Check() allows loopback only.
  std::vector<AccessToken> writer_tokens;
  std::vector<AccessToken> group_tokens;  // of people of groups: each has a name and bindings
  std::vector<AccessToken> reader_tokens;
  std::vector<AccessToken> platform_tokens;
  std::vector<AccessToken> operator_tokens;
  // If set: asked for tokens that are none of these. Stays over a reload.
  std::shared_ptr<const BearerVerifier> verifier;
  // If set: asked for the cookie of a request that has no valid token. Stays over a reload, too.
  std::shared_ptr<const BrowserSessions> sessions;
  // Paths that are answered without a role, such as "/healthz".
  std::vector<std::string> open_paths;
  // Names of this server besides localhost and IP addresses: required in the Host header where no client
  // needs a token (a page whose name was made to point here has another), and as Origin of a page that may
  // write.
  std::vector<std::string> names;

  size_t max_header_bytes = 16 << 10;
  size_t max_body_bytes = 16 << 20;
  // Path prefix and limit; the longest prefix counts.
  std::vector<std::pair<std::string, size_t>> body_limits;
  // Of all bodies that are being received. Above: 503.
  size_t max_buffered_bytes = 512 << 20;
  // When there are as many, those that wait without ever having shown a token are closed first, of the
  // address that has the most. Also bounded by half of the process' limit of open files.
  size_t max_connections = 1024;
  size_t max_connections_per_address = 512;  // of an IPv6 client: of its /64
  size_t max_streams = 64;
  // Of callers with the same role and name; of those without a name, of the same address. Above: 429.
  size_t max_streams_per_caller = 16;

  using Duration = std::chrono::milliseconds;
  // Between two requests; of clients that have shown no token where one is needed: header_timeout.
  Duration idle_timeout = std::chrono::seconds(120);
  Duration header_timeout =
      std::chrono::seconds(5);  // from accept or a request's first byte; TLS: of the handshake
  // A body or an answer may take this long, and one second more for each min_bytes_per_second.
  Duration body_timeout = std::chrono::seconds(20);
  Duration write_timeout = std::chrono::seconds(20);
  size_t min_bytes_per_second = 16 << 10;
  Duration heartbeat = std::chrono::seconds(15);  // of an event stream in which nothing happens
  Duration grace = std::chrono::seconds(10);      // for requests in flight when the server stops

  // gzip for text over 1 KiB, if the client takes it and the handler has not encoded it.
  bool compress = true;
  // Sent with every answer that does not set them itself.
  std::vector<HttpHeader> default_headers;

  // If set: told of what a handler threw, on the handler's thread. The client hears only of a 500.
  std::function<void(const HttpRequest&, std::string_view what)> on_exception;

  bool has_tls() const { return !certificate_file.empty(); }
  bool has_tokens() const {
    return !writer_tokens.empty() || !group_tokens.empty() || !reader_tokens.empty() ||
           !platform_tokens.empty() || !operator_tokens.empty();
  }
  // No authentication is required.
  bool is_open() const { return !has_tokens() && verifier == nullptr && client_ca_file.empty(); }
  // Bytes that the body of a request to `path` may have.
  size_t BodyLimitOf(std::string_view path) const;

  // InvalidArgument, with the way out, if these do not fit together or let strangers in.
  absl::Status Check() const;
};

// For a page that loads its own files only: Content-Security-Policy and its company.
std::vector<HttpHeader> PageSecurityHeaders();

}  // namespace taut
