#include "server/kubernetes/watch/cluster.h"

#include <algorithm>
#include <vector>

namespace taut::server {

Cluster::Cluster(ClusterNaming naming, const std::string& node_group_label)
    : naming_(std::move(naming)),
      nodes_(node_group_label, [this](const std::vector<std::string>& nodes) { pods_.RegroupNodes(nodes); }),
      splits_(!node_group_label.empty(),
              [this](const std::string& workload) { pods_.RegroupWorkload(workload); }),
      owners_([this](const std::vector<std::string>& pods) { pods_.FindOwnersOf(pods); }),
      pods_(nodes_, splits_, owners_, containers_, changes_) {}

bool Cluster::synced() const {
  if (!pods_.size().has_value()) return false;
  return !awaits_groups_ || (splits_.listed() && (!nodes_.has_groups() || nodes_.known()));
}

std::optional<std::pair<std::string, std::string>> Cluster::TaskOfContainer(std::string_view id) const {
  const std::optional<std::string> key = containers_.PodOf(id);
  const std::optional<PodTable::SeenPod> seen = key.has_value() ? pods_.Find(*key) : std::nullopt;
  if (!seen.has_value()) return std::nullopt;
  const std::vector<ContainerState>& all = seen->pod->containers;
  if (naming_.jobs == KubernetesJobs::kPods && all.size() > 1) return std::nullopt;
  const auto container = std::ranges::find(all, id, &ContainerState::id);
  if (container == all.end()) return std::nullopt;
  return std::pair(naming_.JobOf(*seen->workload, container->name), seen->pod->name);
}

}  // namespace taut::server
