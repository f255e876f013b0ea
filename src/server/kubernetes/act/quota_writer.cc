#include "server/kubernetes/act/quota_writer.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/net/http.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {

std::optional<std::vector<NamespaceQuota>> NamespaceQuotasOf(const QuotaView& view) {
  if (!view.measured_at.has_value()) return std::nullopt;
  std::map<std::string, NamespaceQuota> by_name;
  for (const brain::QuotaRowView& row : view.rows) {
    const bool has_quota = row.cell.listed || row.cell.quota > 0;
    if (row.cohort || row.tier != view.default_tier || !has_quota) continue;
    NamespaceQuota& quota = by_name[row.group];
    quota.namespace_name = row.group;
    const auto most = static_cast<double>(row.cell.held + std::max<int64_t>(0, row.available));
    if (row.resource == brain::kQuotaCpu) quota.cpu = most / 1000;
    if (row.resource == brain::kQuotaMemory) quota.memory = most;
  }
  std::vector<NamespaceQuota> out;
  for (auto& [name, quota] : by_name) {
    if (quota.cpu.has_value() || quota.memory.has_value()) out.push_back(std::move(quota));
  }
  return out;
}

std::string QuotaWriter::PathOf(const std::string& namespace_name, const std::string& name) {
  return StrCat("/api/v1/namespaces/", PercentEncode(namespace_name), "/resourcequotas/", name);
}

std::string QuotaWriter::BodyOf(const NamespaceQuota& quota, const std::string& name) {
  JsonWriter json;
  json.BeginObject();
  json.Field("apiVersion", "v1");
  json.Field("kind", "ResourceQuota");
  json.Key("metadata");
  json.BeginObject();
  json.Field("name", std::string_view(name));
  json.Key("labels");
  json.BeginObject();
  json.Field("app.kubernetes.io/managed-by", "tautline");
  json.EndObject();
  json.EndObject();
  json.Key("spec");
  json.BeginObject();
  json.Key("hard");
  json.BeginObject();
  if (quota.cpu.has_value()) json.Field("requests.cpu", std::string_view(CpuQuantity(*quota.cpu)));
  if (quota.memory.has_value())
    json.Field("requests.memory", std::string_view(MemoryQuantity(*quota.memory)));
  json.EndObject();
  json.EndObject();
  json.EndObject();
  return json.Take();
}

std::string QuotaWriter::ListPath() {
  return "/api/v1/resourcequotas?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dtautline";
}

absl::StatusOr<std::vector<std::string>> QuotaWriter::NamespacesOf(std::string_view list) {
  JsonTree tree;
  if (absl::Status s = tree.Parse(list); !s.ok()) return s;
  if (!tree.root()["items"].is_array()) return absl::DataLossError("a list of ResourceQuotas has no items");
  std::vector<std::string> out;
  tree.root()["items"].ForEachItem(
      [&out](JsonNode item) { out.emplace_back(item["metadata"].Text("namespace")); });
  return out;
}

void QuotaWriter::Pause() {
  asked_ = false;
  entries_.clear();
}

// Lists the existing ResourceQuotas if they are unknown. Returns false if listing failed.
bool QuotaWriter::AskExisting() {
  if (asked_) return true;
  const double now_s = options_.steady_s();
  if (now_s < ask_again_s_) return false;
  const absl::StatusOr<std::vector<std::string>> found = options_.existing();
  if (found.ok()) {
    // Write each quota once, because the content of an existing ResourceQuota is unknown.
    for (const std::string& name : *found) entries_[name].written = "?";
    return asked_ = true;
  }
  ask_again_s_ = now_s + options_.retry_s;
  const std::lock_guard lock(mutex_);
  ++counts_.failed;
  last_error_ = StrCat("listing those of before: ", Message(found.status()));
  return false;
}

void QuotaWriter::Step(const std::vector<NamespaceQuota>& wanted, const std::function<bool()>& stopping) {
  if (!AskExisting()) return;
  std::set<std::string> there;
  for (const NamespaceQuota& quota : wanted) {
    if (stopping()) return;
    there.insert(quota.namespace_name);
    Write(quota, entries_[quota.namespace_name]);
  }
  for (auto& [name, entry] : entries_) {
    if (stopping()) return;
    if (!there.contains(name) && !entry.written.empty()) Write({name, std::nullopt, std::nullopt}, entry);
  }
  const std::lock_guard lock(mutex_);
  counts_.namespaces =
      static_cast<uint64_t>(std::count_if(entries_.begin(), entries_.end(), [&](const auto& one) {
        return there.contains(one.first) && !one.second.written.empty();
      }));
}

void QuotaWriter::Write(const NamespaceQuota& quota, Entry& entry) {
  const double now_s = options_.steady_s();
  if (now_s < entry.not_before_s) return;
  std::string body = BodyOf(quota, options_.name);
  if (body == entry.written && now_s < entry.due_s) return;
  const absl::Status status = options_.apply(PathOf(quota.namespace_name, options_.name), body);
  const std::lock_guard lock(mutex_);
  if (status.ok()) {
    entry.written = std::move(body);
    entry.due_s = now_s + options_.again_s;
    ++counts_.written;
    last_error_.clear();
  } else if (absl::IsNotFound(status)) {  // the group has no namespace of its name
    entry.written.clear();
    entry.not_before_s = now_s + options_.absent_s;
  } else {
    entry.not_before_s = now_s + options_.retry_s;
    ++counts_.failed;
    last_error_ = StrCat(quota.namespace_name, ": ", Message(status));
  }
}

QuotaWriter::Counts QuotaWriter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string QuotaWriter::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace taut::server
