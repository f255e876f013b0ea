#include "server/auth/oidc_setup.h"

#include <openssl/rand.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/base/strings.h"
#include "common/net/server_options.h"
#include "server/auth/provider_client.h"

namespace taut::server {

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

namespace {

// Returns bytes of the system's secure generator. Ends the process if the generator fails, because no sign-in
// would be safe.
std::string RandomBytes(size_t bytes) {
  std::string out(bytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(bytes)) != 1) std::abort();
  return out;
}

absl::StatusOr<LoginService::Options> LoginOptionsOf(const OidcConfig& config) {
  const LoginConfig& login = config.login;
  if (login.redirect_url.empty()) {
    return absl::InvalidArgumentError(
        StrCat("server.oidc.login.redirect_url is empty: expected the address of tautd's pages with ",
               kCallbackPath, " at the end, as it is registered at the provider"));
  }
  if (absl::Status s = CheckRedirectUrl(login.redirect_url); !s.ok()) return s;
  const std::vector<std::string_view> scopes = Split(login.scopes, ' ');
  if (std::ranges::find(scopes, "openid") == scopes.end())
    return absl::InvalidArgumentError(
        StrCat("server.oidc.login.scopes is \"", login.scopes,
               "\": expected openid among them, without which the provider sends no ID token"));
  absl::StatusOr<std::string> secret = ReadSecretFile(login.client_secret_file);
  if (!secret.ok())
    return absl::Status(secret.status().code(),
                        StrCat("server.oidc.login.client_secret_file: ", Message(secret.status())));
  LoginService::Options out;
  out.flow.issuer = config.issuer;
  out.flow.client_id = login.client_id;
  out.flow.client_secret = *std::move(secret);
  out.flow.redirect_url = login.redirect_url;
  out.flow.scopes = login.scopes;
  out.flow.random = RandomBytes;
  out.name = login.name.empty() ? HostOfUrl(config.issuer) : login.name;
  out.ca_file = config.ca_file;
  out.session_s = login.session_s;
  for (const std::string& proxy : login.proxies) {
    if (!IsIpAddress(proxy))
      return absl::InvalidArgumentError(StrCat("server.oidc.login.proxies: \"", proxy,
                                               "\": expected an IP address, IPv6 without brackets"));
  }
  out.proxies = login.proxies;
  return out;
}

}  // namespace

absl::StatusOr<OidcParts> OpenOidc(const OidcConfig& config, std::function<int64_t()> now_s, DaemonLog* log) {
  OidcParts parts;
  if (config.issuer.empty() && !config.login.client_id.empty()) {
    return absl::InvalidArgumentError(
        "server.oidc.login.client_id requires server.oidc.issuer, the provider with which people sign in");
  }
  if (config.login.client_id.empty() && !config.login.redirect_url.empty()) {
    return absl::InvalidArgumentError(
        "server.oidc.login.redirect_url requires server.oidc.login.client_id, by which the provider knows "
        "tautd");
  }
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
  options.login = !config.login.client_id.empty();
  options.on_change = [issuer = config.issuer, log](const std::string& error) {
    if (log == nullptr) return;
    if (error.empty()) {
      log->Act(LogLevel::kInfo, "oidc_keys_fetched", {{"issuer", issuer}});
    } else {
      log->Act(LogLevel::kWarning, "oidc_keys_failed", {{"issuer", issuer}, {"error", error}});
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
  // The verifier and the login use this raw pointer to the keys: OidcParts::keys outlives both.
  ProviderKeys* const raw = parts.keys.get();
  parts.verifier = std::make_shared<OidcVerifier>(
      std::move(rules), *std::move(bindings), [raw] { return raw->keys(); }, [raw] { raw->Refresh(); },
      now_s);
  if (config.login.client_id.empty()) return parts;
  absl::StatusOr<LoginService::Options> login = LoginOptionsOf(config);
  if (!login.ok()) return login.status();
  login->verifier = parts.verifier;
  login->provider = [raw] { return raw->login(); };
  login->refresh = [raw] { raw->Refresh(); };
  login->now_s = std::move(now_s);
  parts.login = std::make_unique<LoginService>(*std::move(login));
  return parts;
}

}  // namespace taut::server
