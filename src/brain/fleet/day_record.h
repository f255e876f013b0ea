// Record of a lane's last days, one bit per day and mark. Would-be OOM-days and throttled days are counted from
// this record.
#pragma once

#include <bit>
#include <cstdint>

#include "common/base/bytes.h"

namespace taut::brain {

// Marks of the last kDays days (UTC), the newest in bit 0.
class DayRecord {
 public:
  static constexpr int kDays = 32;
  enum class What : uint8_t {
    kRecommended,  // a recommended limit existed in a measured window
    kOver,         // a task exceeded the recommended limit, or was OOM-killed at or above this limit
    kAtLimit       // a task's usage reached 95 % of the limit in force
  };

  // Marks the day. Ignores a day that is kDays or more before the newest day.
  void Mark(int32_t day, What what) {
    if (day > day_) Turn(day);
    if (day_ - int64_t{day} < kDays) of(what) |= 1U << static_cast<uint32_t>(day_ - day);
  }
  // Returns how many of the `days` days up to and including `today` have the mark. REQUIRES: 1 <= days <=
  // kDays.
  uint32_t Count(What what, int32_t today, int days) const {
    const int64_t ahead = int64_t{day_} - today;  // > 0: skips days after `today`
    uint64_t bits = of(what);
    if (ahead >= kDays || -ahead >= kDays) return 0;
    bits = ahead >= 0 ? bits >> ahead : bits << -ahead;
    return static_cast<uint32_t>(std::popcount(bits & ((uint64_t{1} << days) - 1)));
  }

  void Save(ByteWriter& out) const {
    out.Put(day_);
    for (const uint32_t bits : bits_) out.Put(bits);
  }
  void Load(ByteReader& in) {
    day_ = in.Get<int32_t>();
    for (uint32_t& bits : bits_) bits = in.Get<uint32_t>();
  }

 private:
  uint32_t& of(What what) { return bits_[static_cast<size_t>(what)]; }
  uint32_t of(What what) const { return bits_[static_cast<size_t>(what)]; }
  void Turn(int32_t day) {
    const int64_t by = int64_t{day} - day_;
    for (uint32_t& bits : bits_) bits = by < kDays ? bits << by : 0;
    day_ = day;
  }

  int32_t day_ = INT32_MIN;  // day of bit 0; INT32_MIN: none yet
  uint32_t bits_[3] = {};
};

}  // namespace taut::brain
