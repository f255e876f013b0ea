// Access to an API server, from a kubeconfig file or from a pod's service account.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "server/kubernetes/client/credentials.h"
#include "server/kubernetes/client/exec_plugin.h"

namespace taut::server {

struct ClusterAccess {
  std::string server;  // "https://10.0.0.1:6443"
  // The CA as PEM. The text takes precedence over the file. Both "": the system's CAs.
  std::string ca_file, ca_pem;
  std::string certificate_file, certificate_pem, key_file, key_pem;
  // The token. The file is read for each request, because tokens of service accounts change every hour.
  std::string token, token_file;
  ExecPlugin plugin;  // replaces the user's certificate and token
  // The plugin's credentials, shared by all clients. Created by OpenCredentials; null without a plugin.
  std::shared_ptr<Credentials> credentials;
};

// Returns the access of the file's current context. `folder`: base of relative paths. InvalidArgument
// "name:line: ..." names an error, a missing part or an unsupported part. Unsupported are auth-provider
// plugins, user and password, and insecure-skip-tls-verify. No relevant part is skipped silently.
absl::StatusOr<ClusterAccess> ParseKubeconfig(std::string_view yaml, std::string_view name,
                                              std::string_view folder);
// Reads and parses a kubeconfig file. NotFound if there is no such file. Other errors: those of
// ParseKubeconfig.
absl::StatusOr<ClusterAccess> ReadKubeconfig(const std::string& path);

// Sets `credentials` if `access` has a plugin; the plugin does not run yet. `environment`: the "NAME=VALUE"
// of this process, which the plugin inherits. NotFound, with the install hint, if the program does not exist.
// InvalidArgument if the CA's file cannot be read.
absl::Status OpenCredentials(ClusterAccess& access, const std::vector<std::string>& environment,
                             std::function<Timestamp()> now);

// Returns the access of a pod, from its environment and its mounted service account. FailedPrecondition if
// this process is not in a pod or its service account is not mounted.
absl::StatusOr<ClusterAccess> InClusterAccess(
    const std::function<std::string(const char* variable)>& environment,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace taut::server
