// Published state of a control plane: the snapshot of its jobs, counts, and readiness.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/model/rollout.h"
#include "common/model/tier_act.h"
#include "server/control/clock_view.h"
#include "server/control/fleet_view.h"

namespace taut::server {

// Durations of the steps of a pass, in the order of the steps.
struct PassTimes {
  WindowId window;
  size_t jobs = 0;
  double total_ms = 0;
  std::vector<std::pair<std::string_view, double>> steps_ms;
};

struct ControlCounts {
  uint64_t passes = 0, decisions = 0, ooms = 0, commits = 0, failed_commits = 0, retrained = 0;
  uint64_t forgotten_jobs = 0, returned_jobs = 0;
  uint64_t replica_step_backs = 0;
  // external_ignored: answers that were ignored because the job no longer uses them.
  uint64_t external_taken = 0, external_ignored = 0;
  std::array<uint64_t, kNumDecisionKinds> decisions_by_kind{};
  // Stored acts of memory guards, by Tier and TierActKind, without agents in observe mode.
  std::array<std::array<uint64_t, kTierActKinds>, kTiers> tier_acts{};
};

// Thread-safe. Each function holds the lock only while it copies a value.
class SharedStatus {
 public:
  // Returns the snapshot of the stored state; never null.
  std::shared_ptr<const FleetView> view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }
  void Show(std::shared_ptr<const FleetView> view) {
    const std::lock_guard lock(mutex_);
    view_ = std::move(view);
  }
  // Returns the last stored window; nullopt if none is stored.
  std::optional<WindowId> stored_through() const { return view()->window; }

  ControlCounts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  // Changes the counts under the lock.
  template <typename Change>  // void(ControlCounts&)
  void Count(Change change) {
    const std::lock_guard lock(mutex_);
    change(counts_);
  }

  PassTimes last_pass() const {
    const std::lock_guard lock(mutex_);
    return last_pass_;
  }
  // Stores the durations of a pass, and counts the pass.
  void EndPass(PassTimes times) {
    const std::lock_guard lock(mutex_);
    ++counts_.passes;
    last_pass_ = std::move(times);
  }

  // Stores the state of the machine's clock, which ready() checks.
  void NoteClock(ClockView clock) {
    const std::lock_guard lock(mutex_);
    clock_ = std::move(clock);
  }
  ClockView clock() const {
    const std::lock_guard lock(mutex_);
    return clock_;
  }

  // Stores the store's last result, which ready() checks.
  void NoteStore(absl::Status status) {
    const std::lock_guard lock(mutex_);
    store_ = std::move(status);
  }
  // Ends the restore. `lost`: human-readable sentences about data that damage destroyed.
  void NoteRestored(std::vector<std::string> lost) {
    const std::lock_guard lock(mutex_);
    lost_ = std::move(lost);
    restored_ = true;
  }
  // Returns sentences about data that damage destroyed, as passed to NoteRestored.
  std::vector<std::string> lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }
  // Returns true once the restore has ended.
  bool restored() const {
    const std::lock_guard lock(mutex_);
    return restored_;
  }
  // Returns OK if samples are accepted and windows are stored. Else returns Unavailable with the reason, or
  // the store's error.
  absl::Status ready() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lost_;
  std::shared_ptr<const FleetView> view_ = std::make_shared<const FleetView>();
  PassTimes last_pass_;
  ControlCounts counts_;
  absl::Status store_;
  ClockView clock_;
  bool restored_ = false;
};

}  // namespace taut::server
