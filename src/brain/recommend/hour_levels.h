// The highest level of a job's usage in each hour of the last 15 days, and the bursts that they foretell: usage
// that rises in the same hour of every day, or of the same day of every week.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut::brain {

// 364 bytes. Levels are those of the work function; hours count from 1970.
class HourLevels {
 public:
  static constexpr int kHours = 15 * 24;
  static constexpr int kDays = 7, kWeeks = 2;  // in a row, for a burst to be foreseen

  // A burst in some hour: the lowest and the highest level that it has had.
  struct Burst {
    int lowest = 0, highest = 0;
    bool weekly = false;
  };

  // An hour more than 15 days before the last one is ignored.
  void Add(int32_t hour, int level);
  // -1: not measured, or more than 15 days before the last one.
  int At(int32_t hour) const;
  // The burst that was above level `above` in this hour of each of the last 7 days, or of this day of the last 2
  // weeks; of both the higher one. nullopt: there was a day without one, or one that was not measured.
  std::optional<Burst> Foresee(int32_t hour, int above) const;

  void Save(ByteWriter& out) const;
  // DataLoss for a level that is not below `levels`.
  absl::Status Load(int levels, ByteReader& in);

 private:
  std::optional<Burst> Repeated(int32_t hour, int above, int count, int apart) const;

  int32_t last_ = INT32_MIN;
  std::array<uint8_t, kHours> levels_{};  // plus 1, by hour mod kHours; 0: not measured
};

}  // namespace taut::brain
