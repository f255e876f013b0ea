#include "brain/recommend/job_days_ring.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "brain/recommend/settings.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
// Steps by which allocations grow. The steps are small, because with a million jobs every unused value costs
// megabytes.
constexpr size_t kDayStep = 4;      // days in a JobDaysRing
constexpr size_t kWindowStep = 24;  // windows of a day
// logarithm of the least ratio to the week's peak that counts as near: within 5 %
constexpr double kNear = -0.05;

// Returns the exponent and the upper 8 bits of the mantissa of a positive float. The codes have the order of the
// values.
uint16_t CodeOf(float v) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(std::max(v, 0.0F)) >> 15); }
float ValueOf(uint16_t code) { return std::bit_cast<float>((uint32_t{code} << 15) | 0x4000U); }

float Rank(std::vector<uint16_t>& codes, size_t rank) {
  const auto nth = codes.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(codes.begin(), nth, codes.end());
  return ValueOf(*nth);
}

}  // namespace

void DayAccumulator::Add(const Signal& signal) {
  const auto v = static_cast<float>(signal.peak);
  if (codes_.empty()) {
    peak_ = min_ = v;
  } else {
    peak_ = std::max(peak_, v);
    min_ = std::min(min_, v);
  }
  if (codes_.size() == codes_.capacity()) codes_.reserve(codes_.size() + kWindowStep);
  codes_.push_back(CodeOf(v));
  sum_ += v;
  const int32_t hour = static_cast<int32_t>(FloorDiv(signal.window.index, kWindowsPerHour));
  if (hour != hour_) CloseHour();
  hour_peak_ = hour != hour_ ? v : std::max(hour_peak_, v);
  hour_ = hour;
  owner_limit_ = signal.owner_limit.has_value() ? static_cast<float>(*signal.owner_limit) : owner_limit_;
}

void DayAccumulator::CloseHour() {
  if (hour_ == kNoHour) return;
  if (hour_peak_ > top_hour_) {
    second_hour_ = top_hour_;
    top_hour_ = hour_peak_;
  } else {
    second_hour_ = std::max(second_hour_, hour_peak_);
  }
}

DaySummary DayAccumulator::Finish(int32_t day) {
  CloseHour();
  DaySummary s;
  s.day = day;
  s.peak = peak_;
  s.min = min_;
  s.mean = static_cast<float>(sum_ / static_cast<double>(codes_.size()));
  const size_t last_hour = std::min<size_t>(codes_.size(), kWindowsPerHour);
  s.last_hour = std::min(
      peak_, ValueOf(*std::max_element(codes_.end() - static_cast<std::ptrdiff_t>(last_hour), codes_.end())));
  s.second_hour = second_hour_ >= 0 ? second_hour_ : peak_;
  const size_t n = codes_.size();
  s.p95 = std::min(peak_, Rank(codes_, (n * 95 + 99) / 100 - 1));
  s.p50 = std::min(peak_, Rank(codes_, (n - 1) / 2));
  s.owner_limit = owner_limit_;
  codes_.clear();
  sum_ = 0;
  hour_ = kNoHour;
  top_hour_ = second_hour_ = -1;
  return s;
}

void DayAccumulator::Save(ByteWriter& out) const {
  out.PutVarint(codes_.size());
  for (uint16_t c : codes_) out.Put(c);
  for (float v : {peak_, min_, hour_peak_, top_hour_, second_hour_, owner_limit_}) out.Put(v);
  out.Put(sum_);
  out.Put(hour_);
}

absl::Status DayAccumulator::Load(ByteReader& in) {
  const uint64_t size = in.GetVarint();
  if (in.failed() || size > in.remaining() / 2)
    return absl::DataLossError("day: fewer windows than announced");
  codes_.clear();
  for (uint64_t i = 0; i < size; ++i) codes_.push_back(in.Get<uint16_t>());
  for (float* v : {&peak_, &min_, &hour_peak_, &top_hour_, &second_hour_, &owner_limit_})
    *v = in.Get<float>();
  sum_ = in.Get<double>();
  hour_ = in.Get<int32_t>();
  if (absl::Status s = in.status("day"); !s.ok()) return s;
  bool possible = IsStoredAmount(sum_) && (hour_ == kNoHour || IsStoredWindow(hour_));
  for (float v : {peak_, min_, hour_peak_}) possible = possible && IsStoredAmount(v);
  for (float v : {top_hour_, second_hour_, owner_limit_})
    possible = possible && (v == -1 || IsStoredAmount(v));
  return possible ? absl::OkStatus() : absl::DataLossError("day: an impossible figure");
}

