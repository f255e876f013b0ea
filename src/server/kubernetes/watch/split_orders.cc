#include "server/kubernetes/watch/split_orders.h"

#include <utility>

#include "server/ingest/owners.h"

namespace taut::server {

void SplitOrders::Await() {
  const std::lock_guard lock(mutex_);
  awaited_ = {"DaemonSet", "StatefulSet"};
}

bool SplitOrders::listed() const {
  const std::lock_guard lock(mutex_);
  return awaited_.empty();
}

void SplitOrders::Note(const std::string& kind, const OwnedObject& object, const std::string& annotation) {
  const std::string workload = WorkloadKey(object.namespace_name, KindInNames(kind), object.name);
  {
    const std::lock_guard lock(mutex_);
    const auto it = orders_.find(workload);
    if ((it == orders_.end() ? "" : it->second.annotation) == annotation) return;
    if (annotation.empty()) {
      orders_.erase(it);
    } else {
      orders_.insert_or_assign(workload, Order{object.namespace_name, kind, object.name, annotation});
    }
  }
  // Call changed_ without the lock, because PodTable takes its own lock first and then calls this object.
  changed_(workload);
}

void SplitOrders::Replace(const std::string& kind, const std::vector<OwnedObject>& objects) {
  absl::flat_hash_map<std::string, Order> gone;
  {
    const std::lock_guard lock(mutex_);
    gone = orders_;
  }
  absl::erase_if(gone, [&kind](const auto& item) { return item.second.kind != kind; });
  for (const OwnedObject& object : objects) {
    gone.erase(WorkloadKey(object.namespace_name, KindInNames(kind), object.name));
    Put(kind, object);
  }
  for (const auto& [workload, order] : gone) {
    OwnedObject object;
    object.namespace_name = order.namespace_name;
    object.name = order.name;
    Remove(kind, object);
  }
  // Erase the kind last, because listed() means that all pods have their groups.
  const std::lock_guard lock(mutex_);
  awaited_.erase(kind);
}

SplitBy SplitOrders::Of(const Pod& pod) const {
  const std::lock_guard lock(mutex_);
  if (orders_.empty() && !by_nodes_) return SplitBy::kNone;
  const auto it = orders_.find(WorkloadKey(pod.namespace_name, KindInNames(pod.owner_kind), pod.owner_name));
  return SplitOf(pod.owner_kind, it == orders_.end() ? "" : it->second.annotation, by_nodes_);
}

std::string SplitOrders::WrongOf(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  const auto it = orders_.find(WorkloadKey(workload.namespace_name, workload.kind, workload.name));
  return it == orders_.end() ? "" : WrongSplit(it->second.kind, it->second.annotation, by_nodes_);
}

}  // namespace taut::server
