// The pods, owners and nodes of a cluster as last seen, and the jobs that its pods are tasks of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "server/ingest/owners.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/node_table.h"
#include "server/kubernetes/watch/workload_name.h"
#include "server/kubernetes/watch/workload_split.h"

namespace taut::server {

using PodPtr = std::shared_ptr<const Pod>;

// Its controller's name, with the pod's group where its workload is split ("fluentd@large").
std::string OwnerOf(const Pod& pod);
// An owner as the owner table takes it; one without a kind is none.
std::string OwnerText(const std::string& kind, const std::string& name);

// What controls a pod itself: {"shop", "ReplicaSet", "web-5d4f8c7b9d"}.
struct PodController {
  std::string namespace_name, kind, name;
  auto operator<=>(const PodController&) const = default;
};

// Thread-safe. About 1.5 KiB a pod.
class Cluster {
 public:
  // `node_group_label`: of nodes, by whose value DaemonSets are split (workload_split.h); "": they are not.
  explicit Cluster(ClusterNaming naming, const std::string& node_group_label = "")
      : naming_(std::move(naming)), by_nodes_(!node_group_label.empty()), nodes_(node_group_label) {}
  const ClusterNaming& naming() const { return naming_; }

  // ---- what watches bring ----
  // A pod that is resized keeps the limits that it had before as those of its owner.
  void ReplacePods(std::vector<Pod> pods);
  void PutPod(Pod pod);
  void RemovePod(const Pod& pod);
  // `kind`: "ReplicaSet", "Job".
  void ReplaceOwned(const std::string& kind, const std::vector<OwnedObject>& objects);
  void PutOwned(const std::string& kind, const OwnedObject& object);
  void RemoveOwned(const std::string& kind, const OwnedObject& object);
  // How DaemonSets and StatefulSets are split. Their pods get their groups anew.
  void ReplaceSplits(const std::string& kind, const std::vector<OwnedObject>& objects);
  void PutSplit(const std::string& kind, const OwnedObject& object);
  void RemoveSplit(const std::string& kind, const OwnedObject& object);
  // It is not synced before these were replaced once, or AwaitNothing was called: a pod would be taken for one of
  // another job. Before any of them.
  void AwaitSplits() { awaited_ = {"DaemonSet", "StatefulSet"}; }
  void AwaitNothing();
  void ReplaceNodes(std::vector<Node> nodes);
  void PutNode(Node node);
  void RemoveNode(const Node& node);

  // ---- queries ----
  // Controllers of pods that were resized before they were seen: what their owner wants is not known. Each once,
  // until one of these pods changes.
  std::vector<PodController> TakeUnknownOwners();
  // The containers of this controller's template are what the owner of such pods of it wants. nullptr: it has none
  // that is known, and what is noted at pods counts, up to what a node has.
  void SetOwnersAmounts(const PodController& controller, const std::vector<ContainerState>* in_template);
  bool synced() const;                     // pods were listed once, and what their groups depend on
  std::optional<size_t> num_pods() const;  // nullopt: pods were not listed yet
  size_t num_nodes() const;
  // Names of nodes that are ready.
  std::vector<std::string> ReadyNodes() const;
  std::optional<Amounts> Allocatable(const std::string& node) const;
  std::vector<Node> Nodes() const;
  // What a new pod may have, and what pods of one job may (NodeTable).
  LargestNode LargestFor(const Pod& pod) const;
  LargestNode LargestFor(std::span<const PodPtr> pods) const;
  // Kinds of owners of pods that are there, in lower case, ascending. O(workloads).
  std::vector<std::string> OwnerKinds() const;
  // Workloads of which a pod changed, or came or went, since the last call, as "namespace/kind/name".
  std::vector<std::string> TakeChanged();
  // Pods that changed or came since the last call; also those that are gone, if a container of theirs was killed.
  std::vector<PodPtr> TakeChangedPods();
  // That of a pod; of one that is not there yet, or not any more, by its owner.
  WorkloadName WorkloadOf(const Pod& pod) const;
  // The same by its name; nullopt: it is not there.
  std::optional<WorkloadName> WorkloadOfPod(std::string_view namespace_name, std::string_view pod) const;
  // Job and task of the container of this ID; nullopt: no pod has such a container,
  // or the job is of whole pods and the pod has several.
  std::optional<std::pair<std::string, std::string>> TaskOfContainer(std::string_view id) const;
  // Those of the job that have not ended, by name. With another case of the kind, or a container that no pod
  // has: none. `also_leaving`: those, too, that are deleted and have not ended yet. O(their number).
  std::vector<PodPtr> PodsOf(const WorkloadName& workload, bool also_leaving = false) const;
  // The same of all of its groups.
  std::vector<PodPtr> PodsOfAll(const WorkloadName& workload, bool also_leaving = false) const;
  // Those of a workload that have pods, ascending; "": pods of none. Empty: it has no pods.
  std::vector<std::string> GroupsOf(const WorkloadName& workload) const;
  // It has pods of a group.
  bool IsSplit(const WorkloadName& workload) const;
  // What is wrong with the workload's annotation kSplitAnnotation, for people. "": nothing.
  std::string WrongSplitOf(const WorkloadName& workload) const;
  // Values of the label of nodes that are left out, as there are too many.
  size_t num_groups_left_out() const;
  // Pod::left_out names it.
  bool IsLeftOut(std::string_view namespace_name, std::string_view pod, std::string_view container) const;
  void ForEachPod(absl::FunctionRef<void(const PodPtr&)> fn) const;
  // The same with its workload.
  void ForEachPodOfWorkload(absl::FunctionRef<void(const PodPtr&, const WorkloadName& workload)> fn) const;
  // Images of the workload's container, or of whole pods all of theirs, as its pods have them that have not ended:
  // "web:1.3" of "registry/shop/web:1.3", of a digest its first 12 digits. Sorted, each once. O(their number).
  std::vector<std::string> VersionsOf(const WorkloadName& workload) const;
  // Where pods of the workload that are runs of one program (IsRunKind) or have no owner run different images,
  // tags left aside: the notice that says so, of the first such container. "": they do not. O(their number).
  std::string MixedImages(const WorkloadName& workload) const;
  // ReplicaSets and Jobs.
  void ForEachOwned(absl::FunctionRef<void(const std::string& kind, const OwnedObject&)> fn) const;

