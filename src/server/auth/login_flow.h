// Sign-in of a browser with an authorization code and PKCE, step by step. No I/O, no clock, no threads.
//
// Sources: RFC 6749 (4.1), RFC 7636 (S256), RFC 9207 (`iss`), OpenID Connect Core (3.1), RFC 9700 and the
// IETF's "OAuth 2.0 for Browser-Based Applications". tautd is the latter's backend for frontend: the browser
// gets a session of tautd and no token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "server/auth/token.h"

namespace taut::server {

// The provider's endpoints for sign-in, from its discovery document.
struct LoginProvider {
  std::string authorization, token;  // addresses of the endpoints
  bool secret_in_form = false;       // only client_secret_post is supported; otherwise HTTP Basic
};

struct LoginOptions {
  std::string issuer;
  std::string client_id;
  std::string client_secret;  // "": a public client
  std::string redirect_url;   // address of the callback; see CheckRedirectUrl
  std::string scopes = "openid";
  int64_t pending_s = 600;                          // longest time from the start to the end of a sign-in
  size_t max_pending = 1000;                        // bound of sign-ins whose callback arrived in that time
  std::function<std::string(size_t bytes)> random;  // cryptographically secure bytes
};

// End of every redirect URL; the part before it is the address of tautd's pages.
inline constexpr std::string_view kCallbackPath = "/login/callback";
// Accepts https://HOST[/PREFIX]/login/callback, or http:// on this machine. InvalidArgument, with the
// setting's name, otherwise.
absl::Status CheckRedirectUrl(std::string_view url);
// Returns the path before kCallbackPath: "" or "/PREFIX".
std::string_view PrefixOfRedirectUrl(std::string_view url);
// Not thread-safe.

class LoginFlow {
 public:
  explicit LoginFlow(LoginOptions options);

  // Starts a sign-in. Returns the cookie for the browser and the address to redirect it to. Nothing is
  // stored: state, nonce and code verifier are keyed hashes of the cookie, so that strangers cannot fill the
  // memory.
  struct Begun {
    std::string cookie, location;
  };
  Begun Begin(const LoginProvider& provider, int64_t now_s) const;

  // Handles the browser's return from the provider, with the cookie of Begin; each sign-in once. Errors are
  // sentences for the person: the cookie is missing or too old, the state belongs to another browser, or the
  // provider refused. Unavailable: max_pending is reached.
  struct Exchange {
    std::string id, code, verifier, nonce;
  };
  absl::StatusOr<Exchange> Callback(std::string_view cookie, const std::vector<QueryParameter>& query,
                                    int64_t now_s);

  // The request that exchanges the code for tokens, and the ID token in its response. Errors are sentences
  // for the person.
  struct TokenRequest {
    std::string form;
    std::vector<HttpHeader> headers;
  };
  TokenRequest RequestFor(const LoginProvider& provider, const Exchange& exchange) const;
  static absl::StatusOr<std::string> IdTokenOf(int status, std::string_view body);

  // Ends the exchange of this id with the claims of the ID token, or with the reason of its failure.
  void Finish(const std::string& id, absl::StatusOr<VerifiedToken> result);

  // State of a sign-in. Collect returns kDone and kFailed once, and kUnknown afterwards.
  enum class Stage : uint8_t { kUnknown, kWaiting, kDone, kFailed };
  struct Collected {
    Stage stage = Stage::kUnknown;
    VerifiedToken claims = {};
    std::string error = {};
  };
  Collected Collect(std::string_view cookie, int64_t now_s);
  size_t pending() const { return pending_.size(); }

 private:
  struct Pending {
    Stage stage = Stage::kWaiting;
    int64_t since_s = 0;
    VerifiedToken claims = {};
    std::string error = {};
  };
  std::string Keyed(std::string_view what, std::string_view cookie) const;
  bool IsCurrent(int64_t since_s, int64_t now_s) const;
  void Expire(int64_t now_s);

  const LoginOptions options_;
  const std::string key_;
  // By id. Entries stay after Collect, so that a second callback is rejected.
  std::map<std::string, Pending, std::less<>> pending_;
};

}  // namespace taut::server
