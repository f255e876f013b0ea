// The hourly usage of a job in the last 28 days, and the features that are computed from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "brain/recommend/boosted_row.h"
#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/model/resource.h"

namespace taut::brain {

// About 2 KB per job and resource. Hours are numbered by the caller; a job's hours need not begin with the
// clock's. Not thread-safe.
class BoostedHistory {
 public:
  static constexpr int kPeakHours = 28 * 24, kMeanHours = 7 * 24;
  static constexpr int kDays = 28, kSameDays = 14;

  // One measured window.
  struct Window {
    int32_t hour = 0;
    float peak = 0;          // highest need of a task
    float mean = 0;          // mean usage of a task
    float other = -1;        // mean usage of a task of the other resource; < 0: not measured
    float owner_limit = -1;  // < 0: none
  };
  // Adds a window. Hours must not descend.
  void Add(const Window& window);
  // Raises the highest need of the current hour.
  void Raise(float peak);

  // Number of hours with a measured window, before the current hour.
  uint32_t hours_measured() const { return measured_; }
  // Return figures of the hours before `hour`; nullopt if none of the last 7 days' hours was measured.
  std::optional<double> WeekPeak(int32_t hour) const;
  std::optional<double> DayMean(int32_t hour) const;
  // Returns the highest peak of the last 28 days; 0 if nothing was measured.
  double HighestPeak(int32_t hour) const { return std::max(0.0, PeakOf(hour - kPeakHours, hour)); }
  // Counts the measured days of 24 hours among the last 28 days before `hour`, and the days with a peak above
  // `limit`.
  struct DayCount {
    int measured = 0, above = 0;
  };
  DayCount CountDays(int32_t hour, double limit) const;
  double owner_limit() const { return owner_limit_; }

  // Returns the features of a decision at the start of `hour` for the next `period_hours` hours. `week_peak` is
  // WeekPeak(hour). Takes about 2 us.
  BoostedFeatures Features(int32_t hour, int period_hours, double week_peak, Resource resource) const;

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  static constexpr int32_t kNoHour = INT32_MIN;

  // Figures before an hour; < 0: not measured. peak[i], mean[i] and other[i] belong to the i-th hour before it,
  // day[i] to the i-th 24 hours before it. same[i] is the peak of the coming period's hours i + 1 days ago.
  struct Recent {
    std::array<float, kPeakHours> peak;
    std::array<float, kMeanHours> mean, other;
    std::array<float, kDays> day;
    std::array<float, kSameDays> same;
  };

  Recent RecentOf(int32_t hour, int period_hours) const;
  void Close();
  // Returns the highest peak of the hours [begin, end); < 0 if nothing was measured.
  double PeakOf(int32_t begin, int32_t end) const;
  // Returns the figure of an hour; < 0 if it was not measured or is not in the ring.
  template <size_t kHours>
  float At(const std::array<uint16_t, kHours>& ring, int32_t hour) const;

  // Codes by hour mod the size; 0: not measured.
  std::array<uint16_t, kPeakHours> peaks_{};
  std::array<uint16_t, kMeanHours> means_{}, others_{};
  int32_t hour_ = kNoHour;  // the current hour
  float peak_ = 0;          // highest need of the current hour
  float sum_ = 0, other_sum_ = 0;
  uint16_t windows_ = 0, other_windows_ = 0;
  float last_ = 0;  // need of the last window
  float owner_limit_ = -1;
  uint32_t measured_ = 0;
};

// Returns the names of the features, in order.
std::span<const char* const> BoostedFeatureNames();

}  // namespace taut::brain
