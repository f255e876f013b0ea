// Seeded random numbers with the same sequence on every platform and library version, which the distributions
// of <random> do not guarantee.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/base/bytes.h"

namespace taut {

// xoshiro256** seeded by splitmix64 (Blackman and Vigna, 2018). Not for cryptography. Not thread-safe.
class Rng {
 public:
  explicit Rng(uint64_t seed);

  // Returns a number that is uniform over all 64-bit numbers.
  uint64_t Next();
  // Returns a number that is uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // Returns a number that is uniform in [0, n). The bias is below n / 2^64. REQUIRES: n > 0.
  uint64_t Below(uint64_t n);
  // Returns a standard normal number. Box-Muller computes two numbers at once; every second call returns the
  // stored one.
  double Normal();
  // Pareto: P(X > x) = (min / x)^alpha for x >= min.
  double Pareto(double min, double alpha) { return min * std::pow(1.0 - Uniform(), -1.0 / alpha); }
  // Returns an independent generator for part number `stream` of a computation. The result depends only on the
  // current state and on `stream`, so that each part gets the same random numbers in any order of execution.
  Rng Fork(uint64_t stream) const;

  // Saves and restores the position in the sequence. Load returns false if the bytes end early; the object
  // must not be used after a failed Load.
  void Save(ByteWriter& out) const;
  bool Load(ByteReader& in);

 private:
  uint64_t s_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace taut
