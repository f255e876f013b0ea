// KubernetesActuator: limits in the kernel. If a resize coincides with a restart of the container, the container's
// cgroup has the new limit, but the pod's cgroup keeps the old one. The kernel then kills at the old limit.
#include <algorithm>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

constexpr double kConfirmSeconds = 20;  // time after a resize in which a report may be older than the resize
constexpr double kEvictSeconds = 60;    // wait after a resize that did not help, before an eviction
constexpr double kPageBytes = 4096;
constexpr double kRounding = 1e-3;

bool IsRunning(const Pod& pod) {
  for (const ContainerState& container : pod.containers) {
    if (!container.running) return false;
  }
  return true;
}

}  // namespace

void KubernetesActuator::NoteKernel() {
  if (options_.kernel == nullptr) return;
  const std::map<std::string, KernelLimits::Report> reports = options_.kernel->reports();
  std::set<std::string> there;
  cluster_->pods().ForEach([&](const PodPtr& pod, const WorkloadName& workload) {
    if (!pod->resized_by_us) return;
    there.insert(pod->uid);
    if (const auto report = reports.find(pod->uid); report != reports.end())
      JudgeKernel(*pod, workload, report->second);
  });
  std::erase_if(low_, [&](const auto& item) { return !there.contains(item.first); });
}

void KubernetesActuator::JudgeKernel(const Pod& pod, const WorkloadName& workload,
                                     const KernelLimits::Report& report) {
  const std::optional<double> needed = NeededPodLimit(pod);
  if (!needed.has_value() || !IsRunning(pod)) return;
  const double now_s = options_.steady_s();
  const bool is_low = report.bytes < *needed * (1 - kRounding);
  const auto known = low_.find(pod.uid);
  if (!is_low) {
    if (known == low_.end()) return;
    // Keep the extra page, because removing it would be one more resize.
    known->second.is_low = known->second.evict = false;
    if (!known->second.resized_s.has_value()) low_.erase(known);
    return;
  }
  if (known == low_.end() || !known->second.is_low) {
    LowPod& low = low_[pod.uid];
    low.is_low = true;
    low.since_s = now_s;
    low.reported_s = report.at_s;
    return;
  }
  LowPod& low = known->second;
  if (now_s - low.since_s < kConfirmSeconds || report.at_s <= low.reported_s) return;
  low.text =
      StrCat("pod ", FullName(pod), ": the kernel holds it to ", Quantity(Resource::kMemory, report.bytes),
             ", and its containers run with ", Quantity(Resource::kMemory, *needed));
  if (!low.resized_s.has_value()) return ResizeOnceMore(pod, workload, low);
  if (now_s - std::max(*low.resized_s, low.since_s) < kEvictSeconds || low.evict) return;
  low.evict = true;
  // Make the pod's memory orders due, so that EnforcePod() evicts the pod.
  const std::lock_guard lock(mutex_);
  if (const auto keys = by_workload_.find(WorkloadKey(workload)); keys != by_workload_.end())
    due_.insert(keys->second.begin(), keys->second.end());
}

void KubernetesActuator::ResizeOnceMore(const Pod& pod, const WorkloadName& workload, LowPod& low) {
  low.resized_s = options_.steady_s();
  WorkloadName name = workload;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.kernel_low;
    for (const ContainerState& container : pod.containers) {
      const Workload job = cluster_->naming().IdentityOf(workload, container.name);
      const StandingOrders::Key key{job.JobName(), Resource::kMemory};
      name.container = job.container;
      // A released job has no order, so adopt an order for the owner's amounts.
      orders_.Adopt(key, name);
      Index(key);
    }
  }
  if (options_.kernel_low && !pod.containers.empty()) options_.kernel_low(name, pod, low.text);
}

double KubernetesActuator::PageMore(const Pod& pod) const {
  const auto low = low_.find(pod.uid);
  return low != low_.end() && low->second.resized_s.has_value() ? kPageBytes : 0;
}

StandingOrder KubernetesActuator::OnceMore(const Work& work, const Pod& pod,
                                           const StandingOrder& order) const {
  if (!order.value.has_value() || work.key.second != Target(Resource::kMemory)) return order;
  return {order.decision, *order.value + PageMore(pod)};
}

}  // namespace taut::server
