// Access to an API server: from a kubeconfig file, or from a pod's own service account.
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
  // PEM; text takes precedence over a file. CA: both "" for the system's.
  std::string ca_file, ca_pem;
  std::string certificate_file, certificate_pem, key_file, key_pem;
  // The file is read for each request, since tokens of service accounts change every hour.
  std::string token, token_file;
  ExecPlugin plugin;  // replaces the user's certificate and token
  // Created by OpenCredentials if there is a plugin; shared by all clients.
  std::shared_ptr<Credentials> credentials;
};

// Returns the access of the file's current context. `folder`: base of relative paths. InvalidArgument
// "name:line: ..." names an error, a missing part, or an unsupported one: auth-provider plugins, user and
// password, insecure-skip-tls-verify. No relevant part is skipped silently.
absl::StatusOr<ClusterAccess> ParseKubeconfig(std::string_view yaml, std::string_view name,
                                              std::string_view folder);
// NotFound if there is no such file; otherwise as ParseKubeconfig.
absl::StatusOr<ClusterAccess> ReadKubeconfig(const std::string& path);

// Sets `credentials` if there is a plugin, which does not run yet. `environment`: "NAME=VALUE" of this
// process, which the plugin inherits. NotFound, with the install hint, if there is no such program;
// InvalidArgument if the CA's file cannot be read.
absl::Status OpenCredentials(ClusterAccess& access, const std::vector<std::string>& environment,
                             std::function<Timestamp()> now);

// Uses the environment and the mounted service account of a pod. FailedPrecondition if this is not a pod or
// its service account is not mounted.
absl::StatusOr<ClusterAccess> InClusterAccess(
    const std::function<std::string(const char* variable)>& environment,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace taut::server
