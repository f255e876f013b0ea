// What a machine counts for one task of one resource: its limit at first, then a slow way down to what it uses
// and a margin, and up again at once. Borg, EuroSys 2015, section 5.5; docs/algorithms/overcommit.md,
// "Reservations".
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/base/time.h"

namespace taut::brain {

// The paper gives `start_s` alone; margin and half-life are ours.
struct ReservationSettings {
  double margin = 0.15;    // of the usage
  double half_life_h = 1;  // of what is above usage and margin
  int64_t start_s = 300;   // after the task was first seen, its reservation is the limit
};

class Reservation {
 public:
  struct Figures {
    std::optional<double> usage;  // of the window; absent: not measured, and the reservation stays
    std::optional<double> asked;  // what the scheduler counts: it begins here; absent: at usage and margin
    std::optional<double> cap;    // the task cannot use more
  };
  // Windows ascend. Returns value().
  std::optional<double> Step(WindowId window, const Figures& figures, const ReservationSettings& settings);

  // Absent: neither a limit nor usage was seen.
  std::optional<double> value() const { return value_ < 0 ? std::nullopt : std::optional<double>(value_); }
  // Of the first Step. REQUIRES: there was one.
  WindowId first() const { return first_; }

  void Save(ByteWriter& out) const;
  // DataLoss for bytes that Save cannot have written.
  static absl::StatusOr<Reservation> Load(ByteReader& in);

 private:
  static constexpr double kAbsent = -1;

  double value_ = kAbsent;  // negative: absent
  WindowId first_{INT32_MIN}, last_{INT32_MIN};
};

}  // namespace taut::brain
