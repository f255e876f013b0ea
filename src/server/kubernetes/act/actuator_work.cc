// KubernetesActuator: sequence of the due orders. Raises precede cuts, because a job with too low a limit is at
// risk, while a cut can wait. A raise that arrives during cuts precedes the remaining cuts.
#include <algorithm>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"

namespace taut::server {

std::vector<KubernetesActuator::Work> KubernetesActuator::TakeWork() {
  std::vector<std::string> changed = cluster_->changes().TakeWorkloads();
  if (options_.owners != nullptr) {
    for (std::string& workload : options_.owners->TakeChanged()) changed.push_back(std::move(workload));
  }
  const double now_s = options_.steady_s();
  const std::lock_guard lock(mutex_);
  for (const std::string& workload : changed) {
    if (const auto it = by_workload_.find(workload); it != by_workload_.end())
      due_.insert(it->second.begin(), it->second.end());
    // Claims of another field manager affect all groups of a workload. The keys of the groups begin with the
    // workload's key (KeyOfGroup).
    const std::string groups = StrCat(workload, std::string(1, kGroupMark));
    for (auto it = by_workload_.lower_bound(groups);
         it != by_workload_.end() && it->first.starts_with(groups); ++it)
      due_.insert(it->second.begin(), it->second.end());
  }
  for (auto it = again_.begin(); it != again_.end();) {
    const bool is_due = it->second <= now_s;
    if (is_due) due_.insert(it->first);
    it = is_due ? again_.erase(it) : std::next(it);
  }
  // Clear has_new_orders_ in the critical section that empties due_, so that a later order sets it again.
  has_new_orders_ = false;
  std::vector<Work> out;
  for (const StandingOrders::Key& key : std::exchange(due_, {})) {
    const StandingOrders::Entry* entry = orders_.Find(key);
    if (entry == nullptr || entry->workload.kind.empty()) continue;
    out.push_back({key, *entry, entry->workload, {}});
  }
  return out;
}

void KubernetesActuator::Again(const StandingOrders::Key& key, double at_s) {
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = again_.try_emplace(key, at_s);
  if (!is_new) it->second = std::min(it->second, at_s);
}

// Returns true if a pod's amount is below its order.
bool KubernetesActuator::Raises(const Work& work) const {
  const Resource resource = work.key.second.resource();
  return std::ranges::any_of(cluster_->pods().Of(work.workload), [&](const PodPtr& pod) {
    const StandingOrder* const order = work.entry.Of(pod->name);
    const ContainerState* const container = ResizedContainer(*pod, work.workload.container);
    if (order == nullptr || !order->value.has_value() || container == nullptr) return false;
    const std::optional<double>& limit = container->limits.of(resource);
    return *order->value > (limit.has_value() ? limit : container->requests.of(resource)).value_or(0);
  });
}

void KubernetesActuator::SortIn(std::vector<Work> taken, WorkQueues& queues) const {
  for (Work& work : taken) {
    const StandingOrders::Key key = work.key;
    const bool raises = Raises(work);
    // Replace earlier work with this key, because its order is older.
    queues.raises.erase(key);
    queues.others.erase(key);
    (raises ? queues.raises : queues.others).emplace(key, std::move(work));
  }
}

std::optional<KubernetesActuator::Work> KubernetesActuator::WorkQueues::Next() {
  std::map<StandingOrders::Key, Work>& from = raises.empty() ? others : raises;
  if (from.empty()) return std::nullopt;
  return std::move(from.extract(from.begin()).mapped());
}

}  // namespace taut::server
