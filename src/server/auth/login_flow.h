// The steps of a browser's sign-in with an authorization code and PKCE. No I/O, no clock, no threads.
//
// Sources: RFC 6749 (4.1), RFC 7636 (S256), RFC 9207 (`iss`), OpenID Connect Core (3.1), RFC 9700 and the IETF's
// "OAuth 2.0 for Browser-Based Applications". In the terms of the IETF document, tautd is a "backend for
// frontend": the browser receives a session of tautd and no token.
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
  std::string authorization, token;  // URLs of the endpoints
  bool secret_in_form = false;       // false: HTTP Basic; true: the provider supports only client_secret_post
};

struct LoginOptions {
  std::string issuer;
  std::string client_id;
  std::string client_secret;  // client's secret at the provider; "": a public client
  std::string redirect_url;   // URL of the callback; see CheckRedirectUrl
  std::string scopes = "openid";
  int64_t pending_s = 600;  // maximum time from the start to the end of a sign-in, in seconds
  // Maximum number of sign-ins whose callback arrived within the last pending_s.
  size_t max_pending = 1000;
  std::function<std::string(size_t bytes)> random;  // returns this number of cryptographically secure bytes
};

// End of every redirect URL. The part before kCallbackPath is the address of tautd's pages.
inline constexpr std::string_view kCallbackPath = "/login/callback";
// Returns OK for https://HOST[/PREFIX]/login/callback, or for such a URL with http:// on this machine. Otherwise
// returns InvalidArgument, with the setting's name.
absl::Status CheckRedirectUrl(std::string_view url);
// Returns the path before kCallbackPath: "" or "/PREFIX".
std::string_view PrefixOfRedirectUrl(std::string_view url);
// All sign-ins in progress. Not thread-safe.
class LoginFlow {
 public:
  explicit LoginFlow(LoginOptions options);

  // Cookie for the browser, and address to redirect the browser to.
  struct Begun {
    std::string cookie, location;
  };
  // Starts a sign-in. Stores nothing: state, nonce and code verifier are keyed hashes of the cookie, so that
  // strangers cannot fill the memory.
  Begun Begin(const LoginProvider& provider, int64_t now_s) const;

  struct Exchange {
    std::string id, code, verifier, nonce;
  };
  // Handles the browser's return from the provider, with the cookie of Begin. Accepts each sign-in once.
  // Errors are sentences for the person: the cookie is missing or too old, the state belongs to another
  // browser, or the provider refused. Returns Unavailable if max_pending is reached.
  absl::StatusOr<Exchange> Callback(std::string_view cookie, const std::vector<QueryParameter>& query,
                                    int64_t now_s);

  struct TokenRequest {
    std::string form;
    std::vector<HttpHeader> headers;
  };
  // RequestFor returns the request that exchanges the code for tokens. IdTokenOf returns the ID token in the
  // response; its errors are sentences for the person.
  TokenRequest RequestFor(const LoginProvider& provider, const Exchange& exchange) const;
  static absl::StatusOr<std::string> IdTokenOf(int status, std::string_view body);

  // Ends the exchange with this id. `result`: the claims of the ID token, or the reason for the failure.
  void Finish(const std::string& id, absl::StatusOr<VerifiedToken> result);

  // State of a sign-in. Collect returns kDone and kFailed only once; later calls return kUnknown.
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
  // Sign-ins whose callback arrived, by id. Entries are kept after Collect, so that a second callback is rejected.
  std::map<std::string, Pending, std::less<>> pending_;
};

}  // namespace taut::server
