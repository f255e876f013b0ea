// Settings of the HTTP server: who may come, and how people sign in.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/server_options.h"

namespace taut::server {

// People sign in to the pages with the provider.
struct LoginConfig {
  std::string client_id;  // "": none
  std::string client_secret_file, redirect_url, name;
  std::string scopes = "openid";
  int64_t session_s = 12 * 3600;
  std::vector<std::string> proxies;  // addresses whose X-Forwarded-For is believed
};

// Tokens of an OpenID Connect provider (src/server/auth/).
struct OidcConfig {
  std::string issuer;  // "": none
  std::string audience, user_claim = "sub", groups_claim = "groups", ca_file;
  std::vector<std::string> bindings;  // "CLAIM: ROLE GROUP,GROUP"
  int64_t keep_keys_s = 24 * 3600;
  LoginConfig login;
};

struct ServerConfig {
  // `listen` is 127.0.0.1:7070. Tokens are not in here: they stay in their files until OpenServerOptions.
  ServerOptions options;
  std::string writer_tokens_file, reader_tokens_file, operator_tokens_file;  // "": none
  std::string group_tokens_file, platform_tokens_file;
  OidcConfig oidc;
  bool pages = true;  // serve the dashboard, not only the API
  ServerConfig();
};

// The options with their tokens read, and checked. A token file has one token a line, and after a blank the
// name of who has it, if anybody in particular; blank lines and those after a '#' do not count. In a file of
// groups' tokens role and groups stand between both, and a name is needed; a token of several lines has the
// bindings of all. Errors name the file and the line, never a token.
absl::StatusOr<ServerOptions> OpenServerOptions(const ServerConfig& config);
// InvalidArgument names the file and the group if tokens are bound to a group that the quota does not have.
// `quota_file`: its name, "" for none. `groups`: of the quota.
absl::Status CheckBoundGroups(const ServerConfig& config, const ServerOptions& options,
                              const std::string& quota_file, std::span<const std::string> groups);
// The same of one binding; `where` begins the error.
absl::Status CheckBoundGroup(std::string_view where, const GroupBinding& binding,
                             const std::string& quota_file, std::span<const std::string> groups);
// The tokens in a file, as above; none for "".
absl::StatusOr<std::vector<std::string>> ReadTokenFile(const std::string& path);
// The one secret in a file, without blanks around it. "" for no file. Errors as OpenServerOptions.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);

}  // namespace taut::server
