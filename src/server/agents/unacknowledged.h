// Messages of one agent that were processed and are not yet stored. The hub acknowledges these messages in order.
// Plain values: no messages, clocks or locks. The caller guards the list with its own lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "common/base/time.h"

namespace taut::server {

class Unacknowledged {
 public:
  // Adds a message. `window`: the message is safe to acknowledge once this window is stored; absent: once tick
  // `tick` has succeeded.
  void Add(uint64_t sequence, std::optional<WindowId> window, uint64_t tick) {
    waiting_.push_back({sequence, window, tick});
  }
  // Removes the messages before the first message that is not safe to acknowledge. Returns the sequence of the
  // last removed message; 0 if no message was removed. `stored`: last stored window. `good_tick`: last tick that
  // succeeded.
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
