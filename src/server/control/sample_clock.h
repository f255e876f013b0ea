// Where time is the samples': one wrong sample does not move it, a source that goes on at another time does.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "common/base/time.h"

namespace taut::server {

// A sample further than this from the newest is not taken: days without any sample are rare, and wrong
// clocks are not.
inline constexpr int64_t kMaxSampleStepSeconds = 86'400;

// Plain arithmetic. Not thread-safe.
class SampleClock {
 public:
  // A request came. `kept`: something of it was taken in. The time to go on at, when several requests in a
  // row, of which nothing was taken, agree that it is another day.
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
