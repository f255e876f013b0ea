// The nodes of a cluster as machines, and their pods as tasks of jobs.
#pragma once

#include <vector>

#include "server/control/placement.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Thread-safe, as the cluster is. Capacity is what a node says is allocatable. A task is a pod or a container of
// one, as ClusterNaming counts them: it asks for its requests, or its limits where it has none, and cannot use
// more than its limits. Pods that are not watched (kubernetes.namespaces) are not there.
class NodePlacement final : public PlacementSource {
 public:
  // `cluster` outlives it.
  explicit NodePlacement(const Cluster* cluster) : cluster_(cluster) {}

  std::string_view placement_name() const override { return "kubernetes"; }
  // O(pods).
  std::vector<PlacedMachine> Placement() const override;

 private:
  const Cluster* cluster_;
};

}  // namespace taut::server
