// Collects the pods and workloads of a cluster that changed.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// The controller of a pod, such as {"shop", "ReplicaSet", "web-5d4f8c7b9d"}.
struct PodController {
  std::string namespace_name, kind, name;
  auto operator<=>(const PodController&) const = default;
};

// Collects changes until a reader takes them. Thread-safe.
class PodChanges {
 public:
  // Adds a new or changed pod with this key.
  void NotePod(const std::string& key, PodPtr pod);
  // Adds a deleted pod with this key. `killed` is the last state of the pod if a container was killed by the OOM
  // killer, else null.
  void NoteGone(const std::string& key, PodPtr killed);
  void NoteWorkload(const std::string& workload);
  // Adds the controller of a pod that was resized before tautd saw it.
  void NoteUnknownOwner(PodController controller);

  // Returns the WorkloadKeys of the workloads whose pods appeared, changed or disappeared since the last call, in
  // ascending order.
  std::vector<std::string> TakeWorkloads();
  // Returns the pods that appeared or changed since the last call, and the deleted pods with an OOM kill.
  std::vector<PodPtr> TakePods();
  // Returns the controllers added by NoteUnknownOwner() since the last call, without duplicates.
  std::vector<PodController> TakeUnknownOwners();

 private:
  std::mutex mutex_;
  absl::flat_hash_set<std::string> workloads_;
  absl::flat_hash_map<std::string, PodPtr> pods_;
  std::vector<PodPtr> gone_killed_;  // first 10,000 pods; later pods are dropped
  std::set<PodController> unknown_owners_;
};

}  // namespace taut::server
