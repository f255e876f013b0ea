#include "server/auth/oidc_verifier.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {

absl::StatusOr<ClaimBinding> ParseClaimBinding(std::string_view text) {
  const size_t colon = text.rfind(": ");
  const auto bad = [&](std::string_view what) {
    return absl::InvalidArgumentError(StrCat("\"", text, "\": ", what,
                                             "; expected CLAIM: ROLE, such as \"sre: operator\", or CLAIM: "
                                             "ROLE GROUP[,GROUP], such as \"shop-leads: owner shop\""));
  };
  if (colon == std::string_view::npos || colon == 0) return bad("no claim before \": \"");
  ClaimBinding out;
  out.value = StripSpace(text.substr(0, colon));
  const std::string_view rest = StripSpace(text.substr(colon + 2));
  const size_t blank = std::min(rest.size(), rest.find(' '));
  const std::string_view role = rest.substr(0, blank), groups = StripSpace(rest.substr(blank));
  if (const std::optional<GroupRole> as = GroupRoleNamed(role); as.has_value()) {
    out.role = Role::kGroup;
    for (const std::string_view group : Split(groups, ',')) {
      if (!StripSpace(group).empty()) out.groups.push_back({std::string(StripSpace(group)), *as});
    }
    if (out.groups.empty()) return bad("no group after the role");
    return out;
  }
  for (const Role platform : {Role::kReader, Role::kPlatform, Role::kOperator}) {
    if (Name(platform) == role) out.role = platform;
  }
  if (out.role == Role::kNone)
    return bad("the role is not reader, platform, operator, member, owner or budget_holder");
  if (!groups.empty()) return bad("this role is of no group");
  return out;
}

OidcVerifier::OidcVerifier(TokenRules rules, std::vector<ClaimBinding> bindings,
                           std::function<std::shared_ptr<const KeySet>()> keys,
                           std::function<void()> unknown_key, std::function<int64_t()> now_s)
    : rules_(std::move(rules)),
      bindings_(std::make_shared<const std::vector<ClaimBinding>>(std::move(bindings))),
      keys_(std::move(keys)),
      unknown_key_(std::move(unknown_key)),
      now_s_(std::move(now_s)) {}

absl::StatusOr<VerifiedToken> OidcVerifier::Verify(std::string_view token, const TokenRules& rules) const {
  const std::shared_ptr<const KeySet> keys = keys_();
  if (keys == nullptr) {
    unknown_key_();
    return absl::UnauthenticatedError("the keys of the OpenID Connect provider are not known: retry later");
  }
  absl::StatusOr<VerifiedToken> verified = VerifyToken(token, *keys, rules, now_s_());
  if (absl::IsNotFound(verified.status())) unknown_key_();
  return verified;
}

absl::StatusOr<Caller> OidcVerifier::CallerOf(std::string_view token) const {
  const absl::StatusOr<VerifiedToken> verified = Verify(token, rules_);
  if (!verified.ok()) return verified.status();
  return CallerOf(*verified);
}

absl::StatusOr<VerifiedToken> OidcVerifier::VerifyIdToken(std::string_view token,
                                                          const std::string& client_id,
                                                          std::string nonce) const {
  TokenRules rules = rules_;
  rules.audience = client_id;
  rules.nonce = std::move(nonce);
  return Verify(token, rules);
}

void OidcVerifier::SetBindings(std::vector<ClaimBinding> bindings) {
  auto next = std::make_shared<const std::vector<ClaimBinding>>(std::move(bindings));
  const std::lock_guard lock(mutex_);
  bindings_ = std::move(next);
}

// Copies the pointer to the bindings, because SetBindings may replace them during the check.
absl::StatusOr<Caller> OidcVerifier::CallerOf(const VerifiedToken& claims) const {
  std::shared_ptr<const std::vector<ClaimBinding>> bindings;
  {
    const std::lock_guard lock(mutex_);
    bindings = bindings_;
  }
  Caller caller;
  GroupBindings groups;
  for (const ClaimBinding& binding : *bindings) {
    if (std::ranges::find(claims.groups, binding.value) == claims.groups.end()) continue;
    caller.role = std::max(caller.role, binding.role);
    groups.insert(groups.end(), binding.groups.begin(), binding.groups.end());
  }
  if (caller.role == Role::kNone) {
    return absl::UnauthenticatedError(
        StrCat("no role is bound to what the token has in its claim ", rules_.groups_claim));
  }
  // The prefix separates the name from the names of tautd's own tokens.
  caller.user = StrCat("oidc:", claims.user);
  caller.authenticated = true;
  caller.valid_until_s = claims.expires_s;
  if (caller.role == Role::kGroup) caller.bindings = std::make_shared<const GroupBindings>(std::move(groups));
  return caller;
}

}  // namespace taut::server
