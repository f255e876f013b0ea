// Who sent a request, and whether a browser was made to send it.
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

// Who a request is from.
struct Caller {
  Role role = Role::kNone;
  std::string user;            // as HttpRequest's
  bool authenticated = false;  // by a token or a certificate; not because no authentication is required
  std::shared_ptr<const GroupBindings> bindings = nullptr;  // as HttpRequest's
  std::string refusal = {};  // why the token was not taken; "": no token, or none of ours
  std::optional<int64_t> valid_until_s = std::nullopt;  // likewise
  bool by_session = false;                              // likewise
};

// Knows tokens that are no list's, such as those that an OpenID Connect provider signs. Thread-safe, and does not
// wait for a network.
class BearerVerifier {
 public:
  virtual ~BearerVerifier() = default;
  virtual bool Takes(std::string_view token) const = 0;  // by its form
  // Unauthenticated with the reason, which is sent to the caller.
  virtual absl::StatusOr<Caller> CallerOf(std::string_view token) const = 0;
};

// Knows the sessions of browsers by their cookie. Thread-safe, and does not wait for a network.
class BrowserSessions {
 public:
  virtual ~BrowserSessions() = default;
  virtual std::string_view cookie_name() const = 0;
  // Unauthenticated with the reason, which is sent to the caller.
  virtual absl::StatusOr<Caller> CallerOf(std::string_view cookie) const = 0;
};

// The value of a cookie of the request; nullopt: there is none. The first of several.
std::optional<std::string_view> CookieOf(const HttpRequest& request, std::string_view name);

// Immutable: any thread.
class Access {
 public:
  explicit Access(const ServerOptions& options);

  // By the token in the request, else by its session, or by the certificate of its connection: its subject's
  // common name, nullopt for no certificate.
  Caller CallerOf(const HttpRequest& request, const std::optional<std::string>& certificate_name) const;
  Role RoleOf(const HttpRequest& request, bool has_client_certificate) const;
  // The answer to a request that must not be handled; nullopt: go on. request.role is set.
  // 401 without a role, 400 without a Host, 421 for a Host that is not ours, 403 for another site's page.
  std::optional<HttpResponse> Refuse(const HttpRequest& request) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest DigestOf(std::string_view token);
  Caller CallerOfToken(std::string_view token) const;
  // By a token of ours, or of the verifier.
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
  const std::string_view scheme_;  // of our pages
  const Role client_role_;
  const std::vector<std::string> open_paths_;
  const std::vector<std::string> names_;
  const std::shared_ptr<const BearerVerifier> verifier_;
  const std::shared_ptr<const BrowserSessions> sessions_;
};

// "name:80" -> "name", "[::1]:80" -> "::1".
std::string_view HostWithoutPort(std::string_view authority);
// Whom a peer counts as: "192.0.2.7:40404" and "[::ffff:192.0.2.7]:1" -> "192.0.2.7"; of IPv6 the /64,
// "[2001:db8:1:2:3::4]:1"
// -> "2001:db8:1:2".
std::string NetworkOfPeer(std::string_view peer);
// The text behind standard base64 with padding; nullopt: it is not.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace taut
