// Settings of the HTTP server: access and sign-in.
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

// Sign-in to the pages with an OpenID Connect provider.
struct LoginConfig {
  std::string client_id;  // client ID at the provider; "": disabled
  std::string client_secret_file, redirect_url, name;
  std::string scopes = "openid";
  int64_t session_s = 12 * 3600;
  std::vector<std::string> proxies;  // addresses whose X-Forwarded-For is trusted
};

// Tokens of an OpenID Connect provider (src/server/auth/).
struct OidcConfig {
  std::string issuer;  // URL of the provider; "": disabled
  std::string audience, user_claim = "sub", groups_claim = "groups", ca_file;
  std::vector<std::string> bindings;  // bindings in the form "CLAIM: ROLE GROUP,GROUP"
  int64_t keep_keys_s = 24 * 3600;
  LoginConfig login;
};

struct ServerConfig {
  // The default of `listen` is 127.0.0.1:7070. Tokens are not stored in this struct: OpenServerOptions reads
  // them from the token files.
  ServerOptions options;
  // Paths of the files of tokens; "": none.
  std::string writer_tokens_file, reader_tokens_file, operator_tokens_file;
  std::string group_tokens_file, platform_tokens_file;
  OidcConfig oidc;
  bool pages = true;  // true if the server has the dashboard in addition to the API
  ServerConfig();
};

// Returns checked options with the tokens from their files. A line of a token file contains one token, optionally
// followed by a blank and the holder's name. Blank lines and lines that begin with '#' are ignored. In a file of
// groups' tokens, role and groups are between token and name, and the name is required. A token on several lines
// has the bindings of all these lines. Errors contain the file and the line, but never a token.
absl::StatusOr<ServerOptions> OpenServerOptions(const ServerConfig& config);
// Checks the groups of all bindings. Returns InvalidArgument, with file and group, if a token is bound to a group
// that is not in the quota. `quota_file`: path of the quota file, "" for none. `groups`: groups in the quota.
absl::Status CheckBoundGroups(const ServerConfig& config, const ServerOptions& options,
                              const std::string& quota_file, std::span<const std::string> groups);
// Checks the groups of one binding, as CheckBoundGroups does. The error begins with `where`.
absl::Status CheckBoundGroup(std::string_view where, const GroupBinding& binding,
                             const std::string& quota_file, std::span<const std::string> groups);
// Returns the tokens in a file, in the format of OpenServerOptions; no tokens for the path "".
absl::StatusOr<std::vector<std::string>> ReadTokenFile(const std::string& path);
// Returns the secret in a file, without blanks around the secret; "" for the path "". Returns the errors of
// OpenServerOptions.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);

}  // namespace taut::server