void JobDaysRing::Add(const DaySummary& day) {
  if (days_.size() == static_cast<size_t>(next_)) {
    if (days_.size() == days_.capacity()) days_.reserve(days_.size() + kDayStep);
    days_.push_back(day);
  } else {
    days_[static_cast<size_t>(next_)] = day;
  }
  next_ = (next_ + 1) % kDays;
  size_ = std::min(size_ + 1, kDays);
  ++age_;
}

JobDaysRing JobDaysRing::WithoutLast() const {
  JobDaysRing before = *this;
  before.next_ = (next_ + kDays - 1) % kDays;
  --before.size_;
  --before.age_;
  return before;
}

double JobDaysRing::WeekPeak() const {
  float peak = 0;
  for (int i = 0; i < std::min(size_, 7); ++i) peak = std::max(peak, Last(i).peak);
  return peak;
}

void JobDaysRing::Save(ByteWriter& out) const {
  out.PutVarint(static_cast<uint64_t>(size_));
  out.Put(age_);
  for (int i = size_ - 1; i >= 0; --i) {
    const DaySummary& d = Last(i);
    out.Put(d.day);
    for (float v : {d.peak, d.mean, d.p50, d.p95, d.min, d.last_hour, d.second_hour, d.owner_limit})
      out.Put(v);
  }
}

absl::Status JobDaysRing::Load(ByteReader& in) {
  const uint64_t size = in.GetVarint();
  const auto age = in.Get<uint32_t>();
  if (size > kDays) return absl::DataLossError("days: more than are kept");
  days_.clear();
  size_ = next_ = 0;
  bool possible = true;
  for (uint64_t i = 0; i < size; ++i) {
    DaySummary d;
    d.day = in.Get<int32_t>();
    for (float* v :
         {&d.peak, &d.mean, &d.p50, &d.p95, &d.min, &d.last_hour, &d.second_hour, &d.owner_limit}) {
      *v = in.Get<float>();
      possible = possible && (IsStoredAmount(*v) || (v == &d.owner_limit && *v == -1));
    }
    possible = possible && IsStoredDay(d.day) && (size_ == 0 || Last(0).day < d.day);
    Add(d);
  }
  age_ = age;
  if (absl::Status s = in.status("days"); !s.ok()) return s;
  return possible && age >= size ? absl::OkStatus() : absl::DataLossError("days: an impossible day");
}

double AnalogLevel(Resource r) { return InCores(r) ? 0.01 : 16 * kMiB; }

namespace {

constexpr const char* kNames[kFleetFeatures] = {"peak of the last day",
                                                "peak 2 days ago",
                                                "peak 3 days ago",
                                                "mean peak of the week",
                                                "median peak of the week",
                                                "lowest peak of the week",
                                                "spread of the week",
                                                "peak of 14 days",
                                                "peak of 28 days",
                                                "level under owner's limit",
                                                "level",
                                                "same day last week",
                                                "same day 2 weeks ago",
                                                "age",
                                                "days since the peak",
                                                "days near the week's peak",
                                                "days of 28 near the peak",
                                                "mean of the last day",
                                                "p95 of the last day",
                                                "highest p95 of the week",
                                                "mean of the week",
                                                "last day's mean against the week's",
                                                "last hour",
                                                "second hour of the last day",
                                                "second hour of the week",
                                                "trend",
                                                "lowest of the last day",
                                                "day of the week",
                                                "days without usage"};

// Logarithms of figures relative to the week's peak.
class Logs {
 public:
  Logs(const JobDaysRing& ring, double level)
      : ring_(ring), level_(level), week_(std::log(ring.WeekPeak() + level)) {
    for (int i = 0; i < ring.size(); ++i) peaks_[static_cast<size_t>(i)] = Of(ring.Last(i).peak);
  }
  double Of(double v) const { return std::log(v + level_) - week_; }
  double week() const { return week_; }
  double Peak(int i) const { return peaks_[static_cast<size_t>(i)]; }
  // Return extremes over the last `days` job-days.
  double MaxPeak(int days) const { return *std::max_element(peaks_.begin(), End(days)); }
  double MinPeak(int days) const { return *std::min_element(peaks_.begin(), End(days)); }
  double MeanPeak(int first, int last) const {
    double sum = 0;
    const int end = std::min(last, ring_.size());
    for (int i = first; i < end; ++i) sum += Peak(i);
    return sum / (end - first);
  }
  int Near(int days) const {
    return static_cast<int>(std::count_if(peaks_.begin(), End(days), [](double p) { return p > kNear; }));
  }

