// Figures of a job's recent days, from which the features of analogs are computed.
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

// Figures of the window peaks of one day of one job and resource, in the resource's unit.
struct DaySummary {
  int32_t day = 0;
  float peak = 0, mean = 0, p50 = 0, p95 = 0, min = 0;
  float last_hour = 0;     // highest peak of the last 12 windows
  float second_hour = 0;   // second highest hourly peak; the peak if only one hour was measured
  float owner_limit = -1;  // owner's limit in the last window; < 0: none
};

// Accumulates a day's windows. Order statistics are computed from 16-bit codes of the values (precise to 0.4 %);
// all other figures are exact.
class DayAccumulator {
 public:
  // Adds a window. Windows must ascend.
  void Add(const Signal& signal);
  bool empty() const { return codes_.empty(); }
  float peak() const { return peak_; }
  // Returns the day's figures and starts a new day. REQUIRES: !empty().
  DaySummary Finish(int32_t day);
  size_t heap_bytes() const { return codes_.capacity() * sizeof(uint16_t); }
  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  void CloseHour();

  std::vector<uint16_t> codes_;  // codes of the window peaks, in the order of time
  float peak_ = 0, min_ = 0;
  double sum_ = 0;
  static constexpr int32_t kNoHour = INT32_MIN;
  int32_t hour_ = kNoHour;
  float hour_peak_ = 0, top_hour_ = -1, second_hour_ = -1;
  float owner_limit_ = -1;
};

// The last kDays job-days (days with usage), the newest last.
class JobDaysRing {
 public:
  static constexpr int kDays = 28;

  void Add(const DaySummary& day);
  bool empty() const { return size_ == 0; }
  int size() const { return size_; }
  // Returns the number of all job-days ever added.
  uint32_t age_job_days() const { return age_; }
  // Returns the i-th newest job-day; i = 0 is the newest. REQUIRES: 0 <= i < size().
  const DaySummary& Last(int i) const { return days_[static_cast<size_t>((next_ + kDays - 1 - i) % kDays)]; }
  // Returns the ring as it was before the last Add, except for the day that the last Add overwrote. REQUIRES:
  // !empty().
  JobDaysRing WithoutLast() const;
  // Returns the highest peak of the last 7 job-days. REQUIRES: !empty().
  double WeekPeak() const;
  size_t heap_bytes() const { return days_.capacity() * sizeof(DaySummary); }

  void Save(ByteWriter& out) const;
  absl::Status Load(ByteReader& in);

 private:
  std::vector<DaySummary> days_;  // days, of which the oldest is overwritten if there are kDays
  int next_ = 0;
  int size_ = 0;
  uint32_t age_ = 0;
};

// Returns a small amount that is added before every logarithm or ratio, so that idle jobs yield no infinite
// ratios: 16 MiB or 0.01 cores.
double AnalogLevel(Resource r);

// Returns the features of a job at the start of `day` (listed in docs/algorithms/vertical.md). A missing feature
// is NaN. REQUIRES: !ring.empty().
FleetFeatures FeaturesOf(const JobDaysRing& ring, int32_t day, Resource resource);
// Returns the names of the features, in order.
std::span<const char* const> FleetFeatureNames();

}  // namespace taut::brain
