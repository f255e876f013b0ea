// Predicts when growing usage reaches a limit, by a line through the usage of the last minute. Arithmetic only.
#pragma once

#include <cstdint>
#include <optional>

namespace taut::node {

// Growth of one task. Times are steady microseconds. Not thread-safe.
class GrowthWatch {
 public:
  // Adds a sample. The slope covers one to two times `step_us`. After a gap of more than `step_us`, or if time
  // goes back, the slope is measured anew.
  void Note(double usage, int64_t now_us, int64_t step_us);
  // Returns the microseconds until usage reaches `limit` at the present slope; 0 if usage has reached the
  // limit. nullopt if usage did not grow in each of the last two steps, or if a sample of these steps is
  // missing.
  std::optional<int64_t> Until(double limit) const;

 private:
  struct Point {
    int64_t at_us = 0;
    double usage = 0;
  };
  std::optional<Point> before_, middle_, now_;
};

}  // namespace taut::node
