#include "server/kubernetes/act/status_writer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "server/kubernetes/act/cluster_writer.h"

namespace taut::server {
namespace {

std::pair<std::string, std::string> PlaceOfRight(const WorkloadName& workload) {
  return {workload.kind, workload.namespace_name};
}

// Returns true if the error means that another object now has the name: the API server rejects a patch with the
// old UID.
bool IsReplaced(const absl::Status& status) {
  return absl::IsAborted(status) ||
         (absl::IsInvalidArgument(status) && Message(status).find("metadata.uid") != std::string_view::npos);
}

}  // namespace

std::string StatusWriter::PatchOf(const std::string& uid, const std::optional<std::string>& text) {
  JsonWriter json;
  json.BeginObject();
  json.Key("metadata");
  json.BeginObject();
  json.Field("uid", std::string_view(uid));
  json.Key("annotations");
  json.BeginObject();
  if (text.has_value()) {
    json.Field(kStatusAnnotation, std::string_view(*text));
  } else {
    json.Key(kStatusAnnotation);
    json.Null();
  }
  json.EndObject();
  json.EndObject();
  json.EndObject();
  return json.Take();
}

void StatusWriter::PutLocked(const std::string& kind, const OwnedObject& object) {
  WorkloadName name{object.namespace_name, KindInNames(kind), object.name, ""};
  Entry& entry = entries_[WorkloadKey(name.namespace_name, name.kind, name.name)];
  if (entry.uid != object.uid || entry.workload != name) {
    const double now_s = options_.steady_s();
    entry = {std::move(name), object.uid, {}, now_s + options_.settle_s, 0};
  }
  entry.text = object.status;
}

void StatusWriter::Put(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  PutLocked(kind, object);
}

void StatusWriter::Remove(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  entries_.erase(WorkloadKey(object.namespace_name, KindInNames(kind), object.name));
}

void StatusWriter::Replace(const std::string& kind, const std::vector<OwnedObject>& objects) {
  const std::string lower = KindInNames(kind);
  std::set<Key> listed;
  const std::lock_guard lock(mutex_);
  for (const OwnedObject& object : objects) {
    listed.insert(WorkloadKey(object.namespace_name, lower, object.name));
    PutLocked(kind, object);
  }
  std::erase_if(entries_, [&](const auto& item) {
    return item.second.workload.kind == lower && !listed.contains(item.first);
  });
}

void StatusWriter::ReplaceCustom(const FoundKind& kind, const std::vector<OwnedObject>& objects) {
  {
    const std::lock_guard lock(mutex_);
    custom_.insert_or_assign(KindInNames(kind.kind), kind);
  }
  Replace(kind.kind, objects);
}

absl::StatusOr<std::string> StatusWriter::PathOf(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  const auto it = custom_.find(workload.kind);
  return it == custom_.end() ? WorkloadPath(workload) : ObjectPath(it->second, workload);
}

std::string StatusWriter::RightFor(const std::string& kind) const {
  return custom_.contains(kind) ? kind : "";
}

std::string StatusWriter::WayOut(const std::string& right) const {
  const auto it = custom_.find(right);
  if (it == custom_.end()) return "apply packaging/kubernetes/observe/status_annotations.yaml";
  const std::string& version = it->second.api_version;
  return StrCat(
      "give the right to patch ", it->second.plural, " of ", version.substr(0, version.find('/')),
      " with packaging/kubernetes/observe/custom_owners_status.yaml (Helm: status: true of this kind "
      "in annotatedKinds)");
}

void StatusWriter::ForgetErrorsOfRights() {
  std::erase_if(forbidden_errors_, [this](const auto& error) {
    return std::ranges::none_of(
        forbidden_until_s_, [&](const auto& place) { return RightFor(place.first.first) == error.first; });
  });
}

std::optional<StatusWriter::Entry> StatusWriter::TakeDue(const Key& key, double now_s) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key);
  if (it == entries_.end() || now_s < it->second.look_at_s) return std::nullopt;
  const auto forbidden = forbidden_until_s_.find(PlaceOfRight(it->second.workload));
  if (forbidden != forbidden_until_s_.end() && now_s < forbidden->second) return std::nullopt;
  it->second.look_at_s = now_s + options_.look_s;
  return it->second;
}

