// Credential plugins: a program that a kubeconfig names prints an ExecCredential (client.authentication.k8s.io).
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

// users[].user.exec.
struct ExecPlugin {
  std::string api_version;  // kExecV1 or kExecV1Beta1; "": there is no plugin
  std::string command;      // a path if it has a slash, else a name to look up in PATH
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // set over that of this process
  std::string install_hint;
  bool wants_cluster = false;  // provideClusterInfo
};

// What a plugin receives of the cluster if it asks for that; the CA as PEM, "" for the system's.
struct ExecCluster {
  std::string server, ca_pem;
};

// KUBERNETES_EXEC_INFO: the request, as JSON.
std::string ExecInfo(const ExecPlugin& plugin, const ExecCluster& cluster);

// The program, its arguments and its environment: `environment` ("NAME=VALUE") with the plugin's. NotFound, with
// the install hint: there is no such program, or it may not be run.
absl::StatusOr<ChildCommand> ExecCommand(const ExecPlugin& plugin, const ExecCluster& cluster,
                                         const std::vector<std::string>& environment);

// The answer. InvalidArgument says what was there and what is allowed, never a token or a key.
absl::StatusOr<Credential> ParseExecCredential(std::string_view json, std::string_view api_version);

// Runs it and reads the answer. Errors name the plugin: those of RunChild and of ParseExecCredential, and
// InvalidArgument for a certificate that cannot be used.
absl::StatusOr<Credential> RunExecPlugin(const ExecPlugin& plugin, const ChildCommand& command,
                                         const std::atomic<bool>& stopping);

}  // namespace taut::server
