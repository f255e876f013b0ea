#include "server/control/ordered_replicas.h"

#include "common/base/strings.h"

namespace taut::server {

absl::StatusOr<int64_t> OrderedReplicas(const brain::LiveJob& job) {
  const std::string& name = job.record->name;
  const brain::JobPolicy& policy = *job.policy;
  if (policy.mode != Mode::kCanary && policy.mode != Mode::kAuto) {
    return absl::FailedPreconditionError(StrCat("job ", name, " is in mode ", Name(policy.mode),
                                                ", in which nothing is ordered: set its mode to auto"));
  }
  if (policy.replica_policy.empty() || job.replicas == nullptr) {
    return absl::FailedPreconditionError(
        StrCat("job ", name, " has no policy for its number of tasks: set its replicas.policy"));
  }
  const std::optional<int> ordered = job.replicas->figures().in_force;
  if (!ordered.has_value()) {
    const std::string_view hold = job.replicas->figures().hold;
    return absl::FailedPreconditionError(
        StrCat("job ", name, " has no ordered number of tasks so far", hold.empty() ? "" : ": ", hold));
  }
  return *ordered;
}

absl::StatusOr<int64_t> OrderedReplicas(const ControlPlane& control, const std::string& job) {
  absl::StatusOr<int64_t> out = absl::NotFoundError(
      StrCat("no job ", job, ": give its name as `taut status` shows it in the scaler metadata, key job"));
  const std::optional<JobId> id = control.Find(job);
  if (id.has_value()) {
    control.Look(*id, [&](const brain::LiveJob& live) { out = OrderedReplicas(live); });
  }
  return out;
}

}  // namespace taut::server
