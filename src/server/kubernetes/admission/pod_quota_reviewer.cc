#include "server/kubernetes/admission/pod_quota_reviewer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "common/base/strings.h"
#include "server/ingest/mapping_rules.h"
#include "server/kubernetes/admission/quota_review.h"
#include "server/kubernetes/watch/pod_report.h"
#include "server/kubernetes/watch/pod_requests.h"

namespace taut::server {
namespace {

// Returns true if the pod counts as running. A pod that is being deleted does not count, because its controller
// may already have created another pod.
bool IsLive(const Pod& pod) { return !pod.is_ended && !pod.is_deleted; }

// Converts to whole millicores or bytes. Rounds up, but ignores floating-point noise. The result is at most 2^50,
// which is more than any cluster has.
int64_t WholeUnits(const std::optional<double>& requested, double per_one) {
  const double amount = requested.value_or(0) * per_one;
  if (!(amount > 0)) return 0;
  return static_cast<int64_t>(std::ceil(std::min(amount - amount * 1e-12, double{int64_t{1} << 50})));
}

brain::QuotaVector VectorOf(const Amounts& requests) {
  return brain::QuotaVector::Of(WholeUnits(requests.cpu, 1000), WholeUnits(requests.memory, 1));
}

}  // namespace

LiveTask PodQuotaReviewer::TaskOf(const Pod& pod) const {
  LiveTask out;
  if (!pod.name.empty()) out.name = FullName(pod);
  out.uid = pod.uid;
  const auto is_wanted = [this](std::string_view name) {
    return std::ranges::find(options_.job_labels, name) != options_.job_labels.end();
  };
  for (const auto& [key, value] : pod.labels) {
    std::string name = LabelInMetrics(key);
    if (is_wanted(name) && !SaysPlace(name)) out.labels.emplace_back(std::move(name), value);
  }
  const ClusterNaming& naming = options_.cluster->naming();
  if (is_wanted("namespace")) out.labels.emplace_back("namespace", pod.namespace_name);
  if (is_wanted("cluster") && !naming.cluster.empty()) out.labels.emplace_back("cluster", naming.cluster);
  std::ranges::sort(out.labels);
  const WorkloadName workload = options_.cluster->pods().WorkloadOf(pod);
  for (const ContainerState& container : pod.containers) {
    out.parts.push_back({naming.JobOf(workload, container.name), VectorOf(RequestsOf(container))});
  }
  // Add requests that belong to no container to the last container, which runs an application.
  const Amounts beyond = RequestsBeyondContainers(pod);
  if (beyond != Amounts() && !pod.containers.empty())
    out.parts.push_back({naming.JobOf(workload, pod.containers.back().name), VectorOf(beyond)});
  return out;
}

void PodQuotaReviewer::Replace(std::span<const Pod> pods) {
  std::vector<LiveTask> tasks;
  tasks.reserve(pods.size());
  for (const Pod& pod : pods) {
    if (IsLive(pod)) tasks.push_back(TaskOf(pod));
  }
  live_.Replace(std::move(tasks));
  if (!holds_groups()) return;
  std::vector<RunningWork::Task> works;
  works.reserve(pods.size());
  for (const Pod& pod : pods) works.push_back(WorkOf(pod));
  running_.Replace(works);
}

void PodQuotaReviewer::Put(const Pod& pod) {
  if (holds_groups()) running_.Put(WorkOf(pod));
  if (!IsLive(pod)) return DropTask(pod);
  live_.Put(TaskOf(pod));
}

void PodQuotaReviewer::DropTask(const Pod& pod) {
  live_.Remove({.name = FullName(pod), .uid = pod.uid, .labels = {}, .parts = {}});
}

void PodQuotaReviewer::Remove(const Pod& pod) {
  if (holds_groups()) running_.Remove(FullName(pod));
  DropTask(pod);
}

// Returns the workload of a pod. The pods of a Deployment are one workload across its ReplicaSets, so that a
// rollout may continue. A run of a CronJob, a Job and a pod without a controller are workloads of their own,
// because nothing recreates them.
RunningWork::Task PodQuotaReviewer::WorkOf(const Pod& pod) const {
  if (pod.owner_kind == "ReplicaSet")
    return {FullName(pod), StrCat("workload ", WorkloadKey(options_.cluster->pods().WorkloadOf(pod)))};
  if (pod.owner_kind.empty()) return {FullName(pod), StrCat("pod ", FullName(pod))};
  return {FullName(pod), StrCat(pod.owner_kind, " ", pod.namespace_name, "/", pod.owner_name)};
}

std::vector<std::string> PodQuotaReviewer::WhyHeld(const Pod& pod, const LiveTask& task) {
  // A static pod runs even if the API server rejects it.
  if (!holds_groups() || pod.is_static) return {};
  const std::string group = live_.GroupOf(task);
  std::string why = group.empty() ? "" : options_.why_held(group);
  if (why.empty()) return {};
  const bool all = options_.held == HeldPods::kAll;
  // Before the pods are listed, workloads are unknown, and all pods are allowed.
  if (!all && running_.Ask(WorkOf(pod).work) != RunningWork::Answer::kIsNew) return {};
  return {StrCat("group \"", group, "\" may start ", all ? "no pod" : "nothing new",
                 " while its budget is spent or frozen (when_spent: refuse)."),
          std::move(why),
          all ? "Pods that run go on."
              : "Workloads that had a pod in the last hour go on, and their pods are replaced."};
}

std::string PodQuotaReviewer::Answer(const PodReview& review) {
  LiveQuota::Answer answer{LiveQuota::Outcome::kNotCovered, {}};
  std::vector<std::string> held;
  if (options_.is_watched(review.pod)) {
    const LiveTask task = TaskOf(review.pod);
    held = WhyHeld(review.pod, task);
    // A pod that is refused because of its budget must not occupy quota.
    if (held.empty() || !options_.refuse) answer = live_.Ask(task, review.dry_run);
  }
  if (!held.empty()) {
    ++held_;
    held.insert(held.end(), answer.reasons.begin(), answer.reasons.end());
    return QuotaAnswer(review.uid, !options_.refuse, held);
  }
  switch (answer.outcome) {
    case LiveQuota::Outcome::kUnknown:
      ++unknown_;
      break;
    case LiveQuota::Outcome::kNotCovered:
      ++not_covered_;
      break;
    case LiveQuota::Outcome::kFits:
      ++fitting_;
      break;
    case LiveQuota::Outcome::kDoesNotFit:
      ++(options_.refuse ? refused_ : warned_);
      return QuotaAnswer(review.uid, !options_.refuse, answer.reasons);
  }
  return QuotaAnswer(review.uid, true, {});
}

}  // namespace taut::server
