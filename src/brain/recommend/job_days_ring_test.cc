// Tests figures of a job's days against their plain definitions.
#include "brain/recommend/job_days_ring.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "brain/recommend/settings.h"
#include "gtest/gtest.h"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

// Order statistics are computed from codes with a precision of 0.4 %.
bool Close(double got, double wanted) { return std::abs(got - wanted) <= 0.004 * wanted; }

RC_GTEST_PROP(DayAccumulator, SummarisesTheDay, ()) {
  DayAccumulator accumulator;
  int32_t day = *rc::gen::inRange(-3, 100);
  for (int round = 0; round < 2; ++round, ++day) {  // the second day must not contain data of the first day
    std::vector<float> values;
    std::map<int32_t, float> hours;
    int32_t w = day * kWindowsPerDay + *rc::gen::inRange(0, 50);
    const int n = *rc::gen::inRange(1, 60);
    for (int i = 0; i < n; ++i, w += *rc::gen::inRange(1, 5)) {
      const auto v = static_cast<float>(*rc::gen::inRange(1, 2'000'000)) * 100;
      values.push_back(v);
      float& hour = hours[static_cast<int32_t>(FloorDiv(w, kWindowsPerHour))];
      hour = std::max(hour, v);
      accumulator.Add(MadeSignal(Resource::kMemory, w, {{0, v, v}}, 1e9 + i));
    }
    RC_ASSERT(!accumulator.empty());
    RC_ASSERT(accumulator.peak() == *std::max_element(values.begin(), values.end()));
    const DaySummary s = accumulator.Finish(day);
    RC_ASSERT(accumulator.empty());
    const auto last = values.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(values.size(), 12));
    RC_ASSERT(Close(s.last_hour, *std::max_element(last, values.end())));
    double sum = 0;
    for (float v : values) sum += v;
    RC_ASSERT(Close(s.mean, sum / n));
    std::vector<float> peaks;
    for (const auto& [hour, peak] : hours) peaks.push_back(peak);
    std::sort(peaks.begin(), peaks.end(), std::greater<>());
    RC_ASSERT(s.second_hour == (peaks.size() > 1 ? peaks[1] : peaks[0]));
    std::sort(values.begin(), values.end());
    const auto rank = [&](double p) { return values[static_cast<size_t>(std::ceil(p * n - 1e-9)) - 1]; };
    RC_ASSERT(s.day == day);
    RC_ASSERT(s.peak == values.back());
    RC_ASSERT(s.min == values.front());
    RC_ASSERT(Close(s.p95, rank(0.95)));
    RC_ASSERT(Close(s.p50, rank(0.5)));
    RC_ASSERT(s.owner_limit == static_cast<float>(1e9 + n - 1));
  }
}

JobDaysRing RingOf(const std::vector<std::pair<int32_t, float>>& peaks) {
  JobDaysRing ring;
  for (const auto& [day, peak] : peaks) {
    DaySummary s;
    s.day = day;
    s.peak = peak;
    s.mean = 0.5F * peak;
    s.p95 = 0.9F * peak;
    s.p50 = 0.4F * peak;
    s.min = 0.1F * peak;
    s.last_hour = 0.7F * peak;
    s.second_hour = 0.8F * peak;
    s.owner_limit = 3e9F;
    ring.Add(s);
  }
  return ring;
}

RC_GTEST_PROP(JobDaysRing, KeepsTheLastTwentyEight, ()) {
  std::vector<std::pair<int32_t, float>> peaks;
  int32_t day = 0;
  const int n = *rc::gen::inRange(1, 80);
  for (int i = 0; i < n; ++i)
    peaks.emplace_back(day += *rc::gen::inRange(1, 4), *rc::gen::inRange(1, 1000) * 1e6F);
  const JobDaysRing ring = RingOf(peaks);
  RC_ASSERT(ring.size() == std::min(n, 28));
  RC_ASSERT(ring.age_job_days() == static_cast<uint32_t>(n));
  float week = 0;
  for (int i = 0; i < ring.size(); ++i) {
    const auto& [at, peak] = peaks[peaks.size() - 1 - static_cast<size_t>(i)];
    RC_ASSERT(ring.Last(i).day == at);
    RC_ASSERT(ring.Last(i).peak == peak);
    week = i < 7 ? std::max(week, peak) : week;
  }
  RC_ASSERT(ring.WeekPeak() == double{week});
}

