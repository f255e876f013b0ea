#include "kubernetes/steering.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace taut {
namespace {

constexpr std::string_view kNamespaceKind = "namespace";

}  // namespace

std::string Steering::KeyOf(const std::string& kind, const OwnedObject& object) {
  const std::string lower = KindInNames(kind);
  if (lower == kNamespaceKind) return Cluster::WorkloadKey(object.name, lower, "");
  return Cluster::WorkloadKey(object.namespace_name, lower, object.name);
}

void Steering::PutLocked(const std::string& kind, const OwnedObject& object) {
  std::string key = KeyOf(kind, object);
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

void Steering::Put(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  PutLocked(kind, object);
}

void Steering::Remove(const std::string& kind, const OwnedObject& object) {
  OwnedObject without = object;
  without.steering.clear();
  Put(kind, without);
}

void Steering::Replace(const std::string& kind, const std::vector<OwnedObject>& objects) {
  const std::string lower = StrCat("/", KindInNames(kind), "/");
  const std::lock_guard lock(mutex_);
  if (kinds_.insert(kind).second) ++version_;
  std::vector<std::string> listed;
  for (const OwnedObject& object : objects) {
    if (!object.steering.empty()) listed.push_back(KeyOf(kind, object));
    PutLocked(kind, object);
  }
  std::sort(listed.begin(), listed.end());
  version_ += std::erase_if(annotations_, [&](const auto& item) {
    return item.first.find(lower) != std::string::npos &&
           !std::binary_search(listed.begin(), listed.end(), item.first);
  });
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
  if (const auto* all = find(Cluster::WorkloadKey(workload.namespace_name, kNamespaceKind, ""))) {
    for (const Label& label : *all) {
      if (label.first.starts_with(prefix)) MergeLabels({&label, 1}, out);
    }
  }
  const auto* all = find(Cluster::WorkloadKey(workload.namespace_name, workload.kind, workload.name));
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

}  // namespace taut
