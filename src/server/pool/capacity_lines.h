// Hourly time series of a cell for kCapacityDays: capacity, reservation, allocation, usage, forecast of the pool,
// and the maximum usage of each tier for the actuary. Unknown values are absent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/model/resource.h"
#include "server/pool/cell_capacity.h"

namespace taut::server {

inline constexpr int32_t kCapacityDays = 100;
inline constexpr int32_t kCapacityHours = 24 * kCapacityDays;

enum class CapacityLine : uint8_t {
  kCapacity,     // minimum over the windows of the hour
  kReservation,  // mean over the windows of the hour, like kAllocation and kUsage
  kAllocation,
  kUsage,
  kUsagePeak,  // maximum usage of a window in the hour
  kForecast,   // maximum over the windows of the hour
};
inline constexpr std::array<CapacityLine, 6> kCapacityLines = {
    CapacityLine::kCapacity, CapacityLine::kReservation, CapacityLine::kAllocation,
    CapacityLine::kUsage,    CapacityLine::kUsagePeak,   CapacityLine::kForecast};
std::string_view Name(CapacityLine line);  // returns a name such as "usage_peak"

// Values of one hour, computed from its windows.
class HourOfCapacity {
 public:
  // Adds a window. The elements of the vectors in `window` belong to `tiers`, in this order.
  void Add(const CellCapacity& window, std::span<const CapacityTier> tiers);
  // Returns the value of the hour; absent unless at least half of its windows had a value.
  std::optional<double> Of(Resource r, CapacityLine line) const;
  struct TierUse {
    std::string tier;
    double highest = 0;
  };
  // Returns the maximum usage of each tier; empty unless at least half of the windows had a known usage.
  std::vector<TierUse> Use(Resource r) const;

  void Save(ByteWriter& out) const;
  static absl::StatusOr<HourOfCapacity> Load(ByteReader& in);

 private:
  struct Figure {
    int32_t windows = 0;
    double sum = 0, low = 0, high = 0;
    void Add(const std::optional<double>& value);
  };
  struct Amounts {
    Figure capacity, reservation, allocation, usage, forecast;
    int32_t use_windows = 0;
    std::vector<TierUse> use;
  };
  const Figure& FigureOf(const Amounts& a, CapacityLine line) const;
  PerResource<Amounts> of_;
};

// A ring buffer of hours. Not thread-safe.
class CapacityLines {
 public:
  // Return the range of the known hours since the Unix epoch, [first, end); empty if no hour is known.
  int32_t first() const { return first_; }
  int32_t end() const { return end_; }

  // Stores an hour, and deletes the hours that are kCapacityHours or more before it. REQUIRES: hour >= end(), or
  // no hour is known.
  void Put(int32_t hour, const HourOfCapacity& of);
  // Deletes `hour` and all later hours.
  void CutFrom(int32_t hour);
  // Returns the value of an hour; absent if unknown.
  std::optional<double> At(int32_t hour, Resource r, CapacityLine line) const;
  // Returns the usage in an hour by all tiers with a higher priority than a tier. Sums the maximum usage of
  // `tiers` [0, before) and of former tiers, which are not in `tiers`. Absent if nothing was measured.
  std::optional<double> HigherUse(int32_t hour, Resource r, std::span<const CapacityTier> tiers,
                                  size_t before) const;
  size_t bytes() const;

  void Save(ByteWriter& out) const;
  static absl::StatusOr<CapacityLines> Load(ByteReader& in);

 private:
  using Column = std::vector<float>;  // values, indexed by hour modulo kCapacityHours; NaN: absent
  struct TierColumn {
    std::string tier;
    Column use;
  };
  struct Of {
    std::array<Column, kCapacityLines.size()> lines;
    std::vector<TierColumn> tiers;
  };
  static void Set(Column& column, int32_t hour, std::optional<double> value);
  static float Get(const Column& column, int32_t hour);
  void Clear(int32_t hour);
  template <typename Fn>
  void ForEachColumn(Fn fn);

  int32_t first_ = 0, end_ = 0;
  PerResource<Of> of_;
};

}  // namespace taut::server
