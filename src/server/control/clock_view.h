// What there is to say of the machine's clock.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/time.h"

namespace taut::server {

struct ClockView {
  std::string sentence;           // "" while the machine's clock is right
  bool samples_disagree = false;  // senders say that it is much later than the time that is taken
  double wall_ahead_s = 0;        // the machine's clock over the time that is taken
  uint64_t jumps = 0;
  bool waits = false;  // a start far beyond the stored data: nothing is decided until the time is confirmed
};

// The newest sample of a request, and who sent it.
struct SaidTime {
  Timestamp newest;
  // A number of the sender's machine; 0: not known, or this machine, whose clock it shares.
  uint64_t sender = 0;
};

}  // namespace taut::server
