// The pods of a cluster as last seen, each with its workload.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "server/kubernetes/client/pod.h"
#include "server/kubernetes/watch/cluster_owners.h"
#include "server/kubernetes/watch/container_index.h"
#include "server/kubernetes/watch/node_table.h"
#include "server/kubernetes/watch/pod_changes.h"
#include "server/kubernetes/watch/split_orders.h"
#include "server/kubernetes/watch/workload_index.h"

namespace taut::server {

// Which pods of a workload are asked for: those that stay, also those that are deleted and have not ended, or all.
enum class PodsThat : uint8_t { kStay, kHaveNotEnded, kAreThere };

// Thread-safe. About 1.5 KiB a pod. Keys of pods are ObjectKey.
class PodTable {
 public:
  struct SeenPod {
    PodPtr pod;
    std::shared_ptr<const WorkloadName> workload;
  };
  // All of these outlive the table, and may be called by others at the same time: the table locks itself first.
  PodTable(const NodeTable& nodes, const SplitOrders& splits, ClusterOwners& owners,
           ContainerIndex& containers, PodChanges& changes)
      : nodes_(nodes), splits_(splits), owners_(owners), containers_(containers), changes_(changes) {}

  // ---- called by watches ----
  // A pod that is resized keeps the limits that it had before as those of its owner.
  void Replace(std::vector<Pod> pods);
  void Put(Pod pod);
  void Remove(const Pod& pod);

  // ---- called by the other parts of the cluster ----
  // Gives these pods their workload anew, after owners were learnt.
  void FindOwnersOf(const std::vector<std::string>& pods);
  // Gives pods their group anew: those of DaemonSets on these nodes, or all of a workload.
  void RegroupNodes(const std::vector<std::string>& nodes);
  void RegroupWorkload(const std::string& workload);
  // Takes what the owner of resized pods of this controller wants from the containers of its template. nullptr: no
  // template is known; the notes at the pods count, up to what a node has.
  void SetOwnersAmounts(const PodController& controller, const std::vector<ContainerState>* in_template);

  // ---- queries by the pod ----
  std::optional<size_t> size() const;  // nullopt: pods were not listed yet
  std::optional<SeenPod> Find(const std::string& key) const;
  // The workload of a pod; of a pod that is not there yet, or not any more, by its owner.
  WorkloadName WorkloadOf(const Pod& pod) const;
  // The workload of the pod with this name, or nullopt if it is not there.
  std::optional<WorkloadName> WorkloadOfPod(std::string_view namespace_name, std::string_view pod) const;
  void ForEach(absl::FunctionRef<void(const PodPtr&, const WorkloadName& workload)> fn) const;

  // ---- queries by the workload ----
  // Its pods, by name. With another case of the kind, or a container that no pod has: none. O(their number).
  std::vector<PodPtr> Of(const WorkloadName& workload, PodsThat which = PodsThat::kStay) const;
  // The pods of all of its groups.
  std::vector<PodPtr> OfAll(const WorkloadName& workload, PodsThat which = PodsThat::kStay) const;
  // Groups of the workload that have pods, ascending; "": pods of none. Empty: it has no pods.
  std::vector<std::string> GroupsOf(const WorkloadName& workload) const;
  // True if it has pods of a group.
  bool IsSplit(const WorkloadName& workload) const;
  // Kinds of workloads that have pods, in lower case, ascending. O(workloads).
  std::vector<std::string> OwnerKinds() const;

 private:
  struct Entry {
    PodPtr pod;
    WorkloadIndex::Place place;
  };
  // All require mutex_.
  void Insert(Pod pod);
  // `last`: the pod as it was when it went, if that is known.
  void Erase(const std::string& key, const Pod* last = nullptr);
  void Place(std::pair<const std::string, Entry>& of);
  void Unplace(const std::string& key, const Entry& entry);
  void ShareFilter(Pod& pod);
  void NoteOwnersAmounts(const Pod* before, Pod& pod);
  std::optional<std::string> GroupNow(const Pod& pod, const Pod* before) const;
  void SetGroup(Pod& pod, const Pod* before) const;
  void Regroup(const std::string& key);
  void LeaveNode(const std::string& key, const Pod& pod);

  const NodeTable& nodes_;
  const SplitOrders& splits_;
  ClusterOwners& owners_;
  ContainerIndex& containers_;
  PodChanges& changes_;
  mutable std::mutex mutex_;
  bool listed_ = false;
  std::map<std::string, Entry> pods_;
  WorkloadIndex workloads_;
  uint64_t regrouped_ = 0;  // grows when pods that are there may get other groups
  std::map<std::string, std::set<std::string>> daemon_pods_;  // by their node, where nodes have groups
  // Each once, by NodeFilter::key: pods of one template share theirs.
  absl::flat_hash_map<std::string, std::weak_ptr<const NodeFilter>> filters_;
  size_t clean_filters_at_ = 64;
};

}  // namespace taut::server
