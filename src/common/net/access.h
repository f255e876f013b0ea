// Authentication of HTTP requests, and protection against requests that another site makes a browser send.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "common/net/server_options.h"

namespace taut {

// The sender of a request, as far as it was authenticated. The fields have the meaning of HttpRequest's
// fields.
struct Caller {
  Role role = Role::kNone;
  std::string user;
  bool authenticated = false;  // true if a token, session or certificate was accepted
  std::shared_ptr<const GroupBindings> bindings = nullptr;
  std::string refusal = {};  // reason for the rejection of a token or session; "" if none was rejected
  std::optional<int64_t> valid_until_s = std::nullopt;
  bool by_session = false;
};

// Verifies tokens that are not in the configured lists, such as tokens signed by an OpenID Connect provider.
// Implementations are thread-safe and do not wait for the network.
class BearerVerifier {
 public:
  virtual ~BearerVerifier() = default;
  // Returns true if the token has the form of this provider's tokens.
  virtual bool Takes(std::string_view token) const = 0;
  // Returns the caller with this token; Unauthenticated with the reason, which is sent to the caller.
  virtual absl::StatusOr<Caller> CallerOf(std::string_view token) const = 0;
};

// Verifies the session cookies of browsers. Implementations are thread-safe and do not wait for the network.
class BrowserSessions {
 public:
  virtual ~BrowserSessions() = default;
  virtual std::string_view cookie_name() const = 0;
  // Returns the caller of this session; Unauthenticated with the reason, which is sent to the caller.
  virtual absl::StatusOr<Caller> CallerOf(std::string_view cookie) const = 0;
};

// Returns a view of the first value of this cookie in the request; nullopt if the request has no such cookie.
std::optional<std::string_view> CookieOf(const HttpRequest& request, std::string_view name);

// The rules of one server. Immutable, and therefore thread-safe.
class Access {
 public:
  explicit Access(const ServerOptions& options);

  // Returns the sender. The token identifies the sender; if the token has no role, the session identifies the
  // sender. A certificate of the connection takes precedence if the certificate's role is not lower.
  // `certificate_name` is the common name of the certificate's subject, nullopt without a certificate. O(tokens).
  Caller CallerOf(const HttpRequest& request, const std::optional<std::string>& certificate_name) const;
  // Returns the sender's role, as CallerOf does for a certificate without a name.
  Role RoleOf(const HttpRequest& request, bool has_client_certificate) const;
  // Returns the response to a request that must not be handled, nullopt if the request may be handled. Uses
  // request.role. 401: no role. 400: more than one Host. 421: unknown Host. 403: a page of another site.
  std::optional<HttpResponse> Refuse(const HttpRequest& request) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest DigestOf(std::string_view token);
  Caller CallerOfToken(std::string_view token) const;
  // Checks the configured tokens, then the verifier.
  Caller CallerOfAuthorization(const HttpRequest& request) const;
  void TrySession(const HttpRequest& request, Caller& caller) const;
  bool IsOurHost(std::string_view host) const;

  struct Known {
    Digest digest;
    Role role;
    std::string name;
    std::shared_ptr<const GroupBindings> bindings;
  };

  std::vector<Known> known_;
  const bool open_;
  const std::string_view scheme_;  // scheme of this server's own pages
  const Role client_role_;
  const std::vector<std::string> open_paths_;
  const std::vector<std::string> names_;
  const std::shared_ptr<const BearerVerifier> verifier_;
  const std::shared_ptr<const BrowserSessions> sessions_;
};

// Returns the host of an authority: "name:80" -> "name", "[::1]:80" -> "::1".
std::string_view HostWithoutPort(std::string_view authority);
// Returns the network to which the limits of a peer apply: the IPv4 address ("192.0.2.7:40404" and
// "[::ffff:192.0.2.7]:1" -> "192.0.2.7"), or the /64 of an IPv6 address ("[2001:db8:1:2:3::4]:1" ->
// "2001:db8:1:2").
std::string NetworkOfPeer(std::string_view peer);
// Decodes standard base64 with padding; nullopt for other text.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace taut
