#include "brain/recommend/boosted_history.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "brain/recommend/job_days_ring.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr int kHoursOfDay = 24, kWeekHours = 7 * kHoursOfDay;
constexpr int kBusy = 7;  // share of the week's peak, in tenths, above which an hour is busy

int32_t FloorMod(int32_t a, int32_t b) { return a - static_cast<int32_t>(FloorDiv(a, b)) * b; }

// Returns the upper 16 bits of a positive float and 1, which is precise to 0.4 %; 0 is reserved for missing hours.
uint16_t PackHour(float v) {
  constexpr uint32_t kHalf = 0x8000;
  return static_cast<uint16_t>(((std::bit_cast<uint32_t>(std::max(v, 0.0F)) + kHalf) >> 16) + 1);
}
float UnpackHour(uint16_t code) { return code == 0 ? -1 : std::bit_cast<float>((uint32_t{code} - 1) << 16); }

constexpr const char* kBoostedNames[] = {"peak of 1 hour",
                                         "peak of 3 hours",
                                         "peak of 6 hours",
                                         "peak of 12 hours",
                                         "peak of 1 day",
                                         "peak of 2 days",
                                         "peak of 3 days",
                                         "peak of 14 days",
                                         "peak of 28 days",
                                         "mean of 1 hour",
                                         "mean of 6 hours",
                                         "mean of 1 day",
                                         "mean of 7 days",
                                         "last window",
                                         "owner's limit",
                                         "size",
                                         "hour of the day",
                                         "weekday",
                                         "second highest day of 14",
                                         "third highest day of 14",
                                         "median day of 14",
                                         "lowest day of 7",
                                         "spread of 14 days",
                                         "peak of yesterday",
                                         "peak of the day before",
                                         "same day last week",
                                         "hours since the week's peak",
                                         "busy hours of 7 days",
                                         "age",
                                         "other resource, 1 hour",
                                         "other resource, 1 day",
                                         "these hours yesterday",
                                         "these hours the day before",
                                         "these hours last week",
                                         "these hours of 3 days",
                                         "these hours of 7 days",
                                         "these hours of 14 days",
                                         "median of these hours in 7 days",
                                         "second highest of these hours in 14 days"};
static_assert(std::size(kBoostedNames) == kBoostedFeatures);

// Values relative to the week's peak, as logarithms; a negative value is missing.
struct Scale {
  double level, base;
  float operator()(double v) const {
    return v < 0 ? kUnknown : static_cast<float>(std::log(v + level) - base);
  }
};

float HighestOf(std::span<const float> values) { return *std::ranges::max_element(values); }

// The functions below ignore missing (negative) values, and return -1 if there are too few others.
double AverageOf(std::span<const float> values) {
  double sum = 0;
  int count = 0;
  for (const float v : values) {
    sum += v >= 0 ? v : 0;
    count += v >= 0 ? 1 : 0;
  }
  return count > 0 ? sum / count : -1;
}

float LowestOf(std::span<const float> values) {
  float lowest = -1;
  for (const float v : values) {
    if (v >= 0) lowest = lowest < 0 ? v : std::min(lowest, v);
  }
  return lowest;
}

// Returns the n-th highest value (n = 0: the highest).
float NthHighest(std::span<const float> values, size_t n) {
  std::array<float, BoostedHistory::kSameDays> sorted{};
  std::ranges::copy(values, sorted.begin());
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(sorted.begin(), nth, sorted.begin() + static_cast<std::ptrdiff_t>(values.size()),
                   std::greater());
  return *nth;
}

float MedianOf(std::span<const float> values) {
  const auto size = static_cast<size_t>(std::ranges::count_if(values, [](float v) { return v >= 0; }));
  return size == 0 ? -1 : (NthHighest(values, (size - 1) / 2) + NthHighest(values, size / 2)) / 2;
}

// Returns the standard deviation of the values on a scale; missing if there are none.
float SpreadOf(std::span<const float> values, const Scale& scale) {
  double sum = 0, squares = 0, count = 0;
  for (const float value : values) {
    if (value < 0) continue;
    const double v = scale(value);
    sum += v;
    squares += v * v;
    ++count;
  }
  if (count == 0) return kUnknown;
  return static_cast<float>(std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count))));
}

}  // namespace

std::span<const char* const> BoostedFeatureNames() { return kBoostedNames; }

