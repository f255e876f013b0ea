// How to reach an API server: from a kubeconfig file, or from what a pod finds in itself.
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
  // PEM; a text counts before a file. CA: both "" for the system's.
  std::string ca_file, ca_pem;
  std::string certificate_file, certificate_pem, key_file, key_pem;
  // A file is read again now and then: tokens of service accounts change every hour.
  std::string token, token_file;
  ExecPlugin plugin;  // instead of the user's certificate and token
  // Made by OpenCredentials if there is a plugin; shared by all clients.
  std::shared_ptr<Credentials> credentials;
};

// The access of the file's current context. `folder`: where its relative paths begin. InvalidArgument
// "name:line: ..." for what is wrong, names what is missing, and what is not supported: auth-provider
// plugins, user and password, and insecure-skip-tls-verify. A part that counts is never skipped silently.
absl::StatusOr<ClusterAccess> ParseKubeconfig(std::string_view yaml, std::string_view name,
                                              std::string_view folder);
// NotFound: no such file; else as ParseKubeconfig.
absl::StatusOr<ClusterAccess> ReadKubeconfig(const std::string& path);

// Sets `credentials` if there is a plugin, which does not run yet. `environment`: "NAME=VALUE", that of this
// process, which the plugin inherits. NotFound, with the install hint: there is no such program;
// InvalidArgument: the CA's file cannot be read.
absl::Status OpenCredentials(ClusterAccess& access, const std::vector<std::string>& environment,
                             std::function<Timestamp()> now);

// From the environment and the mounted service account of a pod. FailedPrecondition: this is not a pod, or its
// service account is not mounted.
absl::StatusOr<ClusterAccess> InClusterAccess(
    const std::function<std::string(const char* variable)>& environment,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace taut::server
