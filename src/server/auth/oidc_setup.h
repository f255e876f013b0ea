// Creates the keys, the verifier and the sign-in of an OpenID Connect provider from the settings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/daemon_log.h"
#include "server/auth/login_service.h"
#include "server/auth/oidc_verifier.h"
#include "server/auth/provider_keys.h"
#include "server/config/daemon_config.h"

namespace taut::server {

// Returns the bindings in server.oidc.bindings. InvalidArgument names a malformed entry.
absl::StatusOr<std::vector<ClaimBinding>> ReadClaimBindings(const OidcConfig& config);

// All members are null without an issuer. `login` is also null without a client_id.
struct OidcParts {
  std::unique_ptr<ProviderKeys> keys;  // keys, which must outlive the other members
  std::shared_ptr<OidcVerifier> verifier;
  std::unique_ptr<LoginService> login;
};
// Creates the objects that the settings require. InvalidArgument names the missing or wrong setting, NotFound the
// missing file. No thread runs before keys and login are started. `log` may be null; otherwise it must outlive the
// returned objects.
absl::StatusOr<OidcParts> OpenOidc(const OidcConfig& config, std::function<int64_t()> now_s, DaemonLog* log);

}  // namespace taut::server
