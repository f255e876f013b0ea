// The pods and workloads of a cluster that have changed since their changes were last taken.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// The controller of a pod, for example {"shop", "ReplicaSet", "web-5d4f8c7b9d"}.
struct PodController {
  std::string namespace_name, kind, name;
  auto operator<=>(const PodController&) const = default;
};

// Collects changes until a reader takes them. Thread-safe.
class PodChanges {
 public:
  // Notes that the pod with this key is new or has changed.
  void NotePod(const std::string& key, PodPtr pod);
  // Notes that the pod with this key is gone. `killed`: the pod's last state if one of its containers was
  // killed for memory, else nullptr.
  void NoteGone(const std::string& key, PodPtr killed);
  void NoteWorkload(const std::string& workload);
  // Notes a controller of a pod that was resized before tautd saw it.
  void NoteUnknownOwner(PodController controller);

  // Returns the WorkloadKeys of the workloads whose pods appeared, changed or disappeared since the last
  // call, ascending.
  std::vector<std::string> TakeWorkloads();
  // Returns the pods that appeared or changed since the last call. Also returns the pods that are gone if one
  // of their containers was killed for memory.
  std::vector<PodPtr> TakePods();
  // Returns the controllers noted by NoteUnknownOwner since the last call, each once.
  std::vector<PodController> TakeUnknownOwners();

 private:
  std::mutex mutex_;
  absl::flat_hash_set<std::string> workloads_;
  absl::flat_hash_map<std::string, PodPtr> pods_;
  std::vector<PodPtr> gone_killed_;  // the first 10,000; later ones are dropped
  std::set<PodController> unknown_owners_;
};

}  // namespace taut::server
