// Identifies the sender of an OpenID Connect token: verifies the token's claims and returns the roles bound
// to them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/net/access.h"
#include "server/auth/provider_keys.h"

namespace taut::server {

// Binds a role to people whose claim TokenRules::groups_claim has this value. With Role::kGroup, `groups` contains
// the people's roles in groups.
struct ClaimBinding {
  std::string value;
  Role role = Role::kNone;
  GroupBindings groups;
};
// Parses a text such as "platform-team: operator" or "shop-leads: owner shop,media". InvalidArgument names the
// allowed forms.
absl::StatusOr<ClaimBinding> ParseClaimBinding(std::string_view text);

// Thread-safe. A person with several bindings receives the highest of the bound roles for the whole cell. If all
// bindings are for groups, the person receives all of these bindings.
class OidcVerifier final : public BearerVerifier {
 public:
  // `keys` returns the provider's keys; null if no keys are available now. `unknown_key` is called when a
  // token has an unknown key.
  OidcVerifier(TokenRules rules, std::vector<ClaimBinding> bindings,
               std::function<std::shared_ptr<const KeySet>()> keys, std::function<void()> unknown_key,
               std::function<int64_t()> now_s);

  bool Takes(std::string_view token) const override { return LooksLikeJwt(token); }
  absl::StatusOr<Caller> CallerOf(std::string_view token) const override;
  // Returns the caller with the current bindings of these claims. Returns Unauthenticated if the claims have no
  // binding.
  absl::StatusOr<Caller> CallerOf(const VerifiedToken& claims) const;
  // Verifies the ID token that was requested with this nonce for this client, and returns its claims. Returns
  // the errors of VerifyToken, and Unauthenticated if there are no keys.
  absl::StatusOr<VerifiedToken> VerifyIdToken(std::string_view token, const std::string& client_id,
                                              std::string nonce) const;
  // Replaces the bindings. The new bindings apply to every request from now on, also in sessions that are
  // already open.
  void SetBindings(std::vector<ClaimBinding> bindings);

 private:
  absl::StatusOr<VerifiedToken> Verify(std::string_view token, const TokenRules& rules) const;

  const TokenRules rules_;
  mutable std::mutex mutex_;
  std::shared_ptr<const std::vector<ClaimBinding>> bindings_;
  const std::function<std::shared_ptr<const KeySet>()> keys_;
  const std::function<void()> unknown_key_;
  const std::function<int64_t()> now_s_;
};

}  // namespace taut::server
