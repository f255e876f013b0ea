// The validating webhook that checks new pods against quota and the budgets of their groups. It holds the
// cluster's pods as tasks of groups and answers reviews of new ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/config/daemon_config.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/pool/live_quota.h"
#include "server/pool/quota_service.h"
#include "server/pool/running_work.h"

namespace taut::server {

// Thread-safe.
class PodQuotaReviewer {
 public:
  struct Options {
    bool refuse = false;                    // false: it only warns
    const QuotaService* service = nullptr;  // must outlive the reviewer, as must the cluster
    const Cluster* cluster = nullptr;       // finds the workload of a pod
    std::vector<std::string> job_labels;    // ingest.job_labels: the pod labels that are labels of its jobs
    std::function<bool(const Pod&)> is_watched;
    std::function<double()> steady_s;
    HeldPods held = HeldPods::kOff;
    // Returns a sentence why the group may start nothing new; "": it may. Must be thread-safe and fast.
    std::function<std::string(std::string_view group)> why_held;
  };
  struct Counts {
    uint64_t fitting = 0, warned = 0, refused = 0;
    uint64_t not_covered = 0;  // pods without a quota
    uint64_t held = 0;         // refused or warned about because their group's budget is spent
    uint64_t unknown = 0;      // allowed because the cluster's pods were not listed yet
  };
  // Starts with the present quota and requests. Errors as of LiveQuota::SetQuota.
  static absl::StatusOr<std::unique_ptr<PodQuotaReviewer>> Make(Options options);

  // Events of the watch of pods.
  void Replace(std::span<const Pod> pods);
  void Put(const Pod& pod);
  void Remove(const Pod& pod);
  // Takes over changes of quota and requests. Call from one thread, every second.
  absl::Status Step();
  // Returns the AdmissionReview that responds to this one.
  std::string Answer(const PodReview& review);
  Counts counts() const { return {fitting_, warned_, refused_, not_covered_, held_, unknown_}; }

 private:
  explicit PodQuotaReviewer(Options options)
      : options_(std::move(options)), live_(options_.steady_s), running_(options_.steady_s) {}
  LiveTask TaskOf(const Pod& pod) const;
  bool holds_groups() const { return options_.held != HeldPods::kOff && options_.why_held != nullptr; }
  void DropTask(const Pod& pod);
  RunningWork::Task WorkOf(const Pod& pod) const;
  // Returns sentences why the budget of its group prevents the pod; none: it does not.
  std::vector<std::string> WhyHeld(const Pod& pod, const LiveTask& task);

  const Options options_;
  LiveQuota live_;
  RunningWork running_;
  QuotaService::Versions seen_;  // versions that live_ has
  std::atomic<uint64_t> fitting_ = 0, warned_ = 0, refused_ = 0, not_covered_ = 0, held_ = 0, unknown_ = 0;
};

}  // namespace taut::server
