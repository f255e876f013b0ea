// The ReplicaSets and Jobs of a cluster, and the top owner that pods have through them.
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

// The key of an object: "shop/Pod/web-1".
std::string ObjectKey(std::string_view kind, std::string_view namespace_name, std::string_view name);
// The name of the pod's controller, with the pod's group where its workload is split ("fluentd@large").
std::string OwnerOf(const Pod& pod);
// An owner as OwnerTable reads it; one without a kind is none.
std::string OwnerText(const std::string& kind, const std::string& name);

// Thread-safe.
class ClusterOwners {
 public:
  // `moved` hears the keys of pods whose top owner may be another one now. It may call this object.
  explicit ClusterOwners(std::function<void(const std::vector<std::string>& pods)> moved)
      : moved_(std::move(moved)) {}

  // ---- called by watches; `kind`: "ReplicaSet", "Job" ----
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object);
  // Its pods keep their owner: they end soon, or find no other.
  void Remove(const std::string& kind, const OwnedObject& object);
  void ForEach(absl::FunctionRef<void(const std::string& kind, const OwnedObject&)> fn) const;

  // ---- pods, by their ObjectKey ----
  void LearnPod(const std::string& key, const Pod& pod);
  void ForgetPod(const std::string& key);
  // The top owner of a pod that was learnt.
  TopOwner OfPod(const Pod& pod) const;
  // The top owner of a pod that was not learnt yet.
  TopOwner OfNewPod(const Pod& pod) const;
  TopOwner Of(const std::string& namespace_name, const std::string& kind, const std::string& name) const;

 private:
  // Both require mutex_.
  std::vector<std::string> Learn(const std::string& kind, const OwnedObject& object);
  void Forget(const std::string& key);

  const std::function<void(const std::vector<std::string>&)> moved_;
  mutable std::mutex mutex_;
  OwnerTable owners_;
  std::map<std::string, std::map<std::string, OwnedObject>> objects_;  // by kind, then ObjectKey
};

}  // namespace taut::server
