#include "server/kubernetes/client/exec_plugin.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"
#include "common/base/json_writer.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/json/json_tree.h"
#include "common/net/client_socket.h"

namespace taut::server {
namespace {

constexpr std::string_view kExecKind = "ExecCredential";
constexpr size_t kMaxQuotedBytes = 100;

std::string_view ValueOf(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name))
      return std::string_view(entry).substr(name.size() + 1);
  }
  return {};
}

void Set(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  const std::string begin = StrCat(name, "=");
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(begin); });
  environment.push_back(StrCat(begin, value));
}

bool IsProgram(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

// Returns the program's path; "" if there is none. Skips relative folders in PATH, whose meaning would depend on
// the current directory of this process.
std::string FindProgram(const std::string& command, std::string_view search) {
  if (command.find('/') != std::string::npos) return IsProgram(command) ? command : "";
  for (const std::string_view folder : Split(search, ':')) {
    if (!folder.starts_with('/')) continue;
    std::string path = StrCat(folder, "/", command);
    if (IsProgram(path)) return path;
  }
  return "";
}

// Describes the value of a field for an error.
std::string Found(JsonNode node) {
  if (!node) return "none";
  const auto text = node.text();
  return text.has_value() ? StrCat("\"", Printable(CutUtf8(*text, kMaxQuotedBytes)), "\"")
                          : "a value that is not a text";
}

absl::Status Wrong(std::string_view what) { return absl::InvalidArgumentError(StrCat("its output ", what)); }

// Returns true if the text is safe in an HTTP header. A line end, for example, would start another header.
bool IsToken(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// Returns the text of a field; "" if the field is absent or null.
absl::StatusOr<std::string> StatusText(JsonNode status, std::string_view name) {
  const JsonNode field = status[name];
  if (!field || field.is_null()) return std::string();
  if (const auto text = field.text(); text.has_value()) return std::string(*text);
  return Wrong(StrCat("has a status.", name, " that is not a text"));
}

absl::Status TakeStatus(JsonNode status, Credential& out) {
  std::string expires;
  const std::pair<const char*, std::string*> fields[] = {{"token", &out.token},
                                                         {"clientCertificateData", &out.certificate_pem},
                                                         {"clientKeyData", &out.key_pem},
                                                         {"expirationTimestamp", &expires}};
  for (const auto& [name, into] : fields) {
    absl::StatusOr<std::string> text = StatusText(status, name);
    if (!text.ok()) return text.status();
    *into = *std::move(text);
  }
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return Wrong(StrCat("has status.", out.key_pem.empty() ? "clientCertificateData" : "clientKeyData",
                        " alone: expected clientCertificateData and clientKeyData together"));
  }
  if (out.token.empty() && out.certificate_pem.empty())
    return Wrong("has no credential: expected status.token, or clientCertificateData and clientKeyData");
  if (!IsToken(out.token)) return Wrong("has a status.token with other than visible ASCII characters");
  if (expires.empty()) return absl::OkStatus();
  absl::Time time;
  std::string ignored;
  if (!absl::ParseTime(absl::RFC3339_full, expires, &time, &ignored)) {
    return Wrong(StrCat("has status.expirationTimestamp \"", Printable(CutUtf8(expires, kMaxQuotedBytes)),
                        "\": expected a time of RFC 3339, such as 2030-01-31T12:00:00Z"));
  }
  out.expires = Timestamp{absl::ToUnixMicros(time)};
  return absl::OkStatus();
}

}  // namespace

std::string ExecInfo(const ExecPlugin& plugin, const ExecCluster& cluster) {
  JsonWriter json;
  json.BeginObject();
  json.Field("kind", kExecKind);
  json.Field("apiVersion", plugin.api_version);
  json.Key("spec");
  json.BeginObject();
  if (plugin.wants_cluster) {
    json.Key("cluster");
    json.BeginObject();
    json.Field("server", cluster.server);
    if (!cluster.ca_pem.empty()) {
      std::string data;
      absl::Base64Escape(cluster.ca_pem, &data);
      json.Field("certificate-authority-data", data);
    }
    json.EndObject();
  }
  json.Field("interactive", false);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

absl::StatusOr<ChildCommand> ExecCommand(const ExecPlugin& plugin, const ExecCluster& cluster,
                                         const std::vector<std::string>& environment) {
  ChildCommand out;
  out.path = FindProgram(plugin.command, ValueOf(environment, "PATH"));
  if (out.path.empty()) {
    const bool is_path = plugin.command.find('/') != std::string::npos;
    const std::string hint = Printable(StripSpace(plugin.install_hint), /*keep_newlines=*/true);
    return absl::NotFoundError(
        StrCat("credential plugin ", plugin.command, ": expected a program that this user may run",
               is_path ? "" : ", in a folder of PATH", hint.empty() ? "" : ": ", hint));
  }
  out.arguments = plugin.arguments;
  out.environment = environment;
  for (const auto& [name, value] : plugin.environment) Set(out.environment, name, value);
  Set(out.environment, "KUBERNETES_EXEC_INFO", ExecInfo(plugin, cluster));
  return out;
}

absl::StatusOr<Credential> ParseExecCredential(std::string_view json, std::string_view api_version) {
  JsonTree tree;
  if (!tree.Parse(json).ok() || !tree.root().is_object())
    return Wrong(StrCat("(", json.size(), " bytes) is not a JSON object: expected an ", kExecKind));
  const JsonNode root = tree.root();
  if (root["kind"].text() != kExecKind)
    return Wrong(StrCat("has kind ", Found(root["kind"]), ": expected \"", kExecKind, "\""));
  if (root["apiVersion"].text() != api_version) {
    return Wrong(StrCat("has apiVersion ", Found(root["apiVersion"]), ": expected \"", api_version,
                        "\", as in the kubeconfig"));
  }
  if (!root["status"].is_object()) return Wrong("has no status: expected an object with a credential");
  Credential out;
  if (absl::Status s = TakeStatus(root["status"], out); !s.ok()) return s;
  return out;
}

absl::StatusOr<Credential> RunExecPlugin(const ExecPlugin& plugin, const ChildCommand& command,
                                         const std::atomic<bool>& stopping) {
  const auto explain = [&](const absl::Status& s, std::string_view errors) {
    return absl::Status(s.code(), StrCat("credential plugin ", plugin.command, ": ", Message(s),
                                         errors.empty() ? "" : "; its standard error: ", errors));
  };
  const absl::StatusOr<ChildOutput> ran = RunChild(command, stopping);
  if (!ran.ok()) return explain(ran.status(), "");
  absl::StatusOr<Credential> out = ParseExecCredential(ran->output, plugin.api_version);
  if (!out.ok()) return explain(out.status(), ran->errors);
  if (out->certificate_pem.empty()) return out;
  TlsSources tls;
  tls.certificate_pem = out->certificate_pem;
  tls.key_pem = out->key_pem;
  if (const auto loaded = ClientTls::Load(tls); !loaded.ok()) return explain(loaded.status(), ran->errors);
  return out;
}

}  // namespace taut::server
