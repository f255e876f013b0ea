#include "server/agents/unacknowledged.h"

namespace taut::server {
namespace {

// Number of ticks after which the message of a dropped window is acknowledged. A dropped window, such as a window
// from the far future, is never stored.
constexpr uint64_t kPatience = 20'000;

}  // namespace

uint64_t Unacknowledged::TakeSafe(std::optional<WindowId> stored, uint64_t good_tick) {
  uint64_t last = 0;
  while (!waiting_.empty()) {
    const Message& m = waiting_.front();
    const bool is_stored = m.window.has_value() && stored.has_value() && *m.window <= *stored;
    const bool is_safe =
        m.window.has_value() ? is_stored || m.tick + kPatience <= good_tick : m.tick <= good_tick;
    if (!is_safe) break;
    last = m.sequence;
    waiting_.pop_front();
  }
  return last;
}

}  // namespace taut::server
