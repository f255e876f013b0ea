// Guards the time that samples set (`clock: samples`) against wrong samples. One wrong sample does not move the
// time, but a source that continues at another time does.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "common/base/time.h"

namespace taut::server {

// Greatest distance between a sample and the newest sample, seconds. Samples at a greater distance are
// refused: a whole day without samples is rarer than a wrong clock.
inline constexpr int64_t kMaxSampleStepSeconds = 86'400;

// Does no I/O. Not thread-safe.
class SampleClock {
 public:
  // Handles a request whose newest sample is `newest_offered`. `kept` is true if a sample of the request was
  // accepted. Returns the new time after three refused requests in a row agree, within a day, on another
  // time; else nullopt.
  std::optional<Timestamp> Offer(Timestamp newest_offered, bool kept, Timestamp now) {
    constexpr int64_t kStepUs = kMaxSampleStepSeconds * kMicrosPerSecond;
    if (kept || newest_offered.us == INT64_MIN || std::llabs(newest_offered.us - now.us) <= kStepUs) {
      in_a_row_ = 0;
      return std::nullopt;
    }
    if (in_a_row_ > 0 && std::llabs(newest_offered.us - last_.us) > kStepUs) in_a_row_ = 0;
    last_ = newest_offered;
    if (++in_a_row_ < kEnough) return std::nullopt;
    in_a_row_ = 0;
    return newest_offered;
  }

 private:
  static constexpr int kEnough = 3;
  int in_a_row_ = 0;
  Timestamp last_;
};

}  // namespace taut::server
