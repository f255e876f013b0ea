// KubernetesActuator: sets the amounts of one container of a running pod through pods/resize.
#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

// Returns true for errors that show that pods cannot be resized in place. An API server before 1.33 returns
// NotFound without the pod's name, and version 1.33 rejects a lower memory limit.
bool HasNoResize(const absl::Status& status) {
  const std::string_view text = Message(status);
  return absl::IsNotFound(status)
             ? text.find("could not find the requested resource") != std::string_view::npos
             : text.find("memory limits cannot be decreased") != std::string_view::npos;
}

// Returns the container with its owner's amounts; nullopt if these are unknown.
std::optional<ContainerState> OwnersOf(const Pod& pod, const ContainerState& container) {
  if (!pod.owners_known || !container.knows_owner()) return std::nullopt;
  ContainerState out = container;
  out.requests = container.owner_requests;
  out.limits = container.owner_limits;
  return out;
}

}  // namespace

OrderedAmount KubernetesActuator::AmountOf(const Aim& aim) {
  return {aim.resource(), *aim.order.value, aim.work.terms.allocation, aim.claims.scaled_by};
}

void KubernetesActuator::PodMemory::Note(const Aim& aim) {
  amount = aim.order.value;
  standing = aim.standing.value;
  allocation = aim.work.terms.allocation;
  request_stayed = aim.request_stays();
}

bool KubernetesActuator::PodMemory::IsOf(const Aim& aim, const ContainerResources& wanted) const {
  if (!aim.order.value.has_value()) return !amount.has_value() && patched == wanted;
  return amount == aim.order.value && allocation == aim.work.terms.allocation &&
         request_stayed == aim.request_stays();
}

KubernetesActuator::PodResult KubernetesActuator::EnforceInPlace(const Work& work, const Pod& pod,
                                                                 const StandingOrder& standing,
                                                                 PodMemory& memory) {
  const ContainerState* container = ResizedContainer(pod, work.workload.container);
  if (container == nullptr) {
    return {
        PodState::kProblem,
        StrCat("pod ", FullName(pod), " has ", pod.containers.size(),
               " containers: set ingest.kubernetes_jobs: containers, so that each has limits of its own")};
  }
  Aim aim{work,    pod, *container, standing, ClaimsOn(work.workload, *container, work.key.second.resource()),
          standing};
  if (!aim.claims.set_by.empty()) return LeaveToAnother(aim, memory);
  aim.order = OrderNow(aim, memory);
  const absl::StatusOr<ContainerResources> wanted = Wanted(aim);
  if (!wanted.ok()) return NotPlanned(aim, wanted.status());
  // The pod's specification already has the amounts, so follow the kubelet's progress instead of patching again.
  if (SpecHas(*container, aim.resource(), *wanted)) return WaitForKubelet(aim, *wanted, memory);
  if (std::string why = WhyNot(); !why.empty()) {
    memory.Renew();  // another tautd may change the amounts meanwhile
    might_ = false;
    return {PodState::kWaiting, std::move(why)};
  }
  NoteAim(aim, *wanted, memory);
  if (std::optional<PodResult> waits = WaitToPatch(aim, *wanted, memory)) return *std::move(waits);
  const PodResult result = Patch(aim, *wanted, memory);
  if (memory.retry_at_s > 0) Again(work.key, memory.retry_at_s);
  return result;
}

KubernetesActuator::PodResult KubernetesActuator::LeaveToAnother(const Aim& aim, PodMemory& memory) {
  memory = PodMemory();  // the other program may change the amounts
  if (!aim.standing.value.has_value()) return {PodState::kDone, ""};
  return {PodState::kProblem,
          StrCat("pod ", FullName(aim.pod), ": ", aim.claims.set_by, " sets the ", Name(aim.resource()),
                 " of container ", aim.container.name,
                 "; set its updateMode to Off, or name the recommender tautline, to let Tautline set it")};
}

KubernetesActuator::PodResult KubernetesActuator::WaitForKubelet(const Aim& aim,
                                                                 const ContainerResources& wanted,
                                                                 PodMemory& memory) {
  std::optional<PodResult> refused = WithdrawShrink(aim, memory);
  if (!refused.has_value()) memory.Renew();
  memory.patched = wanted;
  memory.Note(aim);
  // Tautline withdraws a refused amount itself, so its absence is not a change by another program.
  memory.confirmed = !refused.has_value();
  return refused.has_value() ? *std::move(refused) : Waiting(aim, wanted);
}

void KubernetesActuator::NoteAim(const Aim& aim, const ContainerResources& wanted, PodMemory& memory) {
  const bool same_order = memory.IsOf(aim, wanted);
  // The watch showed the amounts and the order is unchanged, but the amounts are gone, so another program changed
  // the amounts.
  if (memory.confirmed && same_order && memory.hold_until_s == 0) {
    memory.hold_until_s = options_.steady_s() + options_.step_back_s;
    const std::lock_guard lock(mutex_);
    ++counts_.stepped_back;
  }
  if (!same_order) {
    // The end of a start is not a new order, so continue to step back from another program's change.
    const bool same_standing = memory.startup != nullptr && memory.standing == aim.standing.value &&
                               memory.allocation == aim.work.terms.allocation;
    const double hold_until_s = same_standing ? memory.hold_until_s : 0;
    memory.Renew();
    memory.hold_until_s = hold_until_s;
  }
  memory.Note(aim);
}

