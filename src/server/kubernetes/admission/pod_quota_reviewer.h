// The validating webhook that checks new pods against quota and against their groups' budgets. It tracks the
// cluster's pods as tasks of groups, and reviews new pods.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/config/daemon_config.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/pool/live_quota.h"
#include "server/pool/quota_service.h"
#include "server/pool/running_work.h"

namespace taut::server {

// Reviews new pods. All functions are thread-safe unless stated otherwise.
class PodQuotaReviewer {
 public:
  struct Options {
    bool refuse = false;                  // false: pods beyond quota are allowed with a warning
    QuotaService* service = nullptr;      // quota service; must outlive the reviewer, like `cluster`
    const Cluster* cluster = nullptr;     // source of the workload of each pod
    std::vector<std::string> job_labels;  // pod labels that become labels of jobs (ingest.job_labels)
    std::function<bool(const Pod&)> is_watched;
    std::function<double()> steady_s;  // steady clock, for workloads that ran recently
    HeldPods held = HeldPods::kOff;
    // Returns the reason why the group may not start new pods, as a sentence; "" if it may. REQUIRES: thread-safe
    // and fast.
    std::function<std::string(std::string_view group)> why_held;
  };
  struct Counts {
    uint64_t fitting = 0, warned = 0, refused = 0;
    uint64_t not_covered = 0;  // pods of groups without quota
    uint64_t held = 0;         // pods that were refused or caused a warning because of their group's budget
    uint64_t unknown = 0;      // pods that were allowed because the cluster's pods were not listed yet
  };
  explicit PodQuotaReviewer(Options options)
      : options_(std::move(options)), live_(options_.service->live()), running_(options_.steady_s) {}

  // Handle the events of the watch of pods.
  void Replace(std::span<const Pod> pods);
  void Put(const Pod& pod);
  void Remove(const Pod& pod);
  // Returns an AdmissionReview as the response to `review`.
  std::string Answer(const PodReview& review);
  Counts counts() const { return {fitting_, warned_, refused_, not_covered_, held_, unknown_}; }

 private:
  LiveTask TaskOf(const Pod& pod) const;
  bool holds_groups() const { return options_.held != HeldPods::kOff && options_.why_held != nullptr; }
  void DropTask(const Pod& pod);
  RunningWork::Task WorkOf(const Pod& pod) const;
  // Returns the reasons why the budget of the pod's group forbids the pod, as sentences; empty if it does not.
  std::vector<std::string> WhyHeld(const Pod& pod, const LiveTask& task);

  const Options options_;
  LiveQuota& live_;
  RunningWork running_;
  std::atomic<uint64_t> fitting_ = 0, warned_ = 0, refused_ = 0, not_covered_ = 0, held_ = 0, unknown_ = 0;
};

}  // namespace taut::server
