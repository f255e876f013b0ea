#include "tools/cli/export_helm.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/base/strings.h"
#include "tools/cli/export_groups.h"
#include "tools/cli/export_patch.h"
#include "tools/cli/export_values.h"

namespace taut::tools {
namespace {

// A node of the values tree: a mapping, or a leaf with lines.
struct Node {
  std::map<std::string, Node> children;
  std::vector<std::string> lines;  // lines of a leaf without indentation
};

// Returns the value that replaces a word in braces; nullopt if the word is unknown.
std::optional<std::string> ValueOf(std::string_view word, const ContainerChange& change) {
  if (word == "namespace") return change.namespace_name;
  if (word == "kind") return change.kind;
  if (word == "workload") return change.workload;
  if (word == "container") return change.container;
  return std::nullopt;
}

// Returns `part` with each word in braces replaced by its value. Returns nullopt if the result is empty or a word
// is unknown.
std::optional<std::string> Filled(std::string_view part, const ContainerChange& change) {
  std::string out;
  while (!part.empty()) {
    const size_t open = std::min(part.find('{'), part.size());
    StrAppend(&out, part.substr(0, open));
    part.remove_prefix(open);
    if (part.empty()) break;
    const size_t close = part.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    const std::optional<std::string> value = ValueOf(part.substr(1, close - 1), change);
    if (!value.has_value()) return std::nullopt;
    StrAppend(&out, *value);
    part.remove_prefix(close + 1);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

// Returns the keys of a path. The dots of an inserted name do not divide the name.
std::optional<std::vector<std::string>> KeysOf(std::string_view path, const ContainerChange& change) {
  std::vector<std::string> out;
  for (const std::string_view part : Split(path, '.')) {
    std::optional<std::string> key = Filled(part, change);
    if (!key.has_value()) return std::nullopt;
    out.push_back(*std::move(key));
  }
  return out;
}

// Adds `lines` at the path `keys`. Returns false if the path, or a prefix of the path, already has lines.
bool Put(const std::vector<std::string>& keys, std::vector<std::string> lines, Node& root) {
  Node* at = &root;
  for (const std::string& key : keys) {
    if (!at->lines.empty()) return false;
    at = &at->children[key];
  }
  if (!at->lines.empty() || !at->children.empty()) return false;
  at->lines = std::move(lines);
  return true;
}

void AddNode(const Node& node, const std::string& indent, std::string& out) {
  for (const auto& [key, child] : node.children) {
    StrAppend(&out, indent, YamlScalar(key), ":\n");
    for (const std::string& line : child.lines) StrAppend(&out, indent, "  ", line, "\n");
    AddNode(child, indent + "  ", out);
  }
}

std::vector<std::string> LinesOf(const ContainerChange& change) {
  std::vector<std::string> out = {StrCat("# ", change.comment)};
  if (!change.requests.empty()) out.push_back(StrCat("requests: {", change.requests, "}"));
  if (!change.limits.empty()) out.push_back(StrCat("limits: {", change.limits, "}"));
  return out;
}

}  // namespace

absl::Status CheckValuesPath(std::string_view path) {
  const ContainerChange any{.namespace_name = "n", .kind = "k", .workload = "w", .container = "c"};
  if (KeysOf(path, any).has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("--values-path: invalid path \"", path,
             "\": expected keys between dots, with {namespace}, {kind}, {workload} and {container}, such as ",
             kValuesPath));
}

std::string HelmValuesText(std::string_view path, const PatchOptions& options,
                           const std::vector<ExportedJob>& jobs) {
  Node root;
  std::string left;
  for (const ExportedJob& job : JoinGroups(jobs)) {
    const std::string name = TextOf(job.job, "name");
    const std::optional<ContainerChange> change = ChangeOfJob(options, job);
    if (!change.has_value()) {
      StrAppend(&left, "# ", name, ": not a container of a workload whose template can be changed\n");
    } else if (change->requests.empty() && change->limits.empty()) {
      StrAppend(&left, "# ", name, ": ", change->comment, "\n");
    } else if (!Put(*KeysOf(path, *change), LinesOf(*change), root)) {
      StrAppend(&left, "# ", name, ": its values have the path of another job; see --values-path\n");
    }
  }
  std::string out;
  AddNode(root, "", out);
  return out + left;
}

}  // namespace taut::tools
