// KubernetesActuator: sets numbers of tasks through the scale subresource.
#include <cmath>
#include <iterator>
#include <utility>

#include "common/base/strings.h"
#include "server/kubernetes/act/kubernetes_actuator.h"

namespace taut::server {

std::vector<KubernetesActuator::ScaleOrder> KubernetesActuator::TakeScales() {
  const double now_s = options_.steady_s();
  const std::lock_guard lock(mutex_);
  std::vector<ScaleOrder> out;
  for (auto it = scales_.begin(); it != scales_.end();) {
    const bool is_due = it->second.at_s <= now_s;
    if (is_due) out.push_back(std::move(it->second));
    it = is_due ? scales_.erase(it) : std::next(it);
  }
  return out;
}

void KubernetesActuator::Scale(ScaleOrder scale) {
  const absl::Status status = TryScale(scale.order);
  const double retry_at_s = RetryAt(status);
  OutcomeUpdate outcome;
  outcome.id = scale.order.decision;
  outcome.time_s = options_.unix_s();
  outcome.text = status.ok() ? "the workload's scale was set" : std::string(Message(status));
  const bool again = MayPass(status);
  outcome.outcome = status.ok() ? Outcome::kApplied : again ? Outcome::kPending : Outcome::kFailed;
  const std::lock_guard lock(mutex_);
  ++(status.ok() ? counts_.scales : counts_.failed);
  if (outcome.text != scale.last_text) outcomes_.push_back(outcome);
  // Keep a newer order for the job, if there is one.
  if (again) {
    scales_.try_emplace(scale.order.job, ScaleOrder{scale.order, retry_at_s, std::move(outcome.text)});
  }
}

absl::Status KubernetesActuator::TryScale(const TargetOrder& order) {
  const std::optional<WorkloadName> workload = cluster_->naming().Of(order.workload);
  if (!workload.has_value())
    return absl::InvalidArgumentError("the job is none of a workload of the cluster");
  if (!order.value.has_value()) return absl::OkStatus();  // leave the owner's number in place
  if (const std::string why = WhyNot(); !why.empty()) return absl::AbortedError(why);
  if (!workload->group.empty() || cluster_->pods().IsSplit(*workload)) {
    return absl::FailedPreconditionError(
        "the pods of this workload are several jobs (tautline.dev/split): their number of replicas cannot be "
        "set "
        "by one of them");
  }
  if (!workload->container.empty()) {
    for (const PodPtr& pod : cluster_->pods().Of(*workload)) {
      if (pod->containers.size() > 1) {
        return absl::FailedPreconditionError(
            StrCat("pod ", FullName(*pod), " has ", pod->containers.size(),
                   " containers, and each is a job: their number of replicas cannot be set by one of them"));
      }
    }
  }
  if (options_.owners != nullptr && !options_.owners->KnowsScaledObjects()) {
    return absl::AbortedError(
        "the ScaledObjects of the cluster are not known yet: tautd has to list and watch them");
  }
  const std::string owner = options_.owners == nullptr ? "" : options_.owners->ReplicasOwner(*workload);
  if (!owner.empty()) {
    return absl::FailedPreconditionError(
        StrCat(owner, " sets the replicas of this workload; delete it to let Tautline set them"));
  }
  return writer_->Scale(*workload, std::llround(*order.value));
}

}  // namespace taut::server
