// KubernetesActuator: receives and stores orders, reports outcomes, and returns the orders for new pods.
#include <utility>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"

namespace taut::server {
namespace {

// Returns the outcome of an order that no actuator claims. The first of several actuators receives such orders.
OutcomeUpdate NotOurs(const TargetOrder& order, int64_t now_s) {
  OutcomeUpdate out;
  out.id = order.decision;
  out.outcome = Outcome::kDryRun;
  out.text =
      order.target.is_replicas()
          ? "not applied: kubernetes.scale is false, or the job is not a workload of kubernetes.namespaces"
          : "not applied: the job is not a workload of kubernetes.namespaces";
  out.time_s = now_s;
  return out;
}

}  // namespace

std::vector<PodOrder> KubernetesActuator::OrdersFor(const Pod& pod) const {
  std::vector<PodOrder> out;
  if (!WhyNot().empty()) return out;
  // Pods of these kinds may be split into several jobs, so before the sync the pod's job may be unknown.
  const bool may_be_split = pod.owner_kind == "DaemonSet" || pod.owner_kind == "StatefulSet";
  if (may_be_split && !cluster_->synced()) return out;
  const std::string workload = WorkloadKey(cluster_->pods().WorkloadOf(pod));
  const std::lock_guard lock(mutex_);
  const auto keys = by_workload_.find(workload);
  if (keys == by_workload_.end()) return out;
  for (const StandingOrders::Key& key : keys->second) {
    const StandingOrders::Entry* entry = orders_.Find(key);
    const auto terms = terms_.find(key);
    if (entry == nullptr || !entry->all.has_value() || terms == terms_.end()) continue;
    const WorkloadName& name = entry->workload;
    const std::optional<double> amount = terms->second.Held(*entry->all).value;
    // Skip the order, because the template already contains its amounts.
    if (!amount.has_value() || terms->second.in_template) continue;
    const ContainerState* container = ResizedContainer(pod, name.container);
    if (container == nullptr) continue;
    FieldClaims claims = ClaimsOn(name, *container, key.second.resource());
    if (!claims.set_by.empty()) continue;
    PodOrder& order = out.emplace_back();
    order.container = name.container;
    order.resource = key.second.resource();
    order.amount = *amount;
    order.allocation = terms->second.allocation;
    order.scaled_by = std::move(claims.scaled_by);
    if (resizes_) order.at_start = StartupCores(terms->second, order.amount);
  }
  return out;
}

bool KubernetesActuator::Claims(const TargetOrder& order) const {
  if (order.target.is_replicas() && !options_.scale) return false;
  const std::optional<WorkloadName> workload = cluster_->naming().Of(order.workload);
  return workload.has_value() && IsOurs(*workload);
}

void KubernetesActuator::Index(const StandingOrders::Key& key) {
  by_workload_[WorkloadKey(orders_.Find(key)->workload)].insert(key);
  due_.insert(key);
  has_new_orders_ = true;
}

void KubernetesActuator::Unindex(const StandingOrders::Key& key) {
  const auto it = by_workload_.find(WorkloadKey(orders_.Find(key)->workload));
  if (it == by_workload_.end()) return;
  it->second.erase(key);
  if (it->second.empty()) by_workload_.erase(it);
}

void KubernetesActuator::Apply(std::span<const TargetOrder> orders, int64_t now_s) {
  {
    const std::lock_guard lock(mutex_);
    for (const TargetOrder& order : orders) {
      if (!Claims(order)) {
        if (!IsFinal(order.known)) outcomes_.push_back(NotOurs(order, now_s));
        continue;
      }
      if (order.target.is_replicas()) {
        // Do not repeat an order with a final outcome, because another program may have changed the number of
        // replicas meanwhile.
        if (IsFinal(order.known)) continue;
        scales_.insert_or_assign(order.job, ScaleOrder{order, 0, ""});
        has_new_scale_ = true;
        continue;
      }
      orders_.Take(order, *cluster_->naming().Of(order.workload), now_s, outcomes_);
      Index({order.job, order.target});
    }
  }
  // Notify after the lock is released, because the woken thread takes the lock at once.
  wake_.notify_all();
}

std::vector<OutcomeUpdate> KubernetesActuator::TakeOutcomes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

std::string KubernetesActuator::SaveState() const {
  const std::lock_guard lock(mutex_);
  std::string state;
  ByteWriter out(&state);
  orders_.Save(out);
  return state;
}

void KubernetesActuator::LoadState(std::string_view state) {
  ByteReader in(state);
  const ClusterNaming& naming = cluster_->naming();
  const std::lock_guard lock(mutex_);
  (void)orders_.Load(in, [&naming](std::string_view job) { return naming.OfStoredName(job); });
  for (const auto& [key, entry] : orders_.entries()) Index(key);
}

}  // namespace taut::server
