// Signing a browser in with an authorization code and PKCE, step by step. No I/O, no clock, no threads.
//
// Source: RFC 6749 (4.1), RFC 7636 (S256), RFC 9207 (`iss`), OpenID Connect Core (3.1); RFC 9700 and the IETF's
// "OAuth
// 2.0 for Browser-Based Applications", of which this is the backend for frontend: the browser gets a session of
// tautd's, and no token.
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

// Where a provider signs people in, as its discovery document says.
struct LoginProvider {
  std::string authorization, token;  // addresses of its endpoints
  bool secret_in_form = false;       // client_secret_post alone; else HTTP Basic
};

struct LoginOptions {
  std::string issuer;
  std::string client_id;
  std::string client_secret;  // "": a public client
  std::string redirect_url;   // of the callback, as CheckRedirectUrl
  std::string scopes = "openid";
  int64_t pending_s = 600;                          // from the beginning to the end of a sign-in
  size_t max_pending = 1000;                        // sign-ins of that time whose callback has come
  std::function<std::string(size_t bytes)> random;  // bytes that no one can guess
};

// What a redirect URL ends with; what is before it is where tautd's pages are.
inline constexpr std::string_view kCallbackPath = "/login/callback";
// https://HOST[/PREFIX]/login/callback, or http:// on this machine. InvalidArgument names the setting.
absl::Status CheckRedirectUrl(std::string_view url);
// The path before kCallbackPath: "" or "/PREFIX".
std::string_view PrefixOfRedirectUrl(std::string_view url);

class LoginFlow {
 public:
  explicit LoginFlow(LoginOptions options);

  // A sign-in begins: the cookie for the browser, and where it is sent. Nothing is kept: state, nonce and code
  // verifier are keyed hashes of the cookie, so that strangers cannot fill any memory.
  struct Begun {
    std::string cookie, location;
  };
  Begun Begin(const LoginProvider& provider, int64_t now_s) const;

  // The browser is back from the provider, with the cookie of Begin. Each sign-in once. Errors are sentences for
  // the person: the cookie is missing or too old, the state is of another browser, the provider refused.
  // Unavailable: there are max_pending.
  struct Exchange {
    std::string id, code, verifier, nonce;
  };
  absl::StatusOr<Exchange> Callback(std::string_view cookie, const std::vector<QueryParameter>& query,
                                    int64_t now_s);

  // How the code is exchanged for tokens, and the ID token of the answer. Errors are sentences for the person.
  struct TokenRequest {
    std::string form;
    std::vector<HttpHeader> headers;
  };
  TokenRequest RequestFor(const LoginProvider& provider, const Exchange& exchange) const;
  static absl::StatusOr<std::string> IdTokenOf(int status, std::string_view body);

  // The exchange of this id is over: the claims of the ID token, or why there are none.
  void Finish(const std::string& id, absl::StatusOr<VerifiedToken> result);

  // How far the sign-in of this cookie is. kDone and kFailed are said once.
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
  std::map<std::string, Pending, std::less<>>
      pending_;  // by id; also those that were said, against a second callback
};

}  // namespace taut::server
