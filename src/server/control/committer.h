// Stores decisions, then passes them to the actuator, then calls the listeners: always in this order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/control/actuator.h"
#include "server/control/live_ingest.h"
#include "server/control/shared_fleet.h"
#include "server/control/shared_status.h"
#include "server/control/unsaved.h"
#include "server/control/view_maker.h"
#include "server/store/store.h"

namespace taut::server {

// Contents of one commit, passed to listeners after the commit was stored. The views are valid during the
// call.
struct TickEvents {
  std::span<const Decision> decisions;
  std::span<const OomRecord> ooms;
  std::span<const TierAct> tier_acts;
  std::span<const SettingChange> settings;
  bool past = false;  // true if all contents were read from history (When::kPast)
  std::span<const std::pair<JobId, brain::ReplicaStepBack>> step_backs = {};
  std::span<const std::pair<JobId, brain::ReplicaHoldChange>> holds = {};
  std::span<const JobPast> pasts = {};
  const ClosedWindow* window = nullptr;  // closed window; null if no window closed
  std::span<const OutcomeUpdate> outcomes = {};
};

// Owns the decided state that is not stored, and publishes this state once the store has accepted it.
class Committer {
 public:
  // All references must outlive the committer.
  struct Parts {
    Store& store;
    Actuator& actuator;
    SharedFleet& fleet;
    const LiveIngest& ingest;
    SharedStatus& status;
    ViewMaker& views;
  };
  explicit Committer(const Parts& parts) : parts_(parts) {}

  // Returns the mutex whose holder may make decisions. Every member below except OnTick REQUIRES this mutex. A
  // thread locks it before any other mutex.
  std::mutex& writer() { return writer_; }

  // Returns the state decided since the last commit. Callers add to this state and then call Commit.
  Unsaved& unsaved() { return unsaved_; }
  const Unsaved& unsaved() const { return unsaved_; }
  // Stores the unsaved state, then passes its orders to the actuator and calls the listeners. If the store
  // fails, returns the store's error without a call of a listener; the next call retries.
  absl::Status Commit();
  // The first half of Commit: stores the unsaved state but does not clear it.
  absl::Status StoreUnsaved();
  // The second half of Commit: publishes the unsaved state and clears it. REQUIRES a successful StoreUnsaved.
  void TellStored();
  // Stores the actuator's outcomes since the last call. An outcome that is later than the cell's present time is
  // stored with the present time.
  absl::Status StoreOutcomes();
  // Sends the orders of the stored decisions whose outcome is pending.
  void ApplyPending(std::span<const Decision> decisions);
  // Sends the orders of these stored decisions, ascending, with their known outcomes. Called after a restart.
  // Skips decisions that were superseded or decided in a dry run.
  void ApplyAgain(std::span<const Decision> decisions);
  // Returns the ID of the last decision whose orders were passed to the actuator; 0 if none.
  uint64_t published() const { return published_; }
  // Records that the orders up to this decision were passed to the actuator, by this or an earlier run of tautd.
  void NotePublished(uint64_t decision) { published_ = std::max(published_, decision); }
  // Checks, without a write, that the store accepts writes, and updates the status. Returns the store's error.
  absl::Status CheckStore();
  // Adds a listener. Listeners are called in the order of registration. Called before the first tick.
  void OnTick(std::function<void(const TickEvents&)> listener) { listeners_.push_back(std::move(listener)); }

 private:
  void Publish();
  std::optional<TargetOrder> OrderOf(const Decision& decision) const;

  const Parts parts_;
  std::mutex writer_;
  Unsaved unsaved_;
  std::vector<std::function<void(const TickEvents&)>> listeners_;
  bool store_was_gone_ = false;
  uint64_t published_ = 0;
};

}  // namespace taut::server
