// The highest level of a job's usage in each hour of the last 15 days, and a forecast of bursts. A burst is a rise
// of usage in one hour of every day, or in one hour and weekday of every week.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut::brain {

// Uses 364 bytes. Levels are the levels of WorkFunctionRecommender; hours count from 1970. Not thread-safe.
class HourLevels {
 public:
  static constexpr int kHours = 15 * 24;
  static constexpr int kDays = 7, kWeeks = 2;  // repetitions required for a forecast

  // A burst that recurs in an hour, with its lowest and highest level so far.
  struct Burst {
    int lowest = 0, highest = 0;
    bool weekly = false;
  };

  // Records a level; ignores an hour more than 15 days before the last hour.
  void Add(int32_t hour, int level);
  // Returns the highest level of an hour; -1 if the hour was not measured or is more than 15 days before the last
  // hour.
  int At(int32_t hour) const;
  // Returns the burst that exceeded level `above` in this hour of each of the last 7 days, or of this weekday of
  // the last 2 weeks. If both bursts exist, returns the higher burst. Returns nullopt if one of these days had no
  // burst or was not measured.
  std::optional<Burst> Foresee(int32_t hour, int above) const;

  void Save(ByteWriter& out) const;
  // Returns DataLoss for a level that is not below `levels`.
  absl::Status Load(int levels, ByteReader& in);

 private:
  std::optional<Burst> Repeated(int32_t hour, int above, int count, int apart) const;

  int32_t last_ = INT32_MIN;
  std::array<uint8_t, kHours> levels_{};  // level + 1 at hour mod kHours; 0: not measured
};

}  // namespace taut::brain
