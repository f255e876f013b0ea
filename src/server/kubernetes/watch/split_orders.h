// Annotations of DaemonSets and StatefulSets that split their pods into several jobs (workload_split.h).
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/workload_name.h"
#include "server/kubernetes/watch/workload_split.h"

namespace taut::server {

// The current split annotations of DaemonSets and StatefulSets. Thread-safe.
class SplitOrders {
 public:
  // `by_nodes` is true if groups of nodes are configured. `changed` receives the WorkloadKey of each workload
  // whose annotation changed; it is called without the lock, and may call this object.
  SplitOrders(bool by_nodes, std::function<void(const std::string& workload)> changed)
      : by_nodes_(by_nodes), changed_(std::move(changed)) {}

  // Makes listed() return false until both kinds were replaced once. Call before any other function.
  void Await();
  bool listed() const;

  // ---- called by watches; `kind` is "DaemonSet" or "StatefulSet" ----
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object) { Note(kind, object, object.split); }
  void Remove(const std::string& kind, const OwnedObject& object) { Note(kind, object, ""); }

  // Returns the rule by which the pod's workload is split.
  SplitBy Of(const Pod& pod) const;
  // Returns the error in the workload's annotation kSplitAnnotation, as text for users; "" if there is none.
  std::string WrongOf(const WorkloadName& workload) const;

 private:
  struct Order {
    std::string namespace_name, kind, name, annotation;
  };
  void Note(const std::string& kind, const OwnedObject& object, const std::string& annotation);

  const bool by_nodes_;
  const std::function<void(const std::string&)> changed_;
  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, Order> orders_;  // orders by WorkloadKey()
  std::set<std::string> awaited_;                   // kinds for which listed() waits
};

}  // namespace taut::server
