// The ReplicaSets and Jobs of a cluster, and the top owner of each pod through these objects.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "server/ingest/owners.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Returns the key of an object, such as "shop/Pod/web-1".
std::string ObjectKey(std::string_view kind, std::string_view namespace_name, std::string_view name);
// Returns an owner in the format of OwnerTable. An empty kind means that there is no owner.
std::string OwnerText(const std::string& kind, const std::string& name);

// Determines the top owner of each pod. Thread-safe.
class ClusterOwners {
 public:
  // `moved` receives the ObjectKeys of pods whose top owner may have changed. `moved` is called without the lock,
  // and may call this object.
  explicit ClusterOwners(std::function<void(const std::vector<std::string>& pods)> moved)
      : moved_(std::move(moved)) {}

  // ---- called by watches; `kind` is "ReplicaSet" or "Job" ----
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object);
  // Removes an object. Its pods keep their top owner, because the pods will soon end or have another controller.
  void Remove(const std::string& kind, const OwnedObject& object);
  void ForEach(absl::FunctionRef<void(const std::string& kind, const OwnedObject&)> fn) const;

  // ---- pods by ObjectKey ----
  void LearnPod(const std::string& key, const Pod& pod);
  void ForgetPod(const std::string& key);
  // Returns the top owner of a pod. REQUIRES: LearnPod() stored the pod.
  TopOwner OfPod(const Pod& pod) const;
  // Returns the future top owner of a pod that LearnPod() has not stored.
  TopOwner OfNewPod(const Pod& pod) const;
  // Returns the top owner of pods with this controller.
  TopOwner Of(const std::string& namespace_name, const std::string& kind, const std::string& name) const;

 private:
  // REQUIRES (all functions below): mutex_ is locked.
  std::vector<std::string> Learn(const std::string& kind, const OwnedObject& object);
  void Forget(const std::string& key);

  const std::function<void(const std::vector<std::string>&)> moved_;
  mutable std::mutex mutex_;
  OwnerTable owners_;
  std::map<std::string, std::map<std::string, OwnedObject>> objects_;  // objects by kind, then by ObjectKey()
};

}  // namespace taut::server
