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
#include "server/pool/quota_desk.h"
#include "server/pool/running_work.h"

namespace taut::tools {

// Thread-safe.
class QuotaGate {
 public:
  struct Options {
    bool refuse = false;                       // else it warns
    const server::QuotaDesk* desk = nullptr;   // outlives the gate, as does the cluster
    const server::Cluster* cluster = nullptr;  // for the workload of a pod
    std::vector<std::string> job_labels;  // ingest.job_labels: which labels of a pod are those of its jobs
    std::function<bool(const server::Pod&)> is_watched;
    std::function<double()> steady_s;
    server::HeldPods held = server::HeldPods::kOff;
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
  static absl::StatusOr<std::unique_ptr<QuotaGate>> Make(Options options);

  // What the watch of pods brings.
  void Replace(std::span<const server::Pod> pods);
  void Put(const server::Pod& pod);
  void Remove(const server::Pod& pod);
  // Takes another quota and other requests. From one thread, every second.
  absl::Status Step();
  // An AdmissionReview that answers this one.
  std::string Answer(const server::PodReview& review);
  Counts counts() const { return {fitting_, warned_, refused_, not_covered_, held_, unknown_}; }

 private:
  explicit QuotaGate(Options options)
      : options_(std::move(options)), live_(options_.steady_s), running_(options_.steady_s) {}
  server::LiveTask TaskOf(const server::Pod& pod) const;
  bool holds_groups() const {
    return options_.held != server::HeldPods::kOff && options_.why_held != nullptr;
  }
  void DropTask(const server::Pod& pod);
  server::RunningWork::Task WorkOf(const server::Pod& pod) const;
  // Sentences; none: the budget of its group does not keep it from being created.
  std::vector<std::string> WhyHeld(const server::Pod& pod, const server::LiveTask& task);

  const Options options_;
  server::LiveQuota live_;
  server::RunningWork running_;
  uint64_t quota_version_ = 0, request_version_ = 0;  // that live_ has
  std::atomic<uint64_t> fitting_ = 0, warned_ = 0, refused_ = 0, not_covered_ = 0, held_ = 0, unknown_ = 0;
};

}  // namespace taut::tools