class NamedFeatures {
 public:
  NamedFeatures(const JobDaysRing& ring, int32_t day) : values_(FeaturesOf(ring, day, Resource::kMemory)) {}
  double operator[](const std::string& name) const {
    const auto names = FleetFeatureNames();
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return values_[i];
    }
    ADD_FAILURE() << "no feature " << name;
    return 0;
  }

 private:
  FleetFeatures values_;
};

// The memory grows with the number of days, because every unused value costs megabytes with a million jobs.
TEST(JobDaysRing, TakesRoomForTheDaysThereAre) {
  JobDaysRing ring;
  EXPECT_EQ(ring.heap_bytes(), 0U);
  for (int32_t day = 0; day < 3 * JobDaysRing::kDays; ++day) {
    DaySummary summary;
    summary.day = day;
    ring.Add(summary);
    const auto days = static_cast<size_t>(std::min(day + 4, JobDaysRing::kDays));
    ASSERT_LE(ring.heap_bytes(), days * sizeof(DaySummary)) << day;
  }
}

TEST(DayAccumulator, TakesRoomForTheWindowsThereAre) {
  DayAccumulator today;
  for (int32_t w = 0; w < kWindowsPerDay; ++w) {
    today.Add(Signal{.window = WindowId{w}, .buckets = {}, .tasks = {}, .owner_limit = {}});
    ASSERT_LE(today.heap_bytes(), static_cast<size_t>(w + 24) * sizeof(uint16_t)) << w;
  }
}

TEST(FeaturesOf, AreRelativeToTheWeeksPeak) {
  const JobDaysRing ring = RingOf({{10, 4e9F}, {11, 1e9F}, {12, 2e9F}});
  const NamedFeatures f(ring, 14);
  const double level = 16 * kMiB;
  const auto log_of = [&](double v) { return std::log((v + level) / (4e9 + level)); };
  EXPECT_NEAR(f["peak of the last day"], log_of(2e9), 1e-5);
  EXPECT_NEAR(f["peak 2 days ago"], log_of(1e9), 1e-5);
  EXPECT_NEAR(f["peak 3 days ago"], 0, 1e-5);
  EXPECT_NEAR(f["mean peak of the week"], (log_of(2e9) + log_of(1e9)) / 3, 1e-5);
  EXPECT_NEAR(f["median peak of the week"], log_of(2e9), 1e-5);
  EXPECT_NEAR(f["lowest peak of the week"], log_of(1e9), 1e-5);
  EXPECT_NEAR(f["mean of the last day"], log_of(1e9), 1e-5);
  EXPECT_NEAR(f["highest p95 of the week"], log_of(3.6e9), 1e-5);
  EXPECT_NEAR(f["last hour"], log_of(1.4e9), 1e-5);
  EXPECT_NEAR(f["level"], std::log(4e9 + level), 1e-4);
  EXPECT_NEAR(f["level under owner's limit"], std::log((4e9 + level) / (3e9 + level)), 1e-5);
  EXPECT_EQ(f["age"], 3);
  EXPECT_EQ(f["days since the peak"], 2);
  EXPECT_EQ(f["days near the week's peak"], 1);
  EXPECT_EQ(f["day of the week"], 0);
  EXPECT_EQ(f["days without usage"], 1);
  for (const char* unknown :
       {"same day last week", "same day 2 weeks ago", "peak of 14 days", "peak of 28 days", "trend"}) {
    EXPECT_TRUE(std::isnan(f[unknown])) << unknown;
  }
}

TEST(FeaturesOf, FindTheSameDayOfEarlierWeeks) {
  std::vector<std::pair<int32_t, float>> peaks;
  for (int32_t d = 0; d < 20; ++d) peaks.emplace_back(d, (d == 13 ? 3e9F : d == 6 ? 2e9F : 1e9F));
  const NamedFeatures f(RingOf(peaks), 20);
  const double level = 16 * kMiB, week = std::log(3e9 + level);
  EXPECT_NEAR(f["same day last week"], std::log(3e9 + level) - week, 1e-5);
  EXPECT_NEAR(f["same day 2 weeks ago"], std::log(2e9 + level) - week, 1e-5);
  EXPECT_NEAR(f["trend"], 0 - std::log((3e9 + level) / (1e9 + level)) / 4, 1e-5);
  EXPECT_NEAR(f["peak of 14 days"], 0, 1e-5);
  EXPECT_EQ(f["days since the peak"], 6);
}

TEST(FeaturesOf, HaveANameEach) {
  EXPECT_EQ(FleetFeatureNames().size(), static_cast<size_t>(kFleetFeatures));
}

}  // namespace
}  // namespace taut::brain
