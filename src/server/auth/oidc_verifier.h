// Who sends a token of an OpenID Connect provider: its claims, and what they are bound to.
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

// People with this value in TokenRules::groups_claim have the role. Of Role::kGroup: these bindings.
struct ClaimBinding {
  std::string value;
  Role role = Role::kNone;
  GroupBindings groups;
};
// "platform-team: operator", "shop-leads: owner shop,media". InvalidArgument says what is allowed.
absl::StatusOr<ClaimBinding> ParseClaimBinding(std::string_view text);

// Thread-safe. A person of several bindings has the highest role of the platform, else all that are of groups.
class OidcVerifier final : public BearerVerifier {
 public:
  // `keys`: of the provider, null for none just now; `unknown_key`: called for a token of another key.
  OidcVerifier(TokenRules rules, std::vector<ClaimBinding> bindings,
               std::function<std::shared_ptr<const KeySet>()> keys, std::function<void()> unknown_key,
               std::function<int64_t()> now_s);

  bool Takes(std::string_view token) const override { return LooksLikeJwt(token); }
  absl::StatusOr<Caller> CallerOf(std::string_view token) const override;
  // What these claims are bound to now. Unauthenticated: nothing.
  absl::StatusOr<Caller> CallerOf(const VerifiedToken& claims) const;
  // The claims of an ID token that was asked for with this nonce, for this client. Errors as VerifyToken, and
  // Unauthenticated without keys.
  absl::StatusOr<VerifiedToken> VerifyIdToken(std::string_view token, const std::string& client_id,
                                              std::string nonce) const;
  // Of every request from now on, also of sessions that began before.
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
