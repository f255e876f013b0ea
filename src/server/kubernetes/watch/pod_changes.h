// The pods and workloads of a cluster that changed since their reader took the changes last.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// The controller of a pod: {"shop", "ReplicaSet", "web-5d4f8c7b9d"}.
struct PodController {
  std::string namespace_name, kind, name;
  auto operator<=>(const PodController&) const = default;
};

// Thread-safe.
class PodChanges {
 public:
  // Notes that the pod with this key came or changed.
  void NotePod(const std::string& key, PodPtr pod);
  // Notes that the pod with this key is gone. `killed`: its last state, if a container was killed; else nullptr.
  void NoteGone(const std::string& key, PodPtr killed);
  void NoteWorkload(const std::string& workload);
  void NoteUnknownOwner(PodController controller);

  // Workloads of which a pod changed, came or went since the last call, as "namespace/kind/name", ascending.
  std::vector<std::string> TakeWorkloads();
  // Pods that changed or came since the last call, and pods that are gone, if a container of theirs was killed.
  std::vector<PodPtr> TakePods();
  // Controllers of pods that were resized before they were seen, each once: their templates are not known.
  std::vector<PodController> TakeUnknownOwners();

 private:
  std::mutex mutex_;
  absl::flat_hash_set<std::string> workloads_;
  absl::flat_hash_map<std::string, PodPtr> pods_;
  std::vector<PodPtr> gone_killed_;  // the first kMostGone
  std::set<PodController> unknown_owners_;
};

}  // namespace taut::server
