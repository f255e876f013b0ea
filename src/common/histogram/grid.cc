// The two bucket grids.
#include "common/histogram/grid.h"

#include <cassert>
#include <cmath>

namespace taut {

Grid::Grid(double first_bound, int octaves) : scale_(1.0 / first_bound), size_(octaves * kPerOctave + 1) {
  assert(size_ <= kMaxBuckets);
  for (int k = 0; k < kMaxBuckets; ++k) {
    bounds_[k] = k < size_ ? std::ldexp(first_bound * kRoots[k % kPerOctave], k / kPerOctave) : 0.0;
  }
}

const Grid& Grid::Cpu() {
  static const Grid grid(0.001, 20);
  return grid;
}

const Grid& Grid::Memory() {
  static const Grid grid(1048576.0, 24);
  return grid;
}

}  // namespace taut