bool StatusWriter::HasToken(double now_s) {
  const double passed_s = filled_at_s_ < 0 ? options_.burst / options_.per_second : now_s - filled_at_s_;
  filled_at_s_ = now_s;
  tokens_ = std::min(options_.burst, tokens_ + passed_s * options_.per_second);
  return tokens_ >= 1;
}

void StatusWriter::Step(const std::function<bool()>& stopping) {
  std::vector<Key> due;
  {
    const double now_s = options_.steady_s();
    const std::lock_guard lock(mutex_);
    // No annotation of this namespace was due for a long time, so the missing permission may be checked again.
    std::erase_if(forbidden_until_s_,
                  [&](const auto& item) { return now_s > item.second + options_.refused_s; });
    ForgetErrorsOfRights();
    for (const auto& [key, entry] : entries_) {
      if (now_s >= entry.look_at_s) due.push_back(key);
    }
  }
  for (const Key& key : due) {
    const double now_s = options_.steady_s();
    if (stopping() || now_s < paused_until_s_ || !HasToken(now_s)) return;
    const std::optional<Entry> entry = TakeDue(key, now_s);
    if (entry.has_value()) Look(key, *entry);
  }
}

void StatusWriter::Look(const Key& key, const Entry& entry) {
  std::optional<std::vector<ContainerStatus>> containers = options_.of(entry.workload, false);
  if (!containers.has_value()) return;
  if (containers->empty()) {
    if (entry.text.has_value()) Write(key, entry, std::nullopt);
    return;
  }
  if (entry.text.has_value() && SaysTheSame(*entry.text, StatusText(*containers))) return;
  if (options_.steady_s() < entry.write_at_s) return;
  containers = options_.of(entry.workload, true);
  if (containers.has_value() && !containers->empty()) Write(key, entry, StatusText(*containers));
}

void StatusWriter::Write(const Key& key, const Entry& entry, const std::optional<std::string>& text) {
  const absl::StatusOr<std::string> path = PathOf(entry.workload);
  if (!path.ok()) return;
  tokens_ -= 1;
  const absl::Status status =
      options_.send(StrCat(*path, "?fieldManager=", kStatusFieldManager), PatchOf(entry.uid, text));
  if (!status.ok()) return NoteFailure(key, entry, status);
  const double now_s = options_.steady_s();
  const std::lock_guard lock(mutex_);
  ++counts_.written;
  last_error_.clear();
  if (forbidden_until_s_.erase(PlaceOfRight(entry.workload)) > 0) ForgetErrorsOfRights();
  const auto it = entries_.find(key);
  if (it == entries_.end() || it->second.uid != entry.uid) return;
  it->second.text = text;
  it->second.write_at_s = now_s + options_.again_s;
}

void StatusWriter::NoteFailure(const Key& key, const Entry& entry, const absl::Status& status) {
  const double now_s = options_.steady_s();
  const bool may_pass = MayPass(status);
  // A temporary failure or a requested delay affects the writes to all workloads.
  if (may_pass && !absl::IsAborted(status))
    paused_until_s_ = now_s + std::max(options_.retry_s, options_.retry_after_s());
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key);
  if (it != entries_.end() && it->second.uid == entry.uid)
    it->second.look_at_s = now_s + (may_pass ? options_.retry_s : options_.refused_s);
  // The object is gone or was replaced. The watch will report the change, and a new object is checked anew.
  if (absl::IsNotFound(status) || IsReplaced(status)) return;
  ++counts_.failed;
  if (absl::IsPermissionDenied(status)) {
    forbidden_until_s_[PlaceOfRight(entry.workload)] = now_s + options_.refused_s;
    // Keep the first refusal per permission, so that the log has one sentence instead of one per namespace.
    const std::string right = RightFor(entry.workload.kind);
    if (!forbidden_errors_.contains(right)) {
      forbidden_errors_[right] =
          StrCat(key, ": ", Message(status), ": ", WayOut(right),
                 ", or set kubernetes.status_annotations: false; tried again every 10 minutes");
    }
  } else {
    last_error_ = StrCat(key, ": ", Message(status));
  }
}

StatusWriter::Counts StatusWriter::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string StatusWriter::last_error() const {
  const std::lock_guard lock(mutex_);
  if (forbidden_errors_.empty()) return last_error_;
  std::string out;
  for (const auto& [right, error] : forbidden_errors_) StrAppend(&out, out.empty() ? "" : "; ", error);
  return out;
}

}  // namespace taut::server
