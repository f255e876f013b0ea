#include "server/kubernetes/watch/cluster_owners.h"

#include <iterator>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {

std::string ObjectKey(std::string_view kind, std::string_view namespace_name, std::string_view name) {
  return StrCat(namespace_name, "/", kind, "/", name);
}

std::string OwnerText(const std::string& kind, const std::string& name) {
  return kind.empty() ? "<none>/<none>" : StrCat(kind, "/", name);
}

// Stores an object. Until a ReplicaSet is known, the owner of its pods is derived from its name. Returns the pods
// whose owner changes.
std::vector<std::string> ClusterOwners::Learn(const std::string& kind, const OwnedObject& object) {
  const std::string child = ObjectKey(kind, object.namespace_name, object.name);
  const auto [was, is_new] = objects_[kind].try_emplace(child);
  const bool had_program = !is_new && !was->second.program.empty();
  was->second = object;
  std::vector<std::string> moved = owners_.Learn(child, OwnerText(object.owner_kind, object.owner_name));
  if (kind == "Job" && (had_program || !object.program.empty()))
    std::ranges::move(owners_.Learn(OwnerTable::ProgramKey(child), OwnerTable::ProgramText(object.program)),
                      std::back_inserter(moved));
  return moved;
}

void ClusterOwners::Forget(const std::string& key) {
  owners_.Forget(key);
  owners_.Forget(OwnerTable::ProgramKey(key));
}

void ClusterOwners::Replace(const std::string& kind, const std::vector<OwnedObject>& objects) {
  std::map<std::string, OwnedObject> gone;
  std::vector<std::string> moved;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(objects_[kind]);
    for (const OwnedObject& object : objects) {
      gone.erase(ObjectKey(kind, object.namespace_name, object.name));
      std::ranges::move(Learn(kind, object), std::back_inserter(moved));
    }
  }
  // Call moved_ without the lock, because PodTable takes its own lock first and then calls this object.
  if (!moved.empty()) moved_(moved);
  const std::lock_guard lock(mutex_);
  for (const auto& [key, object] : gone) Forget(key);
}

void ClusterOwners::Put(const std::string& kind, const OwnedObject& object) {
  std::vector<std::string> moved;
  {
    const std::lock_guard lock(mutex_);
    moved = Learn(kind, object);
  }
  if (!moved.empty()) moved_(moved);
}

void ClusterOwners::Remove(const std::string& kind, const OwnedObject& object) {
  const std::string key = ObjectKey(kind, object.namespace_name, object.name);
  const std::lock_guard lock(mutex_);
  objects_[kind].erase(key);
  Forget(key);
}

void ClusterOwners::ForEach(absl::FunctionRef<void(const std::string& kind, const OwnedObject&)> fn) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [kind, objects] : objects_) {
    for (const auto& [key, object] : objects) fn(kind, object);
  }
}

void ClusterOwners::LearnPod(const std::string& key, const Pod& pod) {
  const std::string program = OwnerTable::ProgramKey(key);
  const std::lock_guard lock(mutex_);
  if (pod.program.empty()) {
    owners_.Forget(program);
  } else {
    owners_.Learn(program, OwnerTable::ProgramText(pod.program));
  }
  owners_.Learn(key, OwnerText(pod.owner_kind, pod.owner_name), pod.group);
}

void ClusterOwners::ForgetPod(const std::string& key) {
  const std::lock_guard lock(mutex_);
  Forget(key);
}

TopOwner ClusterOwners::OfPod(const Pod& pod) const {
  const std::lock_guard lock(mutex_);
  return owners_.Find(pod.namespace_name, pod.name);
}

TopOwner ClusterOwners::OfNewPod(const Pod& pod) const {
  const std::lock_guard lock(mutex_);
  return owners_.TopOfNew(pod.namespace_name, pod.owner_kind, pod.owner_name, pod.name, pod.program);
}

TopOwner ClusterOwners::Of(const std::string& namespace_name, const std::string& kind,
                           const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return owners_.TopOf(namespace_name, kind, name);
}

}  // namespace taut::server
