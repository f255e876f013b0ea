// The validating webhook that holds new pods to quota, and to the budgets of their groups: the pods of the cluster
// as tasks of groups, and the answers to reviews of new ones.
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
    bool refuse = false;                    // else it warns
    const QuotaService* service = nullptr;  // outlives the gate, as does the cluster
    const Cluster* cluster = nullptr;       // for the workload of a pod
    std::vector<std::string> job_labels;    // ingest.job_labels: which labels of a pod are those of its jobs
    std::function<bool(const Pod&)> is_watched;
    std::function<double()> steady_s;
    HeldPods held = HeldPods::kOff;
    // Why the group may start nothing new, a sentence; "": it may. Thread-safe, and quick.
    std::function<std::string(std::string_view group)> why_held;
  };
  struct Counts {
    uint64_t fitting = 0, warned = 0, refused = 0;
    uint64_t not_covered = 0;  // no quota covers them
    uint64_t held = 0;         // refused or warned about: the budget of their group is spent
    uint64_t unknown = 0;      // allowed, since the cluster's pods were not listed yet
  };
  // With the quota and the requests of now. Errors as LiveQuota::SetQuota.
  static absl::StatusOr<std::unique_ptr<PodQuotaReviewer>> Make(Options options);

  // What the watch of pods brings.
  void Replace(std::span<const Pod> pods);
  void Put(const Pod& pod);
  void Remove(const Pod& pod);
  // Takes another quota and other requests. From one thread, every second.
  absl::Status Step();
  // An AdmissionReview that answers this one.
  std::string Answer(const PodReview& review);
  Counts counts() const { return {fitting_, warned_, refused_, not_covered_, held_, unknown_}; }

 private:
  explicit PodQuotaReviewer(Options options)
      : options_(std::move(options)), live_(options_.steady_s), running_(options_.steady_s) {}
  LiveTask TaskOf(const Pod& pod) const;
  bool holds_groups() const { return options_.held != HeldPods::kOff && options_.why_held != nullptr; }
  void DropTask(const Pod& pod);
  RunningWork::Task WorkOf(const Pod& pod) const;
  // Sentences; none: the budget of its group does not keep it from being created.
  std::vector<std::string> WhyHeld(const Pod& pod, const LiveTask& task);

  const Options options_;
  LiveQuota live_;
  RunningWork running_;
  QuotaService::Versions seen_;  // that live_ has
  std::atomic<uint64_t> fitting_ = 0, warned_ = 0, refused_ = 0, not_covered_ = 0, held_ = 0, unknown_ = 0;
};

}  // namespace taut::server
