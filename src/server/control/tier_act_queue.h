// Queue of acts of agents' memory guards until the next tick stores them, each once. Thread-safe.
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
  // Number of newest acts that are remembered, so that a repeated report after a lost acknowledgement is
  // dropped.
  static constexpr size_t kRemembered = 20'000;
  static constexpr size_t kMostWaiting = 20'000;

  // Queues an act. OK also for a repeated one, which is dropped. Unavailable: kMostWaiting acts wait because
  // the store accepts none.
  absl::Status Take(TierAct act);
  // Removes and returns the queued acts, in order of arrival, with times cut to `latest_s`. The caller stores
  // them.
  std::vector<TierAct> TakeAll(int64_t latest_s);
  // Remembers stored acts after a restart; `stored` is newest first.
  void Remember(std::span<const TierAct> stored);

 private:
  // Remembers an act. Returns false if it was known. REQUIRES mutex_.
  bool Note(const TierAct& act);

  std::mutex mutex_;
  std::vector<TierAct> waiting_;
  absl::flat_hash_set<std::string> known_;
  std::deque<std::string> order_;  // oldest first
};

}  // namespace taut::server
