// The nodes of a cluster as machines, and their pods as tasks of jobs.
#pragma once

#include <vector>

#include "server/control/placement.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Placement in a cluster. The capacity of a machine is its node's allocatable amount. A task is a pod or a
// container, depending on ClusterNaming. The request of a task defaults to its limit, and its usage cannot exceed
// its limit. Pods outside kubernetes.namespaces are absent. Thread-safe.
class NodePlacement final : public PlacementSource {
 public:
  // `cluster` must outlive this object.
  explicit NodePlacement(const Cluster* cluster) : cluster_(cluster) {}

  std::string_view placement_name() const override { return "kubernetes"; }
  // Returns all machines with their tasks. O(nodes + pods).
  std::vector<PlacedMachine> Placement() const override;

 private:
  const Cluster* cluster_;
};

}  // namespace taut::server
