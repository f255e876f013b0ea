// The target of a synthetic load over time, in bytes or cores. A shape is written as one word:
//
//   AMOUNT               constant                 64MiB    0.3
//   grow:A..B/T          A to B in T, then B       grow:32MiB..256MiB/60s
//   double:A/T[xN]       A, doubled each T, N      double:32MiB/20s    double:32MiB/20sx3
//                        times (6), then constant
//   leak:[A+]R/T         A and R more each T       leak:1MiB/s    leak:64MiB+1MiB/s
//   spike:A+B/T:L        A, from T on A + B for    spike:64MiB+200MiB/30s:2s
//                        the first L of each T
//   duty:A/T:L           A for the first L of      duty:0.8/100ms:30%
//                        each T, else 0
//   step:A..B@T          A until T, then B;        step:0.2..0.8@30s
//   fall:A..B@T          step with B at most A     fall:400MiB..80MiB@20s
//   day:A..B             a sine, A at midnight,    day:50MiB..200MiB
//                        where it begins, B at noon
//
// Any shape may end in ~P%, which adds up to P % of noise, up or down, in each second. The noise is random, and
// equal for equal seeds. AMOUNT is in bytes (B, KiB, MiB, GiB, TiB) or cores, a time in ms, s, m, h; L may be a
// share of T (30%).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace taut::tools {

enum class LoadUnit : uint8_t { kBytes, kCores };

class LoadShape {
 public:
  enum class Kind : uint8_t { kConstant, kGrow, kDouble, kLeak, kSpike, kDuty, kStep, kDay };
  struct Form {
    Kind kind = Kind::kConstant;
    double a = 0, b = 0;
    int64_t period_us = 1, length_us = 0;
    int times = 0;
    double noise = 0;  // relative amplitude; 0.1: up to a tenth more or less
  };
  struct Options {
    double speed = 1;  // speed-up of kDay, which lasts 86,400 s / speed; other kinds ignore it
    uint64_t seed = 1;
  };
  // Maximum amounts. Parse() rejects larger amounts, and At() clamps its result to the maximum.
  static constexpr double kMaxBytes = 1099511627776.0 * 16;
  static constexpr double kMaxCores = 1024;

  // Parses a shape in the format above. If the text is not a shape, returns InvalidArgument with the cause and an
  // example.
  static absl::StatusOr<LoadShape> Parse(std::string_view text, LoadUnit unit, const Options& options);

  // Returns the target `t_us` microseconds after the start, in bytes or cores. Returns 0 for times before the
  // start. Thread-safe.
  double At(int64_t t_us) const;
  LoadUnit unit() const { return unit_; }

 private:
  LoadShape(const Form& form, LoadUnit unit, const Options& options)
      : form_(form), unit_(unit), options_(options) {}
  double Smooth(int64_t t_us) const;

  Form form_;
  LoadUnit unit_;
  Options options_;
};

// Parses "100ms", "20s", "5m", "1h", or a plain number of seconds; "s" alone is 1 s. Returns InvalidArgument if
// the time is 0 or more than 10,000 h.
absl::StatusOr<int64_t> ParseLoadTimeUs(std::string_view text);

}  // namespace taut::tools
