// Acts of agents' guards of memory that wait for the next tick to store them, each once. Thread-safe.
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
  // The newest acts, this many, are known again when an agent that missed the acknowledgement reports them a
  // second time.
  static constexpr size_t kRemembered = 20'000;
  static constexpr size_t kMostWaiting = 20'000;

  // OK also if it is a repeated one, which is dropped. Unavailable: kMostWaiting wait, because the store takes
  // none.
  absl::Status Take(TierAct act);
  // Those that wait, in the order in which they came, none later than `latest_s`. The caller stores them.
  std::vector<TierAct> TakeAll(int64_t latest_s);
  // These are stored; the newest first.
  void Remember(std::span<const TierAct> stored);

 private:
  // REQUIRES: mutex_. False: it was known.
  bool Note(const TierAct& act);

  std::mutex mutex_;
  std::vector<TierAct> waiting_;
  absl::flat_hash_set<std::string> known_;
  std::deque<std::string> order_;  // of known_, the oldest first
};

}  // namespace taut::server
