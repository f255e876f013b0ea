// KubernetesActuator: CPU limits of containers in their first minutes. The limit is set when the pod is created,
// or later in place. The limit is removed in place.
#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"

namespace taut::server {
namespace {

// Maximum difference between the clocks of nodes and of this machine. A start further in the future has a wrong
// time.
constexpr int64_t kClocksApartSeconds = 120;
// Maximum time for which a pod that fits on no node keeps its start-up limit.
constexpr double kUnscheduledSeconds = 60;
// Length of an interval in which ends of start-up windows are handled in one step. 10,000 pods may start together.
constexpr double kTogetherSeconds = 5;

}  // namespace

std::optional<double> KubernetesActuator::StartupEnd(const PodTerms& terms, const Pod& pod,
                                                     const ContainerState& container,
                                                     Startup& startup) const {
  const double now_s = options_.steady_s();
  const auto window_s = static_cast<double>(terms.startup_window_s);
  if (container.running && container.started_s == 0) return std::nullopt;  // the start time is unknown
  if (!container.running) {
    // The container is about to start or restart, so its amounts are not changed yet.
    if (startup.seen_s == 0) startup.seen_s = now_s;
    const double end_s = startup.seen_s + (pod.node.empty() ? kUnscheduledSeconds : window_s);
    return now_s < end_s ? std::optional(end_s) : std::nullopt;
  }
  startup.seen_s = 0;
  const int64_t started_s = container.started_s;
  if (started_s != startup.started_s) {
    const bool ended_early =
        startup.started_s != 0 && started_s - startup.started_s < 2 * terms.startup_window_s;
    const Startup before = startup;
    startup = {.started_s = started_s, .in_row = ended_early ? before.in_row + 1 : 0};
    if (before.started_s == 0) {  // an amount set before the start belongs to this start
      startup.cores = before.cores;
      startup.refused = before.refused;
    }
  }
  const int64_t age_s = options_.unix_s() - started_s;
  if (age_s < -kClocksApartSeconds || age_s >= terms.startup_window_s) return std::nullopt;
  return now_s + static_cast<double>(terms.startup_window_s - std::max<int64_t>(age_s, 0));
}

StandingOrder KubernetesActuator::OrderNow(const Aim& aim, PodMemory& memory) {
  const PodTerms& terms = aim.work.terms;
  const StandingOrder& order = aim.standing;
  const Pod& pod = aim.pod;
  if (aim.work.key.second != Target(Resource::kCpu) || terms.startup_window_s <= 0 ||
      !order.value.has_value()) {
    memory.startup.reset();
    return order;
  }
  if (memory.startup == nullptr) memory.startup = std::make_unique<Startup>();
  Startup& startup = *memory.startup;
  const std::optional<double> end_s = StartupEnd(terms, pod, aim.container, startup);
  startup.is_young = end_s.has_value();
  if (!startup.is_young) startup.cores.reset();
  if (!startup.is_young || startup.given_up()) return order;
  StandingOrder out = order;
  if (!startup.cores.has_value()) {
    // Do not raise a pod that waits for a node, because it may fit on a node with less CPU.
    const bool waits_for_a_node = pod.node.empty() && !pod.admitted_by_us;
    Aim of_start = aim;
    of_start.order.value = out.value = StartupCores(terms, *order.value);
    if (waits_for_a_node || !out.value.has_value() || !Wanted(of_start).ok()) return order;
    startup.cores = out.value;
    const std::lock_guard lock(mutex_);
    ++counts_.startups;
  }
  // The container keeps the amount of its start, because each change is a resize. A higher order still applies.
  out.value = std::max(*startup.cores, *order.value);
  Again(aim.work.key, std::ceil(*end_s / kTogetherSeconds) * kTogetherSeconds);
  return out;
}

void KubernetesActuator::JudgeStartup(const Work& work, const Pod& pod, PodMemory& memory,
                                      PodResult& result) {
  result.evict_after_s.reset();
  // The kubelet's message is about the whole pod, so it may concern another resource or container.
  const ContainerState* const container = ResizedContainer(pod, work.workload.container);
  if (container != nullptr && memory.confirmed && RunsWith(*container, Resource::kCpu, memory.patched))
    return;
  const bool was_refused = result.state == PodState::kProblem && memory.hold_until_s == 0 &&
                           (!memory.problem.empty() || pod.resize == ResizeState::kInfeasible ||
                            pod.resize == ResizeState::kError);
  if (!was_refused) return;
  memory.startup->refused = true;
  memory.startup->cores.reset();
  memory.retry_at_s = 0;
  result = {PodState::kWaiting, StrCat("its start-up limit cannot be set: ", result.text), {}};
  Again(work.key, options_.steady_s());
}

}  // namespace taut::server