 private:
  struct Entry {
    PodPtr pod;
    std::string key;  // of workloads_
    std::shared_ptr<const WorkloadName> workload;
  };
  // All REQUIRE mutex_.
  void ForgetContainers(const Pod& pod);
  void Insert(Pod pod);
  // `last`: the pod as it was when it went, if that is known.
  void Erase(const std::string& key, const Pod* last = nullptr);
  void Place(const std::string& key);
  void Unplace(const std::string& key, const Entry& entry);
  void Learn(const std::string& kind, const OwnedObject& object);
  void ShareFilter(Pod& pod);
  void TakeNoted(Pod& pod) const;
  SplitBy SplitOfPod(const Pod& pod) const;
  std::optional<std::string> GroupNow(const Pod& pod, const Pod* before) const;
  void SetGroup(Pod& pod, const Pod* before) const;
  void Regroup(const std::string& key);
  void LeaveNode(const std::string& key, const Pod& pod);
  void RegroupNodes(const std::vector<std::string>& nodes);
  void NoteSplit(const std::string& kind, const OwnedObject& object, bool is_gone);
  // Keys of the pods of these workloads.
  std::vector<std::string> KeysOfPods(const std::vector<std::string>& workloads) const;
  // Keys of workloads_ of the workload's groups, that of none first.
  std::vector<std::string> KeysOf(const std::string& workload) const;

  const ClusterNaming naming_;
  const bool by_nodes_;  // nodes have groups
  mutable std::mutex mutex_;
  absl::flat_hash_set<std::string> changed_;  // workloads
  absl::flat_hash_set<std::string> changed_pods_;
  std::vector<PodPtr> gone_killed_;  // since the last TakeChangedPods, the first kMostGone
  std::set<PodController> unknown_owners_;
  bool synced_ = false;
  OwnerTable owners_;
  std::map<std::string, Entry> pods_;                         // by "namespace/Pod/name"
  absl::flat_hash_set<std::string> left_out_;                 // containers: "namespace/Pod/name/container"
  absl::flat_hash_map<std::string, std::string> containers_;  // keys of pods_, by ContainerState::id
  struct PodsOfWorkload {
    std::shared_ptr<const WorkloadName> name;
    std::map<std::string_view, const Entry*> pods;  // of pods_, by their keys there
  };
  absl::flat_hash_map<std::string, PodsOfWorkload> workloads_;       // by WorkloadKey
  std::map<std::string, std::map<std::string, OwnedObject>> owned_;  // by kind, then "namespace/Kind/name"
  std::map<std::string, std::set<std::string>> groups_;  // with pods, by workload; "" is none of them
  struct SplitOrder {
    std::string namespace_name, kind, name, annotation;
  };
  absl::flat_hash_map<std::string, SplitOrder> splits_;  // by workload
  std::set<std::string> awaited_;                        // kinds of workloads that were not listed yet
  bool awaits_nodes_ = true;
  uint64_t regrouped_ = 0;  // grows when pods that are there may get other groups
  NodeTable nodes_;
  std::map<std::string, std::set<std::string>>
      daemon_pods_;  // keys of pods_ by their node, where nodes have groups
  // Each once, by NodeFilter::key: pods of one template share theirs.
  absl::flat_hash_map<std::string, std::weak_ptr<const NodeFilter>> filters_;
  size_t clean_filters_at_ = 64;
};

}  // namespace taut::server
