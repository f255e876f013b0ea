// Queue of acts of agents' memory guards. The next tick stores each queued act once. Thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "common/model/tier_act.h"

namespace taut::server {

class TierActQueue {
 public:
  // Number of newest acts that the queue remembers, to drop acts that an agent repeats after a lost
  // acknowledgement.
  static constexpr size_t kRemembered = 20'000;
  static constexpr size_t kMostWaiting = 20'000;

  // Queues an act. Returns OK also for a repeated act, which is dropped. Returns Unavailable if kMostWaiting
  // acts are queued, because the store accepts no writes.
  absl::Status Take(TierAct act);
  // Removes and returns the queued acts, in order of arrival. Later times than `latest_s` are reduced to
  // `latest_s`. The caller stores the acts.
  std::vector<TierAct> TakeAll(int64_t latest_s);
  // Remembers acts that were stored before a restart; `stored` is newest first.
  void Remember(std::span<const TierAct> stored);

 private:
  // Remembers an act. Returns false if the act was already known. REQUIRES mutex_.
  bool Note(const TierAct& act);

  std::mutex mutex_;
  std::vector<TierAct> waiting_;
  absl::flat_hash_set<std::string> known_;
  std::deque<std::string> order_;  // remembered acts, oldest first
};

}  // namespace taut::server
