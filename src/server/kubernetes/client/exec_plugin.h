// Credential plugins: programs, named in a kubeconfig, that print an ExecCredential
// (client.authentication.k8s.io).
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/kubernetes/client/child_process.h"
#include "server/kubernetes/client/credentials.h"

namespace taut::server {

inline constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
inline constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

// A credential plugin, as described by users[].user.exec of a kubeconfig.
struct ExecPlugin {
  std::string api_version;  // version of the API, kExecV1 or kExecV1Beta1; "": no plugin
  std::string command;      // path if it contains a slash, else a name that is searched in PATH
  std::vector<std::string> arguments;
  // Variables that override the environment of this process.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;
  bool wants_cluster = false;  // true (provideClusterInfo): the plugin requests an ExecCluster
};

// Data about the cluster for plugins that request them. The CA is PEM; "" stands for the system's CAs.
struct ExecCluster {
  std::string server, ca_pem;
};

// Returns the value of the variable KUBERNETES_EXEC_INFO as JSON.
std::string ExecInfo(const ExecPlugin& plugin, const ExecCluster& cluster);

// Returns the program, the arguments and the environment of a plugin. The environment is `environment`
// ("NAME=VALUE") with the plugin's variables, which take precedence. Returns NotFound with the install hint if the
// program does not exist or may not be run.
absl::StatusOr<ChildCommand> ExecCommand(const ExecPlugin& plugin, const ExecCluster& cluster,
                                         const std::vector<std::string>& environment);

// Parses the output of a plugin. InvalidArgument states the found and the allowed value, but never contains a
// token or key.
absl::StatusOr<Credential> ParseExecCredential(std::string_view json, std::string_view api_version);

// Runs the plugin and parses its output. Returns errors of RunChild() and ParseExecCredential(), and
// InvalidArgument for an unusable certificate. All errors name the plugin.
absl::StatusOr<Credential> RunExecPlugin(const ExecPlugin& plugin, const ChildCommand& command,
                                         const std::atomic<bool>& stopping);

}  // namespace taut::server
