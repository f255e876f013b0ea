// The state of the machine's clock, for status pages and readiness.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/time.h"

namespace taut::server {

struct ClockView {
  std::string sentence;           // reason why the machine's clock is not used; "" while it is used
  bool samples_disagree = false;  // true: senders agree on a time much later than the believed time
  double wall_ahead_s = 0;        // lead of the machine's clock over the believed time, seconds
  uint64_t jumps = 0;             // number of jumps since the start
  // True while a clock that was far ahead of the stored data at the start is not confirmed. No decision is made
  // meanwhile.
  bool waits = false;
};

// Time of the newest sample of a request, and the sender of the request.
struct SaidTime {
  Timestamp newest;
  // Number of the sender's machine; 0 if unknown or this machine, which shares the daemon's clock.
  uint64_t sender = 0;
};

}  // namespace taut::server
