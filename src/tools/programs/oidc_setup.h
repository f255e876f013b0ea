// The verifier of an OpenID Connect provider's tokens, from its settings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "server/auth/login_desk.h"
#include "server/auth/oidc_verifier.h"
#include "server/auth/provider_keys.h"
#include "server/config/daemon_config.h"

namespace taut::tools {

// InvalidArgument names the line of server.oidc.bindings.
absl::StatusOr<std::vector<server::ClaimBinding>> ReadClaimBindings(const server::OidcConfig& config);

// Null without an issuer; `login` also without a client_id.
struct OidcParts {
  std::unique_ptr<server::ProviderKeys> keys;  // outlives the others
  std::shared_ptr<server::OidcVerifier> verifier;
  std::unique_ptr<server::LoginDesk> login;
};
// InvalidArgument: what is missing or wrong; NotFound: a file. Does nothing before keys and login are started.
absl::StatusOr<OidcParts> OpenOidc(const server::OidcConfig& config, std::function<int64_t()> now_s);

}  // namespace taut::tools
