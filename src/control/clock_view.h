// What there is to say of the machine's clock.
#pragma once

#include <cstdint>
#include <string>

namespace taut {

struct ClockView {
  std::string sentence;           // "" while the machine's clock is right
  bool samples_disagree = false;  // senders say that it is much later than the time that is taken
  double wall_ahead_s = 0;        // the machine's clock over the time that is taken
  uint64_t jumps = 0;
};

}  // namespace taut
