// Access to an API server, from a kubeconfig file or a pod's service account.
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
  std::string server;  // URL such as "https://10.0.0.1:6443"
  // CA as a file or as PEM, which takes precedence. Both "": the system's CAs.
  std::string ca_file, ca_pem;
  std::string certificate_file, certificate_pem, key_file, key_pem;
  // Token or its file. The file is read for each request, because tokens of service accounts change every hour.
  std::string token, token_file;
  ExecPlugin plugin;  // plugin that replaces the user's certificate and token
  // Credentials of the plugin, shared by all clients. OpenCredentials() creates them; null without a plugin.
  std::shared_ptr<Credentials> credentials;
};

// Returns the access of the current context. Relative paths are relative to `folder`. InvalidArgument "name:line:
// ..." names a part that is invalid, missing or unsupported. Unsupported are auth-provider plugins, user and
// password, and insecure-skip-tls-verify.
absl::StatusOr<ClusterAccess> ParseKubeconfig(std::string_view yaml, std::string_view name,
                                              std::string_view folder);
// Reads and parses a kubeconfig file. Returns NotFound if there is no such file, and errors of ParseKubeconfig().
absl::StatusOr<ClusterAccess> ReadKubeconfig(const std::string& path);

// Sets `credentials` if `access` has a plugin, without running the plugin. `environment` contains the variables of
// this process ("NAME=VALUE"), which the plugin inherits. Returns NotFound with the install hint if the program
// does not exist, and InvalidArgument if the CA's file cannot be read.
absl::Status OpenCredentials(ClusterAccess& access, const std::vector<std::string>& environment,
                             std::function<Timestamp()> now);

// Returns the access of a pod from its environment and its mounted service account. Returns FailedPrecondition if
// this process is not in a pod, or if the service account is not mounted.
absl::StatusOr<ClusterAccess> InClusterAccess(
    const std::function<std::string(const char* variable)>& environment,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace taut::server
