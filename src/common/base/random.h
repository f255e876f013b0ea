// Seeded random numbers whose sequence is ours: the same on every platform and library version, which
// <random>'s distributions are not.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/base/bytes.h"

namespace taut {

// xoshiro256** seeded by splitmix64 (Blackman and Vigna, 2018). Not for cryptography. One object, one thread.
class Rng {
 public:
  explicit Rng(uint64_t seed);

  uint64_t Next();
  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // Uniform in [0, n); n > 0. Bias below n / 2^64.
  uint64_t Below(uint64_t n);
  // Standard normal (Box-Muller, one value kept).
  double Normal();
  // Pareto: P(X > x) = (min / x)^alpha for x >= min.
  double Pareto(double min, double alpha) { return min * std::pow(1.0 - Uniform(), -1.0 / alpha); }
  // An independent stream for the `stream`-th part of a work, whatever order the parts run in.
  Rng Fork(uint64_t stream) const;

  // Where the sequence stands. Load takes what Save wrote; false if the bytes are too few.
  void Save(ByteWriter& out) const;
  bool Load(ByteReader& in);

 private:
  uint64_t s_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace taut