 private:
  std::array<double, JobDaysRing::kDays>::const_iterator End(int days) const {
    return peaks_.begin() + std::min(days, ring_.size());
  }
  const JobDaysRing& ring_;
  double level_;
  double week_;
  std::array<double, JobDaysRing::kDays> peaks_{};
};

double MedianOfWeek(const Logs& logs, int days) {
  std::vector<double> v;
  for (int i = 0; i < days; ++i) v.push_back(logs.Peak(i));
  std::sort(v.begin(), v.end());
  const auto mid = static_cast<size_t>(days / 2);
  return days % 2 == 1 ? v[mid] : (v[mid - 1] + v[mid]) / 2;
}

double SpreadOfWeek(const Logs& logs, int days) {
  const double mean = logs.MeanPeak(0, days);
  double sum = 0;
  for (int i = 0; i < days; ++i) sum += (logs.Peak(i) - mean) * (logs.Peak(i) - mean);
  return std::sqrt(sum / days);
}

// Returns the peak of the calendar day `day`; NaN if the job had no usage on this day.
double PeakOfDay(const JobDaysRing& ring, const Logs& logs, int32_t day) {
  for (int i = 0; i < ring.size(); ++i) {
    if (ring.Last(i).day == day) return logs.Peak(i);
  }
  return kMissing;
}

}  // namespace

std::span<const char* const> FleetFeatureNames() { return kNames; }

FleetFeatures FeaturesOf(const JobDaysRing& ring, int32_t day, Resource resource) {
  const double level = AnalogLevel(resource);
  const Logs logs(ring, level);
  const int size = ring.size();
  const int week = std::min(size, 7);
  const DaySummary& last = ring.Last(0);
  double p95_week = 0;
  double second_week = 0;
  double mean_week = 0;
  for (int i = 0; i < week; ++i) {
    p95_week = std::max<double>(p95_week, ring.Last(i).p95);
    second_week = std::max<double>(second_week, ring.Last(i).second_hour);
    mean_week += ring.Last(i).mean / week;
  }
  int since = 0;
  for (int i = 1; i < size; ++i) {
    if (ring.Last(i).peak > ring.Last(since).peak) since = i;
  }
  const uint32_t age = ring.age_job_days();
  const double owner = last.owner_limit >= 0 ? -logs.Of(last.owner_limit) : kMissing;
  const double values[kFleetFeatures] = {logs.Peak(0),
                                         size > 1 ? logs.Peak(1) : kMissing,
                                         size > 2 ? logs.Peak(2) : kMissing,
                                         logs.MeanPeak(0, 7),
                                         MedianOfWeek(logs, week),
                                         logs.MinPeak(7),
                                         size > 1 ? SpreadOfWeek(logs, week) : kMissing,
                                         size > 7 ? logs.MaxPeak(14) : kMissing,
                                         size > 14 ? logs.MaxPeak(28) : kMissing,
                                         owner,
                                         logs.week(),
                                         PeakOfDay(ring, logs, day - 7),
                                         PeakOfDay(ring, logs, day - 14),
                                         static_cast<double>(age),
                                         static_cast<double>(since),
                                         static_cast<double>(logs.Near(7)),
                                         static_cast<double>(logs.Near(28)),
                                         logs.Of(last.mean),
                                         logs.Of(last.p95),
                                         logs.Of(p95_week),
                                         logs.Of(mean_week),
                                         logs.Of(last.mean) - logs.Of(mean_week),
                                         logs.Of(last.last_hour),
                                         logs.Of(last.second_hour),
                                         logs.Of(second_week),
                                         size > 3 ? logs.MeanPeak(0, 3) - logs.MeanPeak(3, 7) : kMissing,
                                         logs.Of(last.min),
                                         static_cast<double>(((day % 7) + 7) % 7),
                                         static_cast<double>(day - 1 - last.day)};
  FleetFeatures out;
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(values[i]);
  return out;
}

}  // namespace taut::brain
