// KubernetesActuator: withdraws a lower memory limit that the kubelet refuses because usage, including the page
// cache, is above the limit. While a resize is refused, the kubelet resizes nothing else in the pod, neither CPU
// nor other containers.
//
// Source: Kubernetes 1.35, pkg/kubelet/kuberuntime, validatePodResizeAction.
#include <cmath>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"

namespace taut::server {
namespace {

// Returns true if the kubelet's message refuses a lower memory limit of this container or of the pod.
bool RefusesShrink(const Pod& pod, const ContainerState& container) {
  const std::string_view text = pod.resize_message;
  if (pod.resize != ResizeState::kError) return false;
  if (text.find("cannot decrease memory limits") == std::string_view::npos) return false;
  return text.find(StrCat("container \"", container.name, "\"")) != std::string_view::npos ||
         text.find("pod memory limit") != std::string_view::npos;
}

}  // namespace

std::optional<KubernetesActuator::PodResult> KubernetesActuator::WithdrawShrink(const Aim& aim,
                                                                                PodMemory& memory) {
  const Pod& pod = aim.pod;
  const ContainerState& container = aim.container;
  if (aim.resource() != Resource::kMemory || !RefusesShrink(pod, container)) return std::nullopt;
  const ContainerResources runs = {container.actual_requests.memory, container.actual_limits.memory};
  const std::optional<double>& asked = container.limits.memory;
  if (!runs.limit.has_value() || !asked.has_value() || *runs.limit <= *asked) return std::nullopt;
  if (!WhyNot().empty()) {
    might_ = false;
    return std::nullopt;
  }
  const double now_s = options_.steady_s();
  if (now_s < memory.withdraw_at_s) {  // the last withdrawal failed, or the watch does not show it yet
    Again(aim.work.key, memory.withdraw_at_s);
    return memory.problem.empty() ? ShrinkWaits(pod) : PodResult{PodState::kProblem, memory.problem, {}};
  }
  const absl::Status status = writer_->ResizePod(pod, ResizePatch(container, Resource::kMemory, runs));
  {
    const std::lock_guard lock(mutex_);
    ++(status.ok() ? counts_.resizes : counts_.failed);
  }
  memory.withdraw_at_s = status.ok() ? now_s + options_.unseen_s : RetryAt(status);
  Again(aim.work.key, memory.withdraw_at_s);
  memory.problem = status.ok() ? "" : StrCat("pod ", FullName(pod), ": ", Message(status));
  if (!status.ok()) return PodResult{PodState::kProblem, memory.problem, {}};
  memory.shrink_at_s = now_s + options_.refused_retry_s;
  return ShrinkWaits(pod);
}

std::optional<KubernetesActuator::PodResult> KubernetesActuator::WaitToShrink(
    const Aim& aim, const ContainerResources& wanted, PodMemory& memory) {
  if (memory.shrink_at_s == 0) return std::nullopt;
  if (options_.steady_s() >= memory.shrink_at_s || !Lowers(aim.container, Resource::kMemory, wanted)) {
    memory.shrink_at_s = memory.withdraw_at_s = memory.retry_at_s = 0;
    return std::nullopt;
  }
  Again(aim.work.key, memory.shrink_at_s);
  return ShrinkWaits(aim.pod);
}

KubernetesActuator::PodResult KubernetesActuator::ShrinkWaits(const Pod& pod) const {
  return {PodState::kWaiting,
          StrCat("pod ", FullName(pod),
                 ": its memory usage with the page cache is not below the new limit, which is tried every ",
                 std::lround(options_.refused_retry_s / 60), " minutes"),
          {}};
}

}  // namespace taut::server
