#include "kubernetes/scale_finder.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "base/strings.h"
#include "json/json_tree.h"
#include "net/http.h"

namespace taut {
namespace {

constexpr std::string_view kScale = "/scale";

}  // namespace

absl::Status ScaleFinder::TakeGroup(const std::string& group_version) {
  const absl::StatusOr<std::string> body = options_.get(StrCat("/apis/", group_version));
  if (!body.ok()) return body.status();
  JsonTree tree;
  if (absl::Status s = tree.Parse(*body); !s.ok()) return s;
  const JsonNode resources = tree.root()["resources"];
  std::map<std::string, std::string> kind_of;  // by the plural of namespaced kinds
  resources.ForEachItem([&](JsonNode resource) {
    if (resource.Flag("namespaced"))
      kind_of.emplace(resource.Text("name"), absl::AsciiStrToLower(std::string(resource.Text("kind"))));
  });
  resources.ForEachItem([&](JsonNode resource) {
    std::string_view name = resource.Text("name");
    if (!name.ends_with(kScale)) return;
    name.remove_suffix(kScale.size());
    const auto kind = kind_of.find(std::string(name));
    if (kind != kind_of.end()) kinds_[kind->second].emplace_back(group_version, name);
  });
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
    // An aggregated API that is down must not hide the others.
    if (absl::Status s = TakeGroup(version); !s.ok() && missing_.ok())
      missing_ = absl::UnavailableError(StrCat("the API group ", version, " cannot be read: ", Message(s)));
  }
  asked_ = true;
  asked_s_ = options_.steady_s();
  return absl::OkStatus();
}

absl::StatusOr<std::string> ScaleFinder::PathOf(const WorkloadName& workload) {
  const double age_s = options_.steady_s() - asked_s_;
  if (!asked_ || age_s >= (kinds_.contains(workload.kind) ? kFreshS : kMissedS)) {
    if (absl::Status s = Discover(); !s.ok()) return s;
  }
  const auto found = kinds_.find(workload.kind);
  if (found == kinds_.end()) {
    if (!missing_.ok()) return missing_;
    return absl::InvalidArgumentError(
        StrCat("the owner is a ", workload.kind.empty() ? "?" : workload.kind,
               ", and the API server has no namespaced kind of this name with the subresource scale"));
  }
  if (found->second.size() > 1) {
    std::string groups;
    for (const auto& [group, plural] : found->second)
      StrAppend(&groups, groups.empty() ? "" : " and ", group, " ", plural);
    return absl::InvalidArgumentError(
        StrCat("the owner is a ", workload.kind, ", and kinds of several groups have that name: ", groups));
  }
  const auto& [group, plural] = found->second.front();
  return StrCat("/apis/", group, "/namespaces/", PercentEncode(workload.namespace_name), "/",
                PercentEncode(plural), "/", PercentEncode(workload.name));
}

}  // namespace taut
