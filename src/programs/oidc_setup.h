// The verifier of an OpenID Connect provider's tokens, from its settings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "config/daemon_config.h"
#include "oidc/oidc_verifier.h"

namespace taut {

// InvalidArgument names the line of server.oidc.bindings.
absl::StatusOr<std::vector<ClaimBinding>> ReadClaimBindings(const OidcConfig& config);

// Null without an issuer.
struct OidcParts {
  std::unique_ptr<ProviderKeys> keys;  // outlives the verifier
  std::shared_ptr<const BearerVerifier> verifier;
};
// InvalidArgument: what is missing or wrong. Fetches nothing before OidcParts::keys is started.
absl::StatusOr<OidcParts> OpenOidc(const OidcConfig& config, std::function<int64_t()> now_s);

}  // namespace taut
