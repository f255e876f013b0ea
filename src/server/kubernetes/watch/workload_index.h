// The pods of each workload of a cluster, and the groups of split workloads.
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

// An index of pods by workload. Keys are WorkloadKeys for workloads, and ObjectKeys for pods. Not thread-safe.
class WorkloadIndex {
 public:
  // The entry of one pod in the index.
  struct Place {
    std::string key;
    std::shared_ptr<const WorkloadName> workload;
  };
  // Pods by key. The caller owns key and pod, and must not move or destroy them before Remove().
  using Pods = std::map<std::string_view, const PodPtr*>;
  Place Put(std::string_view key, const PodPtr* pod, const WorkloadName& workload);
  void Remove(std::string_view key, const Place& place);

  // Returns the pods of one group, ascending; nullptr if there are none.
  const Pods* Find(const std::string& key) const;
  // Returns the keys of the pods of all groups of the workload with this key.
  std::vector<std::string> PodsOfAll(const std::string& workload) const;
  // Returns the groups of the workload that have pods, ascending; "" stands for pods without a group. Empty if the
  // workload has no pods.
  std::vector<std::string> GroupsOf(const WorkloadName& workload) const;
  bool IsSplit(const WorkloadName& workload) const;
  // Returns the kinds of workloads with pods, in lower case, ascending. O(workloads).
  std::vector<std::string> Kinds() const;

 private:
  struct Group {
    std::shared_ptr<const WorkloadName> workload;
    Pods pods;
  };
  // Same as GroupsOf(), for the key of a workload without a group.
  std::vector<std::string> GroupsOfKey(const std::string& workload) const;

  absl::flat_hash_map<std::string, Group> workloads_;
  std::map<std::string, std::set<std::string>> groups_;  // groups with pods by workload; never ""
};

}  // namespace taut::server
