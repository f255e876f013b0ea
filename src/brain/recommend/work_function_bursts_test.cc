// Tests of bursts of CPU in a fixed hour of each day or week: the bursts are not throttled, and their CPU is not
// reserved for the whole day.
#include <algorithm>
#include <string>
#include <vector>

#include "brain/recommend/made_signal.h"
#include "brain/recommend/work_function.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kBurstWindow = 100;  // window of the day, at 08:20
constexpr double kLow = 0.1, kHigh = 4;

// The only job of a fleet, observed window by window.
class BurstJob {
 public:
  explicit BurstJob(const WorkFunctionSettings& settings = {})
      : fleet_(Resource::kCpu, settings), recommender_(fleet_, OomSettings()) {}

  // Simulates days with a burst every `period` days. Windows count in the sums from day `from` on.
  void Days(int days, int period, int from = 0) {
    for (const int end = window_ + days * kWindowsPerDay; window_ < end;) {
      const bool burst = window_ / kWindowsPerDay % period == 0 && window_ % kWindowsPerDay == kBurstWindow;
      Window({{0, 0, 0}}, burst ? kHigh : kLow, window_ / kWindowsPerDay >= from);
      if (window_ % kWindowsPerDay == 0) EndDay();
    }
  }
  // Observes a window in which the last of `tasks` uses `usage`. The sums include the window if `counted`.
  void Window(std::vector<TaskUsage> tasks, double usage, bool counted = true) {
    tasks.back().mean = tasks.back().peak = static_cast<float>(usage);
    const double limit = recommender_.Recommend(WindowId{window_}).value_or(kHigh);
    const MadeSignal made(Resource::kCpu, window_++, tasks, kHigh);
    Signal signal = made;
    signal.limit = limit;
    recommender_.Observe(signal);
    if (!counted) return;
    over_ += std::max(0.0, usage - limit);
    used_ += usage;
    reserved_ += limit / kHigh;
    ++windows_;
  }
  void EndDay() {
    FleetRows rows;
    recommender_.EndDay(window_ / kWindowsPerDay - 1, rows);
    fleet_.CloseDay(rows);
  }
  double throttled() const { return over_ / used_; }
  double footprint() const { return reserved_ / windows_; }  // reservation as a share of the owner's limit
  double limit() { return *recommender_.Recommend(WindowId{window_}); }
  std::string sentence() const {
    Reason reason;
    recommender_.Explain(reason);
    return reason.sentence;
  }
  WorkFunctionFleet& fleet() { return fleet_; }
  WorkFunctionRecommender& recommender() { return recommender_; }
  int32_t window() const { return window_; }

 private:
  WorkFunctionFleet fleet_;
  WorkFunctionRecommender recommender_;
  int32_t window_ = 0;
  double over_ = 0, used_ = 0, reserved_ = 0;
  int windows_ = 0;
};

TEST(WorkFunctionBursts, ABurstOfEachDayIsNeitherThrottledNorReservedAllDay) {
  BurstJob job;
  job.Days(42, 1, 8);
  EXPECT_LT(job.throttled(), 0.001);
  EXPECT_LT(job.footprint(), 0.12);
  EXPECT_THAT(job.sentence(),
              HasSubstr("in the hour from 08:00 UTC on each of the last 7 days: the limit is"));
  BurstJob longer;
  longer.Days(200, 1, 8);
  EXPECT_LT(longer.throttled(), 0.002) << "what is spared counts as long as it comes; .001 are ordered";
  EXPECT_LT(longer.footprint(), 0.12);
}

TEST(WorkFunctionBursts, ABurstOfEachWeekIsForeseenFromTheThirdOn) {
  BurstJob job;
  job.Days(56, 7, 15);
  EXPECT_LT(job.throttled(), 0.001);
  EXPECT_LT(job.footprint(), 0.12);
  EXPECT_THAT(job.sentence(), HasSubstr("from 08:00 UTC on Thursday of the last 2 weeks"));
}

TEST(WorkFunctionBursts, TheyAreForeseenOnlyForJobsFarAboveTheirOrder) {
  WorkFunctionSettings settings;
  settings.cpu_throttled = 0.05;  // the burst is 12 % of this job's work
  BurstJob job(settings);
  job.Days(20, 1);
  EXPECT_THAT(job.sentence(), Not(HasSubstr("in the hour")));
}

TEST(WorkFunctionBursts, ABurstThatEndsIsLetGo) {
  BurstJob job;
  job.Days(20, 1);
  for (int t = 0; t < 2 * kWindowsPerDay; ++t) job.Window({{0, 0, 0}}, kLow);
  EXPECT_THAT(job.sentence(), Not(HasSubstr("of the last 7 days")));
  for (int t = 0; t < 7 * kWindowsPerDay; ++t) job.Window({{0, 0, 0}}, kLow);
  EXPECT_THAT(job.sentence(), Not(HasSubstr("in the hour"))) << "nor by its weekday";
  EXPECT_LT(job.limit(), 0.2);
}

// The checkpoint is written in the hour of a burst, before the burst occurs.
TEST(WorkFunctionBursts, TheHoursRaiseOutlivesACheckpoint) {
  BurstJob job;
  job.Days(20, 1);
  for (int t = 0; t < kBurstWindow - 1; ++t) job.Window({{0, 0, 0}}, kLow);
  EXPECT_GE(job.limit(), kHigh);
  std::string bytes;
  ByteWriter out(&bytes);
  job.recommender().Save(out);
  WorkFunctionRecommender again(job.fleet(), OomSettings());
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_EQ(again.Recommend(WindowId{job.window()}), job.limit());
  std::string bytes_again;
  ByteWriter out_again(&bytes_again);
  again.Save(out_again);
  EXPECT_EQ(bytes_again, bytes);
}

// Each day another task starts with a burst, at a different time.
TEST(WorkFunctionBursts, StartsHaveASettingOfTheirOwn) {
  BurstJob job;
  uint32_t newest = 0;
  for (int day = 0; day < 10; ++day) {
    for (int t = 0; t < kWindowsPerDay; ++t) {
      const bool start = t == (day * 53 + 20) % kWindowsPerDay;
      if (start) ++newest;
      job.Window({{newest, 0, 0}}, start ? kHigh : kLow);
    }
    job.EndDay();
  }
  EXPECT_THAT(job.sentence(), HasSubstr("100 % of the throttled work was in the first 10 minutes of a task"));
  EXPECT_THAT(job.sentence(), HasSubstr("cpu.startup_window=10m"));
  BurstJob other;
  other.Days(6, 1);
  EXPECT_THAT(other.sentence(), Not(HasSubstr("cpu.startup_window")));
}

}  // namespace
}  // namespace taut::brain
