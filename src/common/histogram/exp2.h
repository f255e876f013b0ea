// A fast 2^x by a polynomial, with the same bits on every machine, which the C library's exp2 does not
// guarantee.
#pragma once

#include <bit>
#include <cstdint>

namespace taut {

// Returns 2^x with a relative error below 1e-11; exact for whole x. Returns 0 below -1,000 and for NaN; x is
// capped at 1,000.
inline double Exp2(double x) {
  if (!(x >= -1000.0)) return 0.0;
  if (x > 1000.0) x = 1000.0;
  // Adding and subtracting 1.5 * 2^52 rounds to the nearest whole number.
  constexpr double kRound = 6755399441055744.0;
  const double whole = (x + kRound) - kRound;
  const double y = (x - whole) * 0.69314718055994530942;  // |y| <= 0.347
  const double y2 = y * y;
  const double y4 = y2 * y2;
  // Taylor series of e^y up to y^9, evaluated in pairs so that the multiplications overlap.
  const double p01 = 1.0 + y;
  const double p23 = 1.0 / 2 + y * (1.0 / 6);
  const double p45 = 1.0 / 24 + y * (1.0 / 120);
  const double p67 = 1.0 / 720 + y * (1.0 / 5040);
  const double p89 = 1.0 / 40320 + y * (1.0 / 362880);
  const double fraction = (p01 + y2 * p23) + y4 * ((p45 + y2 * p67) + y4 * p89);
  const auto power = static_cast<uint64_t>(static_cast<int64_t>(whole) + 1023) << 52;
  return fraction * std::bit_cast<double>(power);
}

}  // namespace taut
