// A job's recent days in figures: what analogs compare jobs by.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "brain/recommend/fleet_row.h"
#include "common/base/bytes.h"
#include "common/model/signal.h"

namespace taut::brain {

// One day of window peaks of one job and resource, in its unit.
struct DaySummary {
  int32_t day = 0;
  float peak = 0, mean = 0, p50 = 0, p95 = 0, min = 0;
  float last_hour = 0;     // highest of the last 12 windows
  float second_hour = 0;   // second highest hourly peak; the peak if there was one hour
  float owner_limit = -1;  // at the last window; < 0: none
};

// Folds a day's windows. Order statistics come from 16-bit codes of the values (precise to 0.4 %), the rest
// is exact.
class DayAccumulator {
 public:
  void Add(const Signal& signal);
  bool empty() const { return codes_.empty(); }
  float peak() const { return peak_; }
  // The day's figures; clears. REQUIRES: !empty().
  DaySummary Finish(int32_t day);
  size_t heap_bytes() const { return codes_.capacity() * sizeof(uint16_t); }
  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  void CloseHour();

  std::vector<uint16_t> codes_;  // in time order
  float peak_ = 0, min_ = 0;
  double sum_ = 0;
  static constexpr int32_t kNoHour = INT32_MIN;
  int32_t hour_ = kNoHour;
  float hour_peak_ = 0, top_hour_ = -1, second_hour_ = -1;
  float owner_limit_ = -1;
};

// The last kDays job-days (days with usage), newest last.
class JobDaysRing {
 public:
  static constexpr int kDays = 28;

  void Add(const DaySummary& day);
  bool empty() const { return size_ == 0; }
  int size() const { return size_; }
  uint32_t age_job_days() const { return age_; }
  // i = 0: the last job-day. REQUIRES: 0 <= i < size().
  const DaySummary& Last(int i) const { return days_[static_cast<size_t>((next_ + kDays - 1 - i) % kDays)]; }
  // As it was before the last Add, but for the day that this one drove out. REQUIRES: !empty().
  JobDaysRing WithoutLast() const;
  // Highest peak of the last 7 job-days. REQUIRES: !empty().
  double WeekPeak() const;
  size_t heap_bytes() const { return days_.capacity() * sizeof(DaySummary); }

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  std::vector<DaySummary> days_;  // grows to kDays; then the oldest is overwritten
  int next_ = 0;
  int size_ = 0;
  uint32_t age_ = 0;
};

// A small level added before every logarithm or ratio, so that idle jobs make no infinite ratios: 16 MiB,
// 0.01 cores.
double AnalogLevel(Resource r);

// The features of a job at the start of `day` (docs/algorithms/vertical.md lists them). Missing is NaN.
// REQUIRES: !ring.empty().
FleetFeatures FeaturesOf(const JobDaysRing& ring, int32_t day, Resource resource);
// What each feature is called, in order.
std::span<const char* const> FleetFeatureNames();

}  // namespace taut::brain
