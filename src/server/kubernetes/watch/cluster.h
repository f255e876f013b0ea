// A cluster as last seen through its API server: nodes, owners, pods, and the jobs that its pods are tasks of.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/kubernetes/watch/cluster_owners.h"
#include "server/kubernetes/watch/container_index.h"
#include "server/kubernetes/watch/node_table.h"
#include "server/kubernetes/watch/pod_changes.h"
#include "server/kubernetes/watch/pod_table.h"
#include "server/kubernetes/watch/split_orders.h"
#include "server/kubernetes/watch/workload_name.h"

namespace taut::server {

// Holds the parts of a cluster, each with its own lock, and passes on to the pods what changed in the others.
// Thread-safe.
class Cluster {
 public:
  // `node_group_label`: the label of nodes by whose value DaemonSets are split (workload_split.h). "": none.
  explicit Cluster(ClusterNaming naming, const std::string& node_group_label = "");
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const ClusterNaming& naming() const { return naming_; }
  NodeTable& nodes() { return nodes_; }
  const NodeTable& nodes() const { return nodes_; }
  SplitOrders& splits() { return splits_; }
  const SplitOrders& splits() const { return splits_; }
  ClusterOwners& owners() { return owners_; }
  const ClusterOwners& owners() const { return owners_; }
  PodTable& pods() { return pods_; }
  const PodTable& pods() const { return pods_; }
  PodChanges& changes() { return changes_; }
  const ContainerIndex& containers() const { return containers_; }

  // True once pods were listed, and the lists on which their groups depend: before, a pod would be taken for one
  // of another job.
  bool synced() const;
  // Groups depend on no list any more.
  void AwaitNothing() { awaits_groups_ = false; }
  // Job and task of the container of this ID. nullopt: no pod has such a container, or the job is of whole pods
  // and the pod has several containers.
  std::optional<std::pair<std::string, std::string>> TaskOfContainer(std::string_view id) const;

 private:
  const ClusterNaming naming_;
  std::atomic<bool> awaits_groups_ = true;
  PodChanges changes_;
  ContainerIndex containers_;
  NodeTable nodes_;
  SplitOrders splits_;
  ClusterOwners owners_;
  PodTable pods_;
};

}  // namespace taut::server
