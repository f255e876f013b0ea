// One agent's messages that were taken in and wait until they are stored, to be acknowledged in their order.
// Values only: no messages, clocks or locks; the caller's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "common/base/time.h"

namespace taut::server {

class Unacknowledged {
 public:
  // `window`: the message is safe when this one is stored; absent: when tick `tick` succeeded.
  void Add(uint64_t sequence, std::optional<WindowId> window, uint64_t tick) {
    waiting_.push_back({sequence, window, tick});
  }
  // Removes those that are safe, up to the first that is not; returns the sequence of the last. 0: none.
  // `stored`: windows up to this one are stored; `good_tick`: the last tick that succeeded.
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
