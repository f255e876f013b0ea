#include "server/kubernetes/watch/node_placement.h"

#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

struct Placed {
  PlacedAmounts asked, cap;
};

// Adds a container to the sums of its task. The request is the sum over all containers with a request. The task
// has a limit only if each of its containers has a limit.
void AddContainer(const ContainerState& container, bool first, Placed& sum) {
  for (const Resource r : kPodResources) {
    const auto i = static_cast<size_t>(r);
    const auto now = [r](const Amounts& actual, const Amounts& wanted) {
      return actual.of(r).has_value() ? actual.of(r) : wanted.of(r);
    };
    const std::optional<double> limit = now(container.actual_limits, container.limits);
    const std::optional<double> request = now(container.actual_requests, container.requests);
    const std::optional<double> asked = request.has_value() ? request : limit;
    if (asked.has_value()) sum.asked[i] = sum.asked[i].value_or(0) + *asked;
    if (first) {
      sum.cap[i] = limit;
    } else if (sum.cap[i].has_value()) {
      sum.cap[i] = limit.has_value() ? std::optional(*sum.cap[i] + *limit) : std::nullopt;
    }
  }
}

void AddTask(std::string job, const Pod& pod, const Placed& placed, PlacedMachine& machine) {
  PlacedTask& task = machine.tasks.emplace_back();
  task.job = std::move(job);
  task.task = pod.name;
  task.asked = placed.asked;
  task.cap = placed.cap;
}

}  // namespace

std::vector<PlacedMachine> NodePlacement::Placement() const {
  std::vector<PlacedMachine> out;
  absl::flat_hash_map<std::string, size_t> by_name;
  for (const Node& node : cluster_->nodes().All()) {
    PlacedMachine& machine = out.emplace_back();
    machine.name = node.name;
    machine.capacity = {node.allocatable.cpu, node.allocatable.memory};
    machine.ready = node.is_ready;
    by_name[node.name] = out.size() - 1;
  }
  const ClusterNaming& naming = cluster_->naming();
  cluster_->pods().ForEach([&](const PodPtr& pod, const WorkloadName& workload) {
    const auto at = by_name.find(pod->node);
    if (at == by_name.end() || pod->is_ended) return;
    PlacedMachine& machine = out[at->second];
    Placed sum;
    bool first = true;
    for (const ContainerState& container : pod->containers) {
      if (naming.jobs == KubernetesJobs::kContainers) sum = {};
      AddContainer(container, first || naming.jobs == KubernetesJobs::kContainers, sum);
      first = false;
      if (naming.jobs == KubernetesJobs::kContainers)
        AddTask(naming.JobOf(workload, container.name), *pod, sum, machine);
    }
    if (naming.jobs == KubernetesJobs::kPods && !pod->containers.empty())
      AddTask(naming.JobOf(workload, ""), *pod, sum, machine);
  });
  return out;
}

}  // namespace taut::server
