#include "server/kubernetes/watch/steering.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr std::string_view kNamespaceKind = "namespace";

}  // namespace

bool IsOptOut(std::string_view mode) { return mode == "off" || mode == "observe"; }

void TakeSaferMode(std::string_view key, std::string_view mode, std::vector<Label>& labels) {
  const auto at = std::ranges::find_if(labels, [key](const Label& label) { return label.first == key; });
  if (at != labels.end() && at->second == "off") return;
  if (at != labels.end()) {
    at->second = std::string(mode);
    return;
  }
  Label label(key, mode);
  labels.insert(std::ranges::upper_bound(labels, label), std::move(label));
}

std::string Steering::KeyOf(const std::string& kind, const OwnedObject& object) {
  const std::string lower = KindInNames(kind);
  if (lower == kNamespaceKind) return WorkloadKey(object.name, lower, "");
  return WorkloadKey(object.namespace_name, lower, object.name);
}

void Steering::PutLocked(const std::string& kind, const OwnedObject& object) {
  std::string key = KeyOf(kind, object);
  NoteRefused(key, kind, object);
  const auto it = annotations_.find(key);
  if (object.steering.empty()) {
    if (it == annotations_.end()) return;
    annotations_.erase(it);
  } else if (it == annotations_.end()) {
    annotations_.emplace(std::move(key), object.steering);
  } else if (it->second == object.steering) {
    return;
  } else {
    it->second = object.steering;
  }
  ++version_;
}

void Steering::NoteRefused(const std::string& key, const std::string& kind, const OwnedObject& object) {
  const auto it = refused_.find(key);
  if (object.refused.empty()) {
    if (it != refused_.end()) refused_.erase(it);
    return;
  }
  if (it != refused_.end() && it->second == object.refused) return;
  refused_.insert_or_assign(key, object.refused);
  for (const std::string& sentence : object.refused) {
    if (news_.size() < kMostRefused) news_.push_back({kind, object.namespace_name, object.name, sentence});
  }
}

void Steering::NoteOfPods(const Refused& refused) {
  const std::lock_guard lock(mutex_);
  if (of_pods_.size() >= kMostRefused) of_pods_.clear();
  const std::string key =
      StrCat(refused.namespace_name, "/", refused.kind, "/", refused.name, " ", refused.sentence);
  if (of_pods_.insert(key).second && news_.size() < kMostRefused) news_.push_back(refused);
}

std::vector<Steering::Refused> Steering::TakeRefused() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void Steering::Put(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  PutLocked(kind, object);
}

void Steering::Remove(const std::string& kind, const OwnedObject& object) {
  OwnedObject without = object;
  without.steering.clear();
  without.refused.clear();
  Put(kind, without);
}

void Steering::Replace(const std::string& kind, const std::vector<OwnedObject>& objects) {
  const std::string lower = StrCat("/", KindInNames(kind), "/");
  const std::lock_guard lock(mutex_);
  if (kinds_.insert(kind).second) ++version_;
  std::vector<std::string> listed;
  for (const OwnedObject& object : objects) {
    if (!object.steering.empty() || !object.refused.empty()) listed.push_back(KeyOf(kind, object));
    PutLocked(kind, object);
  }
  std::sort(listed.begin(), listed.end());
  const auto is_gone = [&](const auto& item) {
    return item.first.find(lower) != std::string::npos &&
           !std::binary_search(listed.begin(), listed.end(), item.first);
  };
  version_ += std::erase_if(annotations_, is_gone);
  std::erase_if(refused_, is_gone);
}

bool Steering::Knows(const std::string& kind) const {
  const std::lock_guard lock(mutex_);
  return kinds_.contains(kind);
}

uint64_t Steering::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::vector<Label> Steering::Of(const WorkloadName& workload) const {
  std::vector<Label> out;
  const std::string prefix(kSettingLabel);
  const std::string of_container = StrCat(workload.container, ".", kSettingLabel);
  const std::lock_guard lock(mutex_);
  const auto find = [this](const std::string& key) -> const std::vector<Label>* {
    const auto it = annotations_.find(key);
    return it == annotations_.end() ? nullptr : &it->second;
  };
  if (const auto* all = find(WorkloadKey(workload.namespace_name, kNamespaceKind, ""))) {
    for (const Label& label : *all) {
      if (label.first.starts_with(prefix)) MergeLabels({&label, 1}, out);
    }
  }
  const auto* all = find(WorkloadKey(workload.namespace_name, workload.kind, workload.name));
  if (all == nullptr) return out;
  for (const Label& label : *all) {
    if (label.first.starts_with(prefix)) MergeLabels({&label, 1}, out);
  }
  for (const Label& label : *all) {
    if (workload.container.empty() || !label.first.starts_with(of_container)) continue;
    const Label named(StrCat(prefix, label.first.substr(of_container.size())), label.second);
    MergeLabels({&named, 1}, out);
  }
  return out;
}

}  // namespace taut::server
