#include "server/kubernetes/watch/scale_finder.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/net/http.h"

namespace taut::server {
namespace {

constexpr std::string_view kScale = "/scale";

}  // namespace

std::string ObjectPath(const FoundKind& kind, const WorkloadName& workload) {
  return StrCat("/apis/", kind.api_version, "/namespaces/", PercentEncode(workload.namespace_name), "/",
                PercentEncode(kind.plural), "/", PercentEncode(workload.name));
}

absl::Status ScaleFinder::TakeGroup(const std::string& group_version) {
  const absl::StatusOr<std::string> body = options_.get(StrCat("/apis/", group_version));
  if (!body.ok()) return body.status();
  JsonTree tree;
  if (absl::Status s = tree.Parse(*body); !s.ok()) return s;
  const JsonNode resources = tree.root()["resources"];
  std::map<std::string, FoundKind> found;  // namespaced kinds by their plural
  resources.ForEachItem([&](JsonNode resource) {
    const std::string name(resource.Text("name"));
    if (!resource.Flag("namespaced") || name.find('/') != std::string::npos) return;
    FoundKind& kind = found[name];
    kind.kind = resource.Text("kind");
    kind.api_version = group_version;
    kind.plural = name;
    resource["verbs"].ForEachItem([&kind](JsonNode verb) {
      kind.can_list |= verb.text() == "list";
      kind.can_patch |= verb.text() == "patch";
    });
  });
  resources.ForEachItem([&](JsonNode resource) {
    std::string_view name = resource.Text("name");
    if (!name.ends_with(kScale)) return;
    name.remove_suffix(kScale.size());
    const auto kind = found.find(std::string(name));
    if (kind != found.end()) kind->second.has_scale = true;
  });
  for (auto& [name, kind] : found) kinds_[absl::AsciiStrToLower(kind.kind)].push_back(std::move(kind));
  return absl::OkStatus();
}

absl::Status ScaleFinder::Discover() {
  const absl::StatusOr<std::string> body = options_.get("/apis");
  if (!body.ok()) return body.status();
  JsonTree tree;
  if (absl::Status s = tree.Parse(*body); !s.ok()) return s;
  std::vector<std::string> versions;
  tree.root()["groups"].ForEachItem([&](JsonNode group) {
    const std::string_view version = group["preferredVersion"].Text("groupVersion");
    if (!version.empty()) versions.emplace_back(version);
  });
  kinds_.clear();
  missing_ = absl::OkStatus();
  for (const std::string& version : versions) {
    // An aggregated API that does not respond must not hide the kinds of other groups.
    if (absl::Status s = TakeGroup(version); !s.ok() && missing_.ok())
      missing_ = absl::UnavailableError(StrCat("the API group ", version, " cannot be read: ", Message(s)));
  }
  asked_ = true;
  asked_s_ = options_.steady_s();
  return absl::OkStatus();
}

absl::StatusOr<FoundKind> ScaleFinder::Only(const std::string& kind, bool FoundKind::*wanted,
                                            std::string_view what) {
  const auto are = [&] {
    std::vector<FoundKind> out;
    const auto it = kinds_.find(kind);
    if (it == kinds_.end()) return out;
    for (const FoundKind& found : it->second) {
      if (found.*wanted) out.push_back(found);
    }
    return out;
  };
  std::vector<FoundKind> found = are();
  if (!asked_ || options_.steady_s() - asked_s_ >= (found.empty() ? kMissedS : kFreshS)) {
    if (absl::Status s = Discover(); !s.ok()) return s;
    found = are();
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    if (!missing_.ok()) return missing_;
    return absl::InvalidArgumentError(StrCat("the owner is a ", kind.empty() ? "?" : kind,
                                             ", and the API server has no namespaced kind of this name ",
                                             what));
  }
  std::string groups;
  for (const FoundKind& one : found)
    StrAppend(&groups, groups.empty() ? "" : " and ", one.api_version, " ", one.plural);
  return absl::InvalidArgumentError(
      StrCat("the owner is a ", kind, ", and kinds of several groups have that name: ", groups));
}

absl::StatusOr<FoundKind> ScaleFinder::Find(const std::string& kind) {
  return Only(kind, &FoundKind::can_list, "that can be listed");
}

absl::StatusOr<std::string> ScaleFinder::PathOf(const WorkloadName& workload) {
  const absl::StatusOr<FoundKind> found =
      Only(workload.kind, &FoundKind::has_scale, "with the subresource scale");
  if (!found.ok()) return found.status();
  return ObjectPath(*found, workload);
}

}  // namespace taut::server
