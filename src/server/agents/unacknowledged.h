// Messages of one agent that were taken in and wait to be stored, to be acknowledged in their order. Plain
// values: no messages, clocks or locks. The caller's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "common/base/time.h"

namespace taut::server {

class Unacknowledged {
 public:
  // `window`: the message is safe once this window is stored; absent: once tick `tick` has succeeded.
  void Add(uint64_t sequence, std::optional<WindowId> window, uint64_t tick) {
    waiting_.push_back({sequence, window, tick});
  }
  // Removes the safe messages up to the first unsafe one and returns the sequence of the last removed; 0:
  // none. `stored`: windows up to this one (inclusive) are stored. `good_tick`: last tick that succeeded.
  uint64_t TakeSafe(std::optional<WindowId> stored, uint64_t good_tick);
  void Clear() { waiting_.clear(); }
  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }

 private:
  struct Message {
    uint64_t sequence = 0;
    std::optional<WindowId> window;
    uint64_t tick = 0;
  };
  std::deque<Message> waiting_;
};

}  // namespace taut::server
