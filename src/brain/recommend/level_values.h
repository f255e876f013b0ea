// One float per level of a limit, compressed: equal values at the low end and at the high end are stored once.
// This form suits the work function, in which most levels have the same value: the minimum plus the charge for one
// change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut::brain {

// The object has 40 bytes, and 4 bytes per value between the two ends. Values are stored without loss.
class LevelValues {
 public:
  static constexpr int kLevels = 232;
  using All = std::array<float, kLevels>;

  // Replaces all values. O(kLevels).
  void Set(const All& values);
  void Get(All& out) const;
  // REQUIRES: 0 <= level < kLevels.
  float At(int level) const;
  size_t heap_bytes() const { return middle_.capacity() * sizeof(float); }

  void Save(ByteWriter& out) const;
  // Returns DataLoss, and changes nothing, if the bytes end early or contain a value that is negative or not
  // finite.
  absl::Status Load(ByteReader& in);

 private:
  uint8_t below_ = kLevels;   // number of lowest levels that have the value low_
  float low_ = 0, high_ = 0;  // values of the lowest and of the highest levels
  std::vector<float> middle_;
};

}  // namespace taut::brain
