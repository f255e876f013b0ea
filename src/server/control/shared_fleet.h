// The live fleet, the lock that guards it, and the threads that step its jobs.
#pragma once

#include <mutex>
#include <shared_mutex>

#include "absl/functional/function_ref.h"
#include "brain/fleet/live_fleet.h"
#include "common/base/worker_pool.h"

namespace taut::server {

// Any thread may read; only the thread that holds Committer::writer() changes the fleet. A handle must be
// short-lived: it holds the lock for at most a few hundred jobs.
class SharedFleet {
 public:
  // `threads`: as ControlOptions::threads.
  SharedFleet(const brain::LiveSettings& settings, int threads) : fleet_(settings), workers_(threads) {}

  // Access to the fleet. The fleet is locked as long as the handle exists.
  template <typename Lock, typename Fleet>
  class Handle {
   public:
    Handle(std::shared_mutex& mutex, Fleet& fleet) : lock_(mutex), fleet_(fleet) {}
    Fleet* operator->() const { return &fleet_; }
    Fleet& operator*() const { return fleet_; }

   private:
    Lock lock_;
    Fleet& fleet_;
  };
  Handle<std::shared_lock<std::shared_mutex>, const brain::LiveFleet> Read() const {
    return {mutex_, fleet_};
  }
  Handle<std::unique_lock<std::shared_mutex>, brain::LiveFleet> Write() { return {mutex_, fleet_}; }
  // Returns the fleet without a lock, for reads by the thread that changes the fleet.
  const brain::LiveFleet& unlocked() const { return fleet_; }
  // Returns the fleet for a restore, before any other thread starts.
  brain::LiveFleet& unshared() { return fleet_; }

  // Calls `turn` for 0 to count-1, on several threads if there are at least 8 turns, else in order. Returns
  // after the last call has ended.
  void RunOnThreads(size_t count, absl::FunctionRef<void(size_t turn)> turn) {
    constexpr size_t kTurnsForThreads = 8;  // fewer turns are faster on one thread
    if (count < kTurnsForThreads || !workers_.is_parallel()) return brain::RunInOrder(count, turn);
    workers_.ForEach(count, turn);
  }
  bool is_parallel() const { return workers_.is_parallel(); }

 private:
  mutable std::shared_mutex mutex_;
  brain::LiveFleet fleet_;
  WorkerPool workers_;
};

}  // namespace taut::server
