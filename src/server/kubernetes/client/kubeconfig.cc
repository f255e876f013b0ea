#include "server/kubernetes/client/kubeconfig.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/base/strings.h"
#include "yaml-cpp/yaml.h"

namespace taut::server {
namespace {

constexpr size_t kMaxBytes = size_t{4} << 20;
// Extension of a cluster with further data for plugins, which is not supported.
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

std::string ReadAll(std::istream& in) {
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

class Reader {
 public:
  Reader(std::string_view name, std::string_view folder) : name_(name), folder_(folder) {}

  absl::StatusOr<ClusterAccess> Read(const YAML::Node& root) {
    if (!root.IsMap()) return Bad(root, "not a kubeconfig: expected a map with clusters, users and contexts");
    const std::string current = Text(root["current-context"]);
    if (current.empty()) return Bad(root, "no current-context: expected the name of one of contexts");
    absl::StatusOr<YAML::Node> context = Named(root, "contexts", "context", current);
    if (!context.ok()) return context.status();
    absl::StatusOr<YAML::Node> cluster = Named(root, "clusters", "cluster", Text((*context)["cluster"]));
    if (!cluster.ok()) return cluster.status();
    ClusterAccess out;
    if (absl::Status s = TakeCluster(*cluster, out); !s.ok()) return s;
    const std::string user = Text((*context)["user"]);
    if (user.empty()) return out;  // the server may allow anonymous access
    absl::StatusOr<YAML::Node> found = Named(root, "users", "user", user);
    if (!found.ok()) return found.status();
    if (absl::Status s = TakeUser(*found, out); !s.ok()) return s;
    if (!out.plugin.wants_cluster) return out;
    for (const YAML::Node& entry : ListOf((*cluster)["extensions"])) {
      if (entry.IsMap() && Text(entry["name"]) == kExecExtension)
        return Bad(entry, StrCat("the extension ", kExecExtension, " is not supported"));
    }
    return out;
  }

 private:
  absl::Status Bad(const YAML::Node& node, std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(name_, ":", node.Mark().line + 1, ": ", what));
  }
  static std::string Text(const YAML::Node& node) { return node && node.IsScalar() ? node.Scalar() : ""; }
  static YAML::Node ListOf(const YAML::Node& node) {
    return node && node.IsSequence() ? node : YAML::Node(YAML::NodeType::Sequence);
  }

  // Returns root[list][i][key] of the entry named `wanted`.
  absl::StatusOr<YAML::Node> Named(const YAML::Node& root, const char* list, const char* key,
                                   const std::string& wanted) const {
    const YAML::Node all = root[list];
    if (all && all.IsSequence()) {
      for (const YAML::Node& entry : all) {
        if (!entry.IsMap() || Text(entry["name"]) != wanted) continue;
        const YAML::Node value = entry[key];
        if (value && value.IsMap()) return value;
        return Bad(entry, StrCat("the entry \"", wanted, "\" of ", list, " has no ", key));
      }
    }
    return Bad(all ? all : root, StrCat("no entry \"", wanted, "\" in ", list));
  }

  absl::Status TakeFlag(const YAML::Node& map, const char* key, bool& out) const {
    const YAML::Node value = map[key];
    if (!value || value.IsNull() || YAML::convert<bool>::decode(value, out)) return absl::OkStatus();
    return Bad(value, StrCat(key, ": expected true or false"));
  }

  absl::Status TakeCluster(const YAML::Node& cluster, ClusterAccess& out) const {
    out.server = Text(cluster["server"]);
    if (out.server.empty()) return Bad(cluster, "the cluster has no server");
    bool is_insecure = false;
    if (absl::Status s = TakeFlag(cluster, "insecure-skip-tls-verify", is_insecure); !s.ok()) return s;
    if (is_insecure) {
      return Bad(cluster,
                 "insecure-skip-tls-verify is not supported: set certificate-authority or "
                 "certificate-authority-data");
    }
    for (const char* key : {"proxy-url", "tls-server-name"}) {
      if (!Text(cluster[key]).empty()) return Bad(cluster[key], StrCat(key, " is not supported"));
    }
    return TakeFileOrData(cluster, "certificate-authority", out.ca_file, out.ca_pem);
  }

  absl::Status TakeUser(const YAML::Node& user, ClusterAccess& out) const {
    for (const char* key : {"auth-provider", "username", "password", "as"}) {
      if (user[key]) {
        return Bad(user[key],
                   StrCat(key, " is not supported: expected a client certificate, token, tokenFile or exec"));
      }
    }
    if (const YAML::Node exec = user["exec"]; exec && !exec.IsNull()) return TakeExec(user, exec, out.plugin);
    if (absl::Status s =
            TakeFileOrData(user, "client-certificate", out.certificate_file, out.certificate_pem);
        !s.ok()) {
      return s;
    }
    if (absl::Status s = TakeFileOrData(user, "client-key", out.key_file, out.key_pem); !s.ok()) return s;
    out.token = Text(user["token"]);
    out.token_file = Path(Text(user["tokenFile"]));
    return absl::OkStatus();
  }

  absl::Status TakeExec(const YAML::Node& user, const YAML::Node& exec, ExecPlugin& out) const {
    if (!exec.IsMap()) return Bad(exec, "exec: expected a map with apiVersion and command");
    for (const char* key : {"client-certificate", "client-certificate-data", "client-key", "client-key-data",
                            "token", "tokenFile"}) {
      if (!Text(user[key]).empty())
        return Bad(user[key], StrCat(key, " and exec are set: expected one way to authenticate"));
    }
    out.api_version = Text(exec["apiVersion"]);
    if (out.api_version != kExecV1 && out.api_version != kExecV1Beta1) {
      return Bad(exec, StrCat("exec has apiVersion \"", out.api_version, "\": expected ", kExecV1, " or ",
                              kExecV1Beta1));
    }
    const std::string command = Text(exec["command"]);
    if (command.empty()) return Bad(exec, "exec has no command");
    out.command = command.find('/') == std::string::npos ? command : Path(command);
    out.install_hint = Text(exec["installHint"]);
    if (absl::Status s = TakeFlag(exec, "provideClusterInfo", out.wants_cluster); !s.ok()) return s;
    if (absl::Status s = CheckMode(exec); !s.ok()) return s;
    if (absl::Status s = TakeArguments(exec["args"], out); !s.ok()) return s;
    return TakeEnvironment(exec["env"], out);
  }

  // Rejects modes that need a terminal, because tautd has none.
  absl::Status CheckMode(const YAML::Node& exec) const {
    const std::string mode = Text(exec["interactiveMode"]);
    if (mode == "Never" || mode == "IfAvailable") return absl::OkStatus();
    if (mode.empty() && Text(exec["apiVersion"]) == kExecV1Beta1) return absl::OkStatus();
    return Bad(exec, StrCat("exec has ", mode.empty() ? "no interactiveMode" : "interactiveMode ", mode,
                            ": expected Never or IfAvailable, as there is no terminal"));
  }

  absl::Status TakeArguments(const YAML::Node& list, ExecPlugin& out) const {
    if (!list || list.IsNull()) return absl::OkStatus();
    if (!list.IsSequence()) return Bad(list, "exec.args: expected a list of texts");
    for (const YAML::Node& argument : list) {
      if (!argument.IsScalar()) return Bad(argument, "exec.args: expected a list of texts");
      if (absl::Status s = CheckText(argument); !s.ok()) return s;
      out.arguments.push_back(argument.Scalar());
    }
    return absl::OkStatus();
  }

  absl::Status TakeEnvironment(const YAML::Node& list, ExecPlugin& out) const {
    if (!list || list.IsNull()) return absl::OkStatus();
    if (!list.IsSequence()) return Bad(list, "exec.env: expected a list of {name: ..., value: ...}");
    for (const YAML::Node& variable : list) {
      const std::string name = variable.IsMap() ? Text(variable["name"]) : "";
      if (name.empty() || name.find('=') != std::string::npos)
        return Bad(variable, "exec.env: expected {name: ..., value: ...}, with no = in the name");
      for (const char* key : {"name", "value"}) {
        if (absl::Status s = CheckText(variable[key]); !s.ok()) return s;
      }
      out.environment.emplace_back(name, Text(variable["value"]));
    }
    return absl::OkStatus();
  }

  // Rejects text with a zero byte, which would end an argument or a variable early.
  absl::Status CheckText(const YAML::Node& node) const {
    if (Text(node).find('\0') == std::string::npos) return absl::OkStatus();
    return Bad(node, "exec: a text has a zero byte");
  }

  // Reads KEY-data (base64) or KEY (the path of a file). KEY-data takes precedence.
  absl::Status TakeFileOrData(const YAML::Node& node, const std::string& key, std::string& file,
                              std::string& pem) const {
    file = Path(Text(node[key]));
    const YAML::Node data = node[key + "-data"];
    if (!data || Text(data).empty()) return absl::OkStatus();
    if (!absl::Base64Unescape(Text(data), &pem)) return Bad(data, StrCat(key, "-data is not base64"));
    return absl::OkStatus();
  }

  std::string Path(const std::string& text) const {
    if (text.empty()) return "";
    return (std::filesystem::path(folder_) / text).string();  // operator/ leaves an absolute path unchanged
  }

  const std::string name_, folder_;
};

}  // namespace

absl::StatusOr<ClusterAccess> ParseKubeconfig(std::string_view yaml, std::string_view name,
                                              std::string_view folder) {
  if (yaml.size() > kMaxBytes)
    return absl::InvalidArgumentError(StrCat(name, ": larger than ", kMaxBytes, " bytes"));
  try {
    return Reader(name, folder).Read(YAML::Load(std::string(yaml)));
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(StrCat(name, ":", e.mark.line + 1, ": ", e.msg));
  }
}

absl::StatusOr<ClusterAccess> ReadKubeconfig(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(StrCat("cannot read the kubeconfig ", path));
  // Make the path absolute, because a plugin's command needs an absolute path.
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
  return ParseKubeconfig(ReadAll(file), path, whole.parent_path().string());
}

absl::Status OpenCredentials(ClusterAccess& access, const std::vector<std::string>& environment,
                             std::function<Timestamp()> now) {
  if (access.plugin.api_version.empty()) return absl::OkStatus();
  ExecCluster cluster{access.server, access.ca_pem};
  if (access.plugin.wants_cluster && cluster.ca_pem.empty() && !access.ca_file.empty()) {
    std::ifstream file(access.ca_file, std::ios::binary);
    cluster.ca_pem = ReadAll(file);
    if (cluster.ca_pem.empty())
      return absl::InvalidArgumentError(StrCat("cannot read the CA in ", access.ca_file));
  }
  absl::StatusOr<ChildCommand> command = ExecCommand(access.plugin, cluster, environment);
  if (!command.ok()) return command.status();
  access.credentials = std::make_shared<Credentials>(
      [plugin = access.plugin, command = *std::move(command)](const std::atomic<bool>& stopping) {
        return RunExecPlugin(plugin, command, stopping);
      },
      std::move(now));
  return absl::OkStatus();
}

absl::StatusOr<ClusterAccess> InClusterAccess(
    const std::function<std::string(const char* variable)>& environment, const std::string& folder) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST"),
                    port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return absl::FailedPreconditionError(
        "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a pod; name a "
        "kubeconfig "
        "file instead");
  }
  ClusterAccess out;
  const bool v6 = host.find(':') != std::string::npos;
  out.server = StrCat("https://", v6 ? StrCat("[", host, "]") : host, ":", port);
  out.ca_file = StrCat(folder, "/ca.crt");
  out.token_file = StrCat(folder, "/token");
  for (const std::string& file : {out.ca_file, out.token_file}) {
    if (!std::ifstream(file)) {
      return absl::FailedPreconditionError(
          StrCat("cannot read ", file, ": the pod needs automountServiceAccountToken: true"));
    }
  }
  return out;
}

}  // namespace taut::server