template <size_t kHours>
float BoostedHistory::At(const std::array<uint16_t, kHours>& ring, int32_t hour) const {
  if (hour >= hour_ || hour < hour_ - static_cast<int32_t>(kHours)) return -1;
  return UnpackHour(ring[static_cast<size_t>(FloorMod(hour, static_cast<int32_t>(kHours)))]);
}

void BoostedHistory::Close() {
  if (hour_ == kNoHour || windows_ == 0) return;
  const auto put = [&](auto& ring, float v) {
    ring[static_cast<size_t>(FloorMod(hour_, static_cast<int32_t>(ring.size())))] = PackHour(v);
  };
  put(peaks_, peak_);
  put(means_, sum_ / windows_);
  if (other_windows_ > 0) put(others_, other_sum_ / other_windows_);
  ++measured_;
}

void BoostedHistory::Add(const Window& window) {
  if (window.hour != hour_) {
    Close();
    const auto forget = [&](auto& ring) {
      const auto size = static_cast<int32_t>(ring.size());
      const int32_t first = hour_ == kNoHour ? window.hour : std::max(hour_ + 1, window.hour - size + 1);
      for (int32_t h = first; h <= window.hour; ++h) ring[static_cast<size_t>(FloorMod(h, size))] = 0;
    };
    forget(peaks_);
    forget(means_);
    forget(others_);
    hour_ = window.hour;
    peak_ = sum_ = other_sum_ = 0;
    windows_ = other_windows_ = 0;
  }
  peak_ = std::max(peak_, window.peak);
  sum_ += window.mean;
  ++windows_;
  if (window.other >= 0) {
    other_sum_ += window.other;
    ++other_windows_;
  }
  last_ = window.peak;
  if (window.owner_limit >= 0) owner_limit_ = window.owner_limit;
}

void BoostedHistory::Raise(float peak) {
  peak_ = std::max(peak_, peak);
  last_ = std::max(last_, peak);
}

std::optional<double> BoostedHistory::WeekPeak(int32_t hour) const {
  const double peak = PeakOf(hour - kWeekHours, hour);
  return peak >= 0 ? std::optional(peak) : std::nullopt;
}

double BoostedHistory::PeakOf(int32_t begin, int32_t end) const {
  float peak = -1;
  for (int32_t h = begin; h < end; ++h)
    peak = std::max(peak, h == hour_ && windows_ > 0 ? peak_ : At(peaks_, h));
  return peak;
}

BoostedHistory::DayCount BoostedHistory::CountDays(int32_t hour, double limit) const {
  constexpr double kPackedError = 1.005;  // stored peaks are precise to 0.4 %
  DayCount count;
  for (int d = 0; d < kDays; ++d) {
    const double peak = PeakOf(hour - (d + 1) * kHoursOfDay, hour - d * kHoursOfDay);
    count.measured += peak >= 0 ? 1 : 0;
    count.above += peak > kPackedError * limit ? 1 : 0;
  }
  return count;
}

