#include "programs/quota_gate.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "ingest/mapping_rules.h"
#include "kubernetes/pod_series.h"
#include "kubernetes/quota_review.h"

namespace taut {
namespace {

// A pod that is being deleted makes room at once: its controller may have made another already.
bool IsLive(const Pod& pod) { return !pod.is_ended && !pod.is_deleted; }

// Of a millicore or a byte, rounded up, but for what a double adds to 1.1 cores. 2^50 is more than a cluster has.
int64_t WholeUnits(const std::optional<double>& requested, const std::optional<double>& running_with,
                   double per_one) {
  const double amount = std::max(requested.value_or(0), running_with.value_or(0)) * per_one;
  if (!(amount > 0)) return 0;
  return static_cast<int64_t>(std::ceil(std::min(amount - amount * 1e-12, double{int64_t{1} << 50})));
}

}  // namespace

absl::StatusOr<std::unique_ptr<QuotaGate>> QuotaGate::Make(Options options) {
  std::unique_ptr<QuotaGate> gate(new QuotaGate(std::move(options)));
  if (absl::Status s = gate->Step(); !s.ok()) return s;
  return gate;
}

absl::Status QuotaGate::Step() {
  // The version first: a change in between is seen with the next step.
  if (const uint64_t version = options_.desk->quota_version(); version != quota_version_) {
    auto [spec, rules] = options_.desk->quota();
    if (absl::Status s = live_.SetQuota(spec, std::move(rules)); !s.ok()) return s;
    quota_version_ = version;
  }
  if (const uint64_t version = options_.desk->request_version(); version != request_version_) {
    live_.SetRequests(options_.desk->OpenRequests());
    request_version_ = version;
  }
  return absl::OkStatus();
}

LiveTask QuotaGate::TaskOf(const Pod& pod) const {
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
  const std::string workload = options_.cluster->WorkloadKeyOf(pod);
  for (const ContainerState& container : pod.containers) {
    out.parts.push_back(
        {naming.JobOf(workload, container.name),
         QuotaVector::Of(WholeUnits(container.requests.cpu, container.actual_requests.cpu, 1000),
                         WholeUnits(container.requests.memory, container.actual_requests.memory, 1))});
  }
  return out;
}

void QuotaGate::Replace(std::span<const Pod> pods) {
  std::vector<LiveTask> tasks;
  tasks.reserve(pods.size());
  for (const Pod& pod : pods) {
    if (IsLive(pod)) tasks.push_back(TaskOf(pod));
  }
  live_.Replace(std::move(tasks));
}

void QuotaGate::Put(const Pod& pod) {
  if (!IsLive(pod)) return Remove(pod);
  live_.Put(TaskOf(pod));
}

void QuotaGate::Remove(const Pod& pod) {
  live_.Remove({.name = FullName(pod), .uid = pod.uid, .labels = {}, .parts = {}});
}

std::string QuotaGate::Answer(const PodReview& review) {
  LiveQuota::Answer answer{LiveQuota::Outcome::kNotCovered, {}};
  if (options_.is_watched(review.pod)) answer = live_.Ask(TaskOf(review.pod), review.dry_run);
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

}  // namespace taut
