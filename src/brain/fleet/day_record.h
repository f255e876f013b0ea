// Days on which a lane had a recommended limit, exceeded the limit, or reached the limit in force, one bit per day
// and mark. The counts of would-be OOM-days and throttled days are computed from this record.
#pragma once

#include <bit>
#include <cstdint>

#include "common/base/bytes.h"

namespace taut::brain {

// Marks of the last kDays days (UTC); bit 0 is the newest day.
class DayRecord {
 public:
  static constexpr int kDays = 32;
  enum class What : uint8_t {
    kRecommended,  // a recommended limit existed in a measured window
    kOver,         // a task exceeded the recommended limit, or was OOM-killed at or above this limit
    kAtLimit       // a task's usage reached 95 % of the limit in force
  };

  // Marks the day. Ignores days that are kDays or more before the newest day.
  void Mark(int32_t day, What what) {
    if (day > day_) Turn(day);
    if (day_ - int64_t{day} < kDays) of(what) |= 1U << static_cast<uint32_t>(day_ - day);
  }
  // Returns the number of marked days among the `days` days up to and including `today`. REQUIRES: 1 <= days <=
  // kDays.
  uint32_t Count(What what, int32_t today, int days) const {
    // Number of days by which the record's newest day is after `today`; negative if the day is before `today`.
    const int64_t ahead = int64_t{day_} - today;
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

  int32_t day_ = INT32_MIN;  // day of bit 0; INT32_MIN: no day is marked
  uint32_t bits_[3] = {};
};

}  // namespace taut::brain
