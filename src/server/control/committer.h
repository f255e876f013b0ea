// Store, apply, tell: what was decided takes these steps, in this order.
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

// What happened in a tick, after it was stored. Views: good during the call.
struct TickEvents {
  std::span<const Decision> decisions;
  std::span<const OomRecord> ooms;
  std::span<const TierAct> tier_acts;
  std::span<const SettingChange> settings;
  bool past = false;  // all of it was read from history (When::kPast)
  std::span<const std::pair<JobId, brain::ReplicaStepBack>> step_backs = {};
  std::span<const std::pair<JobId, brain::ReplicaHoldChange>> holds = {};
  std::span<const JobPast> pasts = {};
  const ClosedWindow* window = nullptr;  // null: none closed
  std::span<const OutcomeUpdate> outcomes = {};
};

class Committer {
 public:
  // All must outlive it.
  struct Parts {
    Store& store;
    Actuator& actuator;
    SharedFleet& fleet;
    const LiveIngest& ingest;
    SharedStatus& status;
    ViewMaker& views;
  };
  explicit Committer(const Parts& parts) : parts_(parts) {}

  // The right to decide, for one thread at a time: everything below REQUIRES it. Taken before any other lock.
  std::mutex& writer() { return writer_; }

  // What was decided since the last commit; add to it, then Commit.
  Unsaved& unsaved() { return unsaved_; }
  const Unsaved& unsaved() const { return unsaved_; }
  // Stores what there is, passes orders to the actuator and tells listeners. Not OK: the store did not take it,
  // no listener was called, and the next call tries again.
  absl::Status Commit();
  // The two halves of Commit, for who has something to do between them.
  absl::Status StoreUnsaved();
  void TellStored();
  // What the actuator said since the last call.
  absl::Status StoreOutcomes();
  // Orders of stored decisions that no outcome is known of.
  void ApplyPending(std::span<const Decision> decisions);
  // After a restart: the orders of these stored decisions, ascending, with the outcomes that they had.
  void ApplyAgain(std::span<const Decision> decisions);
  // The decision up to which all orders were passed to the actuator; 0: none.
  uint64_t published() const { return published_; }
  void NotePublished(uint64_t decision) { published_ = std::max(published_, decision); }
  // OK: the store can take something, also where nothing is to be stored just now.
  absl::Status CheckStore();
  // Called in the order of registration. Before the first tick.
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
