// Verification of OpenID Connect tokens: JWTs signed with RS256 or ES256 by one of the provider's keys.
//
// Sources: RFC 7515, RFC 7517, RFC 7519; RFC 8725 for the checks.
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

// The public keys of a provider, found by `kid`. Immutable and thread-safe.
class KeySet {
 public:
  // Parses a JWK Set. Skips keys without a `kid`, and keys that are not for signatures with RS256 (2,048 bits
  // or more) or ES256. Returns DataLoss if the text is not JSON or has no `keys`, and FailedPrecondition if
  // no key remains.
  static absl::StatusOr<std::shared_ptr<const KeySet>> Parse(std::string_view json);
  size_t size() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit KeySet(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

struct TokenRules {
  std::string issuer;    // required value of `iss`
  std::string audience;  // required audience, which must be one of `aud`
  std::string user_claim = "sub";
  // Name of the claim with the groups, or a path of names separated by dots: "realm_access.roles". The
  // claim's value is a text or a list of texts.
  std::string groups_claim = "groups";
  int64_t leeway_s = 60;  // allowed difference between the clocks of tautd and the provider, in seconds
  // If set, the token must be an ID token for this nonce (OpenID Connect Core, 3.1.3.7). An ID token with
  // several audiences must be issued to `audience` (`azp`).
  std::optional<std::string> nonce = std::nullopt;
};

struct VerifiedToken {
  std::string user;
  std::vector<std::string> groups;
  int64_t expires_s = 0;  // end of the token's validity including the leeway, seconds since the epoch
};

// Returns true if the text has the form of a JWT: two dots.
bool LooksLikeJwt(std::string_view token);
// Verifies a token and returns its claims. Returns NotFound if no key has the token's `kid`: the provider may
// have newer keys. Returns Unauthenticated, with the reason, for all other errors. Errors quote only the
// `kid` of the token. Takes about 50 us.
absl::StatusOr<VerifiedToken> VerifyToken(std::string_view token, const KeySet& keys, const TokenRules& rules,
                                          int64_t now_s);

}  // namespace taut::server
