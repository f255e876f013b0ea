// Whether usage that grows will reach a limit soon, by a line through its last minute. Arithmetic only.
#pragma once

#include <cstdint>
#include <optional>

namespace taut::node {

// One task. Steady time in microseconds.
class GrowthWatch {
 public:
  // Usage now. Growth is taken over one to two times `step_us`.
  void Note(double usage, int64_t now_us, int64_t step_us);
  // Microseconds until usage reaches `limit`, if it goes on growing as it has. Absent: it did not grow in each of
  // the last two steps, or there is no sample of one of them.
  std::optional<int64_t> Until(double limit) const;

 private:
  struct Point {
    int64_t at_us = 0;
    double usage = 0;
  };
  std::optional<Point> before_, middle_, now_;
};

}  // namespace taut::node
