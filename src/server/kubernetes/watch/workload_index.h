// The pods of each workload of a cluster, and the groups of workloads that are split.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/kubernetes/client/pod.h"
#include "server/kubernetes/watch/workload_name.h"

namespace taut::server {

// One object, one thread. Keys of workloads are WorkloadKey, keys of pods ObjectKey.
class WorkloadIndex {
 public:
  // Where a pod is.
  struct Place {
    std::string key;
    std::shared_ptr<const WorkloadName> workload;
  };
  // By their keys. Both keys and pods belong to the caller, who keeps them in place until Remove.
  using Pods = std::map<std::string_view, const PodPtr*>;
  Place Put(std::string_view key, const PodPtr* pod, const WorkloadName& workload);
  void Remove(std::string_view key, const Place& place);

  // Pods of one group, ascending. nullptr: there are none.
  const Pods* Find(const std::string& key) const;
  // Keys of the pods of all groups of the workload with this key.
  std::vector<std::string> PodsOfAll(const std::string& workload) const;
  // Groups of the workload that have pods, ascending; "": pods of none. Empty: it has no pods.
  std::vector<std::string> GroupsOf(const WorkloadName& workload) const;
  bool IsSplit(const WorkloadName& workload) const;
  // Kinds of workloads that have pods, in lower case, ascending. O(workloads).
  std::vector<std::string> Kinds() const;

 private:
  struct Group {
    std::shared_ptr<const WorkloadName> workload;
    Pods pods;
  };
  // Keys of the workload's groups, that of none first.
  std::vector<std::string> KeysOf(const std::string& workload) const;

  absl::flat_hash_map<std::string, Group> workloads_;
  std::map<std::string, std::set<std::string>> groups_;  // with pods, by workload; "" is none of them
};

}  // namespace taut::server
