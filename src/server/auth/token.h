// Tokens of an OpenID Connect provider: JWTs that are signed with RS256 or ES256 by one of the provider's keys.
//
// Source: RFC 7515, RFC 7517, RFC 7519; RFC 8725 for what is refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::server {

// The public keys of a provider, by their `kid`. Immutable: any thread.
class KeySet {
 public:
  // Of a JWK Set. Keys that are not for signatures of RS256 (2048 bits or more) or ES256, or that have no `kid`,
  // are left out. DataLoss if it is not JSON or has no `keys`; FailedPrecondition if no key is left.
  static absl::StatusOr<std::shared_ptr<const KeySet>> Parse(std::string_view json);
  size_t size() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit KeySet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

struct TokenRules {
  std::string issuer;    // as `iss`
  std::string audience;  // one of `aud`
  std::string user_claim = "sub";
  // A name, or several with dots between, one in the other: "realm_access.roles". A text or a list of texts.
  std::string groups_claim = "groups";
  int64_t leeway_s = 60;  // clocks may differ by this
  // If set, it must be an ID token that was asked for with this nonce (OpenID Connect Core, 3.1.3.7): with several
  // audiences it must be issued to ours (`azp`).
  std::optional<std::string> nonce = std::nullopt;
};

struct VerifiedToken {
  std::string user;
  std::vector<std::string> groups;
  int64_t expires_s = 0;  // with the leeway
};

// Three pieces with dots between: no other kind of token looks so.
bool LooksLikeJwt(std::string_view token);
// NotFound: no key of this `kid`, which newer keys may have. Unauthenticated, with the reason, for all else. The
// error holds nothing of the token but the `kid`. Cost: a verification, some 50 us.
absl::StatusOr<VerifiedToken> VerifyToken(std::string_view token, const KeySet& keys, const TokenRules& rules,
                                          int64_t now_s);

}  // namespace taut::server
