// One float per level of a limit, where all values below some level are the same, and all above another: the
// work function, which is one change dearer than its least nearly everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/base/bytes.h"

namespace taut::brain {

// 40 bytes, and 4 for each value between the two equal ends. Bit for bit what was set.
class LevelValues {
 public:
  static constexpr int kLevels = 232;
  using All = std::array<float, kLevels>;

  void Set(const All& values);
  void Get(All& out) const;
  // REQUIRES: 0 <= level < kLevels.
  float At(int level) const;
  size_t heap_bytes() const { return middle_.capacity() * sizeof(float); }

  void Save(ByteWriter& out) const;
  // DataLoss, and nothing has changed, if the bytes end early or hold a value that is not finite and >= 0.
  absl::Status Load(ByteReader& in);

 private:
  uint8_t below_ = kLevels;   // how many levels have low_
  float low_ = 0, high_ = 0;  // high_ is of the levels above the middle
  std::vector<float> middle_;
};

}  // namespace taut::brain
