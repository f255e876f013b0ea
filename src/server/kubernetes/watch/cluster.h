// The nodes, owners and pods of a cluster as the API server last reported them, and the job of each pod.
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

// The parts of a cluster, each with a lock of its own. Changes of nodes, owners and splits are passed on to the
// pods. Thread-safe.
class Cluster {
 public:
  // `node_group_label` is a label of nodes, by whose value DaemonSets are split (workload_split.h). "": DaemonSets
  // are not split by nodes.
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

  // Returns true once the pods, and every list that determines their groups, have arrived. Until then, a pod of a
  // split workload would count as a task of the wrong job.
  bool synced() const;
  // Makes synced() wait for the pods only. Used if tautd may not list the objects that determine the groups.
  void AwaitNothing() { awaits_groups_ = false; }
  // Returns the job and the task of the container with this ID (ContainerState::id). Returns nullopt if no pod has
  // such a container, or if jobs are whole pods and the pod has several containers.
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
