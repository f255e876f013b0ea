// The reservation of one task and resource: the amount that the scheduler counts for the task. A reservation
// starts at the limit, falls slowly to usage plus a margin, and rises at once. Borg, EuroSys 2015, section 5.5;
// docs/algorithms/overcommit.md, "Reservations".
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/base/time.h"

namespace taut::brain {

// The paper specifies only `start_s`. Margin and half-life are our own choice.
struct ReservationSettings {
  double margin = 0.15;    // margin, as a share of the usage
  double half_life_h = 1;  // half-life in hours of the excess over usage plus margin
  // Seconds after the first measurement of the task during which the limit is reserved.
  int64_t start_s = 300;
};

// Not thread-safe.
class Reservation {
 public:
  struct Figures {
    std::optional<double> usage;  // usage of the window; absent: not measured, the reservation stays
    std::optional<double> asked;  // amount reserved at the start; absent: usage plus margin
    std::optional<double> cap;    // upper bound of the task's usage
  };
  // Updates the reservation for a window and returns value(). Windows must ascend.
  std::optional<double> Step(WindowId window, const Figures& figures, const ReservationSettings& settings);

  // Returns the reservation; nullopt before the first limit or usage.
  std::optional<double> value() const { return value_ < 0 ? std::nullopt : std::optional<double>(value_); }
  // Returns the window of the first Step. REQUIRES: Step was called.
  WindowId first() const { return first_; }

  void Save(ByteWriter& out) const;
  // Returns DataLoss for bytes that Save cannot have written.
  static absl::StatusOr<Reservation> Load(ByteReader& in);

 private:
  static constexpr double kAbsent = -1;

  double value_ = kAbsent;  // the reservation; negative if absent
  WindowId first_{INT32_MIN}, last_{INT32_MIN};
};

}  // namespace taut::brain