std::optional<KubernetesActuator::PodResult> KubernetesActuator::WaitToPatch(const Aim& aim,
                                                                             const ContainerResources& wanted,
                                                                             PodMemory& memory) {
  const double now_s = options_.steady_s();
  const auto wait = [&](double until_s, PodResult result) {
    Again(aim.work.key, until_s);
    return result;
  };
  // Check in this order: a change by another program, refusals of the kubelet, the startup grace, the retry delay.
  if (now_s < memory.hold_until_s) {
    return wait(memory.hold_until_s,
                {PodState::kProblem,
                 StrCat("pod ", FullName(aim.pod), ": another has changed the ", Name(aim.resource()),
                        " limit or request that was set; it is left alone for ",
                        std::lround(options_.step_back_s / 60), " minutes")});
  }
  if (std::optional<PodResult> waits = WaitToShrink(aim, wanted, memory)) return waits;
  const Startup* startup = memory.startup.get();
  const bool may_wait =
      aim.order.value.has_value() && (startup == nullptr || (startup->is_young && !startup->given_up()));
  const int64_t grace_s = may_wait && Lowers(aim.container, aim.resource(), wanted)
                              ? GraceLeft(aim.pod, aim.container, aim.work.terms.startup_grace_s)
                              : 0;
  if (grace_s > 0) {
    return wait(
        now_s + static_cast<double>(grace_s),
        {PodState::kWaiting, StrCat("pod ", FullName(aim.pod), " starts: nothing is lowered for another ",
                                    grace_s, " s (startup_grace)")});
  }
  if (now_s >= memory.retry_at_s) return std::nullopt;
  return wait(memory.retry_at_s, {memory.problem.empty() ? PodState::kWaiting : PodState::kProblem,
                                  memory.problem, memory.cannot_resize ? EvictAfter(false) : std::nullopt});
}

KubernetesActuator::PodResult KubernetesActuator::NotPlanned(const Aim& aim, const absl::Status& why) {
  Again(aim.work.key, RetryAt(why));
  PodResult out{MayPass(why) ? PodState::kWaiting : PodState::kProblem, std::string(Message(why)), {}};
  // Evict only if the pod fits on another node.
  if (aim.order.value.has_value() && absl::IsFailedPrecondition(why) &&
      PlanResize(aim.pod, aim.container, AmountOf(aim), cluster_->nodes().LargestFor(aim.pod).amounts).ok()) {
    out.evict_after_s = EvictAfter(false);
  }
  return out;
}

absl::StatusOr<ContainerResources> KubernetesActuator::Wanted(const Aim& aim) {
  if (!aim.order.value.has_value()) return OwnersAmounts(aim);
  const OrderedAmount amount = AmountOf(aim);
  // Plan from aim.pod, which includes patches that the watch does not show yet (AsSent). A plan from the old
  // request would repeat a patch.
  absl::StatusOr<ContainerResources> here =
      PlanResize(aim.pod, aim.container, amount, cluster_->nodes().Allocatable(aim.pod.node));
  if (here.ok()) return here;
  // The container may already run with a limit above the size of its node, if the node has room for its request.
  absl::StatusOr<ContainerResources> anywhere = PlanResize(aim.pod, aim.container, amount, std::nullopt);
  return anywhere.ok() && SpecHas(aim.container, amount.resource, *anywhere) ? anywhere : here;
}

absl::StatusOr<ContainerResources> KubernetesActuator::OwnersAmounts(const Aim& aim) {
  const Resource resource = aim.resource();
  const Pod& pod = aim.pod;
  const ContainerState& container = aim.container;
  // A pod that Tautline never resized still has its owner's amounts.
  if (!pod.resized_by_us) {
    return ContainerResources{container.requests.of(resource), container.limits.of(resource)};
  }
  const std::string key =
      StrCat(aim.work.workload.namespace_name, "/", aim.work.workload.kind, "/", aim.work.workload.name);
  auto it = templates_.find(key);
  if (it == templates_.end()) {
    absl::StatusOr<std::vector<ContainerState>> containers = writer_->Template(aim.work.workload);
    if (!containers.ok()) {
      // There is no template if the owner is a custom resource or the pod has no controller.
      const std::optional<ContainerState> owners =
          absl::IsInvalidArgument(containers.status()) ? OwnersOf(pod, container) : std::nullopt;
      if (owners.has_value()) return PlanRelease(pod, container, resource, *owners);
      return absl::Status(containers.status().code(),
                          StrCat("the owner's limit is not known: ", Message(containers.status())));
    }
    it = templates_.emplace(key, *std::move(containers)).first;
  }
  for (const ContainerState& in_template : it->second) {
    if (in_template.name != container.name) continue;
    const double noted = in_template.noted_limits.of(resource).value_or(0);
    if (noted > cluster_->nodes().LargestFor(pod).amounts.of(resource).value_or(noted)) {
      return absl::FailedPreconditionError(
          StrCat("the owner's limit is not known: the annotation ", kOwnersAnnotation, " of ", key, " says ",
                 Quantity(resource, noted), ", which is more than any node has"));
    }
    absl::StatusOr<ContainerResources> out = PlanRelease(pod, container, resource, in_template);
    if (out.ok() && out->limit.has_value() && resource == Resource::kMemory) *out->limit += PageMore(pod);
    return out;
  }
  return absl::FailedPreconditionError(
      StrCat("the owner's limit is not known: the template of ", key, " has no container ", container.name));
}

