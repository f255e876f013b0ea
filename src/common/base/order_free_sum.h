// A sum whose value does not depend on the order in which its terms are added and partial sums are merged.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "common/base/bytes.h"

namespace taut {

// An exact sum of doubles. The terms are split by exponent into bands of 32 exponents. Each band is an integer,
// whose unit is the lowest bit that a term of the band can have, so no addition rounds. Memory: 32 bytes per band;
// sums of similar terms have one or two bands.
class OrderFreeSum {
 public:
  // REQUIRES: `value` is finite, and fewer than 2^41 terms are added.
  void Add(double value) {
    if (value == 0) return;
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    const int32_t band = exponent >> kBandBits;
    BandAt(band) += static_cast<absl::int128>(std::ldexp(mantissa, exponent - UnitOf(band)));
  }
  void Merge(const OrderFreeSum& other) {
    for (const Band& band : other.bands_) BandAt(band.number) += band.units;
  }
  double value() const {
    double sum = 0;
    for (const Band& band : bands_) sum += std::ldexp(static_cast<double>(band.units), UnitOf(band.number));
    return sum;
  }

  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote. Returns false, and changes nothing, for bytes that Save cannot have written.
  bool Load(ByteReader& in);

 private:
  static constexpr int kBandBits = 5;
  struct Band {
    int32_t number = 0;
    absl::int128 units = 0;
  };
  // Returns the exponent of a band's unit, the lowest bit of a term with the band's lowest exponent.
  static int UnitOf(int32_t band) { return (band << kBandBits) - 53; }
  absl::int128& BandAt(int32_t number);

  std::vector<Band> bands_;  // ascending by number
};

}  // namespace taut
