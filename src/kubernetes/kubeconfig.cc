#include "kubernetes/kubeconfig.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/escaping.h"
#include "base/strings.h"
#include "yaml-cpp/yaml.h"

namespace taut {
namespace {

constexpr size_t kMaxBytes = size_t{4} << 20;

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
    if (user.empty()) return out;  // a server may let everybody in
    absl::StatusOr<YAML::Node> found = Named(root, "users", "user", user);
    if (!found.ok()) return found.status();
    if (absl::Status s = TakeUser(*found, out); !s.ok()) return s;
    return out;
  }

 private:
  absl::Status Bad(const YAML::Node& node, std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(name_, ":", node.Mark().line + 1, ": ", what));
  }
  static std::string Text(const YAML::Node& node) { return node && node.IsScalar() ? node.Scalar() : ""; }

  // root[list] is a list of {name: ..., [key]: {...}}.
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

  absl::Status TakeCluster(const YAML::Node& cluster, ClusterAccess& out) const {
    out.server = Text(cluster["server"]);
    if (out.server.empty()) return Bad(cluster, "the cluster has no server");
    if (Text(cluster["insecure-skip-tls-verify"]) == "true") {
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
    for (const char* key : {"exec", "auth-provider", "username", "password", "as"}) {
      if (user[key]) {
        return Bad(user[key],
                   StrCat(key, " is not supported: expected a client certificate, token or tokenFile"));
      }
    }
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

  // KEY-data in base64, which counts, or KEY as a file's name.
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
    return (std::filesystem::path(folder_) / text).string();  // an absolute text stays as it is
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
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return ParseKubeconfig(text, path, std::filesystem::path(path).parent_path().string());
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

}  // namespace taut