std::optional<double> BoostedHistory::DayMean(int32_t hour) const {
  double sum = 0;
  int count = 0;
  for (int32_t h = hour - kHoursOfDay; h < hour; ++h) {
    const float mean = h == hour_ && windows_ > 0 ? sum_ / windows_ : At(means_, h);
    if (mean < 0) continue;
    sum += mean;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

BoostedHistory::Recent BoostedHistory::RecentOf(int32_t hour, int period_hours) const {
  Recent r;
  const auto is_current = [&](int i) { return hour - 1 - i == hour_ && windows_ > 0; };
  for (int i = 0; i < kPeakHours; ++i)
    r.peak[static_cast<size_t>(i)] = is_current(i) ? peak_ : At(peaks_, hour - 1 - i);
  for (int i = 0; i < kMeanHours; ++i) {
    const auto at = static_cast<size_t>(i);
    r.mean[at] = is_current(i) ? sum_ / windows_ : At(means_, hour - 1 - i);
    r.other[at] =
        is_current(i) && other_windows_ > 0 ? other_sum_ / other_windows_ : At(others_, hour - 1 - i);
  }
  for (size_t d = 0; d < kDays; ++d)
    r.day[d] = HighestOf(std::span(r.peak).subspan(d * kHoursOfDay, kHoursOfDay));
  for (int d = 0; d < kSameDays; ++d) {
    const auto first = static_cast<size_t>((d + 1) * kHoursOfDay - period_hours);
    r.same[static_cast<size_t>(d)] =
        HighestOf(std::span(r.peak).subspan(first, static_cast<size_t>(period_hours)));
  }
  return r;
}

BoostedFeatures BoostedHistory::Features(int32_t hour, int period_hours, double week_peak,
                                         Resource resource) const {
  const Recent r = RecentOf(hour, period_hours);
  const double level = AnalogLevel(resource);
  const Scale scale{level, std::log(week_peak + level)};
  const std::span<const float> peak(r.peak), mean(r.mean), other(r.other), day(r.day), same(r.same);
  BoostedFeatures f;  // NOLINT(*-member-init)
  auto next = f.begin();
  const auto put = [&](float v) { *next++ = v; };
  for (const size_t hours : {1, 3, 6, 12}) put(scale(HighestOf(peak.first(hours))));
  for (const size_t days : {1, 2, 3, 14, 28}) put(scale(HighestOf(day.first(days))));
  for (const size_t hours : {1, 6, 24, 168}) put(scale(AverageOf(mean.first(hours))));
  put(scale(measured_ > 0 || windows_ > 0 ? last_ : -1));
  put(scale(owner_limit_));
  put(static_cast<float>(scale.base));
  put(static_cast<float>(FloorMod(hour, kHoursOfDay)));
  put(static_cast<float>(FloorMod(static_cast<int32_t>(FloorDiv(hour, kHoursOfDay)), 7)));
  const auto recent_days = day.first(kSameDays);
  for (const size_t n : {1, 2}) put(scale(NthHighest(recent_days, n)));
  put(scale(MedianOf(recent_days)));
  put(scale(LowestOf(day.first(7))));
  put(SpreadOf(recent_days, scale));
  for (const size_t d : {1, 2, 7}) put(scale(day[d]));
  const auto week = peak.first(kWeekHours);
  put(static_cast<float>(std::ranges::max_element(week) - week.begin()));
  const auto busy = std::ranges::count_if(week, [&](float v) { return 10 * v > kBusy * week_peak; });
  put(static_cast<float>(busy) / kWeekHours);
  put(static_cast<float>(measured_));
  const double most_other = HighestOf(other);
  const Scale of_other{0.01 * most_other, std::log(1.01 * most_other)};
  for (const double v : {double{other[0]}, AverageOf(other.first(kHoursOfDay))})
    put(most_other > 0 ? of_other(v) : kUnknown);
  for (const size_t d : {0, 1, 6}) put(scale(same[d]));
  for (const size_t days : {3, 7, 14}) put(scale(HighestOf(same.first(days))));
  put(scale(MedianOf(same.first(7))));
  put(scale(NthHighest(same, 1)));
  return f;
}

void BoostedHistory::Save(ByteWriter& out) const {
  for (const uint16_t code : peaks_) out.Put(code);
  for (const uint16_t code : means_) out.Put(code);
  for (const uint16_t code : others_) out.Put(code);
  out.Put(hour_);
  for (const float v : {peak_, sum_, other_sum_, last_, owner_limit_}) out.Put(v);
  out.Put(windows_);
  out.Put(other_windows_);
  out.Put(measured_);
}

absl::Status BoostedHistory::Load(ByteReader& in) {
  for (uint16_t& code : peaks_) code = in.Get<uint16_t>();
  for (uint16_t& code : means_) code = in.Get<uint16_t>();
  for (uint16_t& code : others_) code = in.Get<uint16_t>();
  hour_ = in.Get<int32_t>();
  for (float* v : {&peak_, &sum_, &other_sum_, &last_, &owner_limit_}) *v = in.Get<float>();
  windows_ = in.Get<uint16_t>();
  other_windows_ = in.Get<uint16_t>();
  measured_ = in.Get<uint32_t>();
  if (absl::Status s = in.status("boosted history"); !s.ok()) return s;
  bool possible = hour_ == kNoHour || IsStoredWindow(hour_);
  for (const float v : {peak_, sum_, other_sum_, last_}) possible = possible && IsStoredAmount(v);
  possible = possible && (owner_limit_ == -1 || IsStoredAmount(owner_limit_));
  const auto finite = [](const auto& ring) {
    return std::ranges::all_of(ring, [](uint16_t c) { return c == 0 || IsStoredAmount(UnpackHour(c)); });
  };
  possible = possible && finite(peaks_) && finite(means_) && finite(others_);
  return possible ? absl::OkStatus() : absl::DataLossError("boosted history: an impossible figure");
}

}  // namespace taut::brain