int64_t KubernetesActuator::GraceLeft(const Pod& pod, const ContainerState& container,
                                      int64_t grace_s) const {
  const int64_t started_s = std::max(pod.started_s, container.started_s);
  if (started_s == 0) return 0;
  const int64_t age_s = std::max<int64_t>(0, options_.unix_s() - started_s);
  return std::max<int64_t>(0, grace_s - age_s);
}

KubernetesActuator::PodResult KubernetesActuator::Waiting(const Aim& aim,
                                                          const ContainerResources& wanted) const {
  const Pod& pod = aim.pod;
  const auto with = [&](PodState state, std::string_view what, std::optional<double> evict_after_s = {}) {
    return PodResult{
        state,
        StrCat("pod ", FullName(pod), ": ", what, pod.resize_message.empty() ? "" : ": ", pod.resize_message),
        evict_after_s};
  };
  // If the container runs with the amounts, the kubelet's message is about another resource or container.
  const bool runs = RunsWith(aim.container, aim.resource(), wanted);
  switch (pod.resize) {
    case ResizeState::kDeferred:
      return with(PodState::kWaiting, "deferred by the kubelet", runs ? std::nullopt : EvictAfter(true));
    case ResizeState::kInfeasible:
      return with(PodState::kProblem, "infeasible on this node", runs ? std::nullopt : EvictAfter(false));
    case ResizeState::kError:
      return with(PodState::kProblem, "the kubelet failed to resize it");
    case ResizeState::kInProgress:
      return with(PodState::kWaiting, "the kubelet is resizing it");
    case ResizeState::kNone:
      break;
  }
  if (runs) return {PodState::kDone, ""};
  return {PodState::kWaiting, StrCat("pod ", FullName(pod), ": the kubelet has not taken it yet")};
}

// Returns the steady time of the retry after a request failed with `status`.
double KubernetesActuator::RetryAt(const absl::Status& status) const {
  return options_.steady_s() +
         (MayPass(status) ? std::max(options_.retry_s, writer_->retry_after_s()) : options_.refused_retry_s);
}

KubernetesActuator::PodResult KubernetesActuator::Patch(const Aim& aim, const ContainerResources& wanted,
                                                        PodMemory& memory) {
  const Pod& pod = aim.pod;
  const ContainerState& container = aim.container;
  const Resource resource = aim.resource();
  const double now_s = options_.steady_s();
  const absl::Status status = writer_->ResizePod(pod, ResizePatch(container, resource, wanted));
  {
    const std::lock_guard lock(mutex_);
    ++(status.ok() ? counts_.resizes : counts_.failed);
  }
  memory.patched = wanted;
  memory.problem.clear();
  memory.cannot_resize = HasNoResize(status);
  // A rejection of a lower memory limit is no evidence about CPU.
  if (status.ok() || (memory.cannot_resize && absl::IsNotFound(status))) {
    const std::lock_guard lock(mutex_);
    resizes_ = status.ok();
  }
  if (status.ok()) {
    // When the watch shows the patch, the change of the pod makes the order due again. If the watch does not show
    // the patch in time, the patch is repeated.
    memory.retry_at_s = now_s + options_.unseen_s;
    sent_[pod.uid].push_back({container.name, resource, wanted, memory.retry_at_s});
    return {PodState::kWaiting, StrCat("pod ", FullName(pod), ": the kubelet has not taken it yet")};
  }
  const std::string text = StrCat(
      "pod ", FullName(pod), ": ", Message(status),
      container.of_pod(resource) && !MayPass(status)
          ? "; resources of a whole pod (spec.resources) are resized by Kubernetes with the feature gate "
            "InPlacePodLevelResourcesVerticalScaling"
          : "");
  memory.retry_at_s = RetryAt(status);
  if (!MayPass(status)) memory.problem = text;
  return {MayPass(status) ? PodState::kWaiting : PodState::kProblem, text,
          memory.cannot_resize ? EvictAfter(false) : std::nullopt};
}

}  // namespace taut::server
