// The current pods of a cluster, each with its workload.
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

// Selects pods of a workload. kStay: pods that are not being deleted. kHaveNotEnded: in addition, pods that are
// being deleted but have not ended. kAreThere: all pods.
enum class PodsThat : uint8_t { kStay, kHaveNotEnded, kAreThere };

// The pods of a cluster by ObjectKey and by workload. Thread-safe. Memory: about 1.5 KiB per pod.
class PodTable {
 public:
  struct SeenPod {
    PodPtr pod;
    std::shared_ptr<const WorkloadName> workload;
  };
  // The arguments must outlive the table. Lock order: the table locks its mutex before it calls an argument. An
  // argument must therefore not call the table while the argument's own mutex is locked.
  PodTable(const NodeTable& nodes, const SplitOrders& splits, ClusterOwners& owners,
           ContainerIndex& containers, PodChanges& changes)
      : nodes_(nodes), splits_(splits), owners_(owners), containers_(containers), changes_(changes) {}

  // ---- called by watches ----
  // For a resized pod, the limits from before the resize count as the owner's limits.
  void Replace(std::vector<Pod> pods);
  void Put(Pod pod);
  void Remove(const Pod& pod);

  // ---- called by other parts of the cluster ----
  // Looks up the workloads of these pods again, after owners have arrived.
  void FindOwnersOf(const std::vector<std::string>& pods);
  // Determine the groups of pods again: of the DaemonSets' pods on these nodes, or of all pods of a workload.
  void RegroupNodes(const std::vector<std::string>& nodes);
  void RegroupWorkload(const std::string& workload);
  // Sets the owner's amounts of this controller's resized pods from the containers of its template. Null: there is
  // no known template, and the annotations of the pods are used, up to the size of the largest node.
  void SetOwnersAmounts(const PodController& controller, const std::vector<ContainerState>* in_template);

  // ---- queries by pod ----
  std::optional<size_t> size() const;  // number of pods; nullopt before the first list
  std::optional<SeenPod> Find(const std::string& key) const;
  // Returns the workload of a pod. If the pod is not in the table, derives the workload from the pod's owner.
  WorkloadName WorkloadOf(const Pod& pod) const;
  // Returns the workload of the pod with this name; nullopt if the pod is not in the table.
  std::optional<WorkloadName> WorkloadOfPod(std::string_view namespace_name, std::string_view pod) const;
  // Calls `fn` for every pod, without the lock.
  void ForEach(absl::FunctionRef<void(const PodPtr&, const WorkloadName& workload)> fn) const;

  // ---- queries by workload ----
  // Returns the pods of the workload's group, by name; empty if the kind is not in lower case, or if no pod has
  // the workload's container. O(pods of the workload).
  std::vector<PodPtr> Of(const WorkloadName& workload, PodsThat which = PodsThat::kStay) const;
  // Returns the pods of all groups of the workload.
  std::vector<PodPtr> OfAll(const WorkloadName& workload, PodsThat which = PodsThat::kStay) const;
  // Returns the groups of the workload that have pods, ascending; "" stands for pods without a group. Empty if the
  // workload has no pods.
  std::vector<std::string> GroupsOf(const WorkloadName& workload) const;
  // Returns true if a pod of the workload has a group.
  bool IsSplit(const WorkloadName& workload) const;
  // Returns the kinds of workloads with pods, in lower case, ascending. O(workloads).
  std::vector<std::string> OwnerKinds() const;

 private:
  struct Entry {
    PodPtr pod;
    WorkloadIndex::Place place;
  };
  // REQUIRES (all functions below): mutex_ is locked.
  void Insert(Pod pod);
  // Removes a pod. `last` is the pod as deleted, if the watch sent it.
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
  uint64_t regrouped_ = 0;  // version, which increases with each change that may affect groups
  // Pods of DaemonSets by node, if nodes have groups.
  std::map<std::string, std::set<std::string>> daemon_pods_;
  // Filters of all pods by NodeFilter::key, so that the pods of a template share one filter.
  absl::flat_hash_map<std::string, std::weak_ptr<const NodeFilter>> filters_;
  size_t clean_filters_at_ = 64;
};

}  // namespace taut::server
