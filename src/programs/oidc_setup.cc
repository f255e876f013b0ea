#include "programs/oidc_setup.h"

#include <utility>

#include "base/strings.h"
#include "programs/action_log.h"

namespace taut {

absl::StatusOr<std::vector<ClaimBinding>> ReadClaimBindings(const OidcConfig& config) {
  std::vector<ClaimBinding> out;
  for (const std::string& text : config.bindings) {
    absl::StatusOr<ClaimBinding> binding = ParseClaimBinding(text);
    if (!binding.ok())
      return absl::InvalidArgumentError(StrCat("server.oidc.bindings: ", Message(binding.status())));
    out.push_back(*std::move(binding));
  }
  return out;
}

absl::StatusOr<OidcParts> OpenOidc(const OidcConfig& config, std::function<int64_t()> now_s) {
  OidcParts parts;
  if (config.issuer.empty()) return parts;
  if (config.audience.empty()) {
    return absl::InvalidArgumentError(
        "server.oidc.audience is empty: expected the audience that the issuer writes into tokens for tautd");
  }
  absl::StatusOr<std::vector<ClaimBinding>> bindings = ReadClaimBindings(config);
  if (!bindings.ok()) return bindings.status();
  if (bindings->empty())
    return absl::InvalidArgumentError("server.oidc.bindings is empty: no one could do anything");
  ProviderKeys::Options options;
  options.issuer = config.issuer;
  options.ca_file = config.ca_file;
  options.keep = std::chrono::seconds(config.keep_keys_s);
  options.on_change = [issuer = config.issuer](const std::string& error) {
    if (error.empty()) {
      ActionLog::Info("oidc_keys_fetched", {{"issuer", issuer}});
    } else {
      ActionLog::Warn("oidc_keys_failed", {{"issuer", issuer}, {"error", error}});
    }
  };
  absl::StatusOr<std::unique_ptr<ProviderKeys>> keys = ProviderKeys::Create(std::move(options));
  if (!keys.ok()) return absl::InvalidArgumentError(StrCat("server.oidc: ", Message(keys.status())));
  parts.keys = *std::move(keys);
  TokenRules rules;
  rules.issuer = config.issuer;
  rules.audience = config.audience;
  rules.user_claim = config.user_claim;
  rules.groups_claim = config.groups_claim;
  ProviderKeys* const raw = parts.keys.get();
  parts.verifier = std::make_shared<const OidcVerifier>(
      std::move(rules), *std::move(bindings), [raw] { return raw->keys(); }, [raw] { raw->Refresh(); },
      std::move(now_s));
  return parts;
}

}  // namespace taut
