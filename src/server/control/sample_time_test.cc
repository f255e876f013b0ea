// Tests wrong times in samples, and more samples than allowed.
#include "common/testing/temp_dir.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

constexpr int64_t kYear2100Ms = 4'102'444'800'000;

ControlOptions BySamples() {
  ControlOptions options;
  options.ingest.clock = ClockSource::kSamples;
  return options;
}

std::string BodyAt(std::initializer_list<int64_t> times_ms) {
  std::vector<NamedSample> samples;
  uint32_t i = 0;
  for (const int64_t t : times_ms) samples.push_back(CadvisorSample(2 * i++ + 1, t));
  std::vector<RemoteSeries> series;
  for (const NamedSample& s : samples) series.push_back(ViewOf(s));
  return EncodeWriteRequest(series);
}

int64_t StoredThroughMinute(ControlCell& cell) {
  const std::optional<WindowId> window = cell.control().agents().stored_through();
  return window.has_value() ? (window->next().start_s() - ControlCell::kStart) / 60 : -1;
}

TEST(SampleTime, OneSampleOfAnotherCenturyStallsNothing) {
  ControlCell cell(80, "", BySamples());
  ASSERT_TRUE(cell.Live(0, 30).ok());
  ASSERT_TRUE(cell.control().ingest().samples.Write(BodyAt({kYear2100Ms}), {}).ok());
  EXPECT_EQ(cell.control().ingest().counts.samples().far_future, 1U);
  ASSERT_TRUE(cell.Live(30, 100).ok());
  EXPECT_EQ(cell.control().ingest().counts.samples().too_late, 0U);
  EXPECT_EQ(cell.control().ingest().counts.samples().far_future, 1U);
  EXPECT_EQ(StoredThroughMinute(cell), 95);
}

// After a boot, the clock of a machine is a day ahead, and the machine's own Prometheus has the same wrong time.
// The samples of this Prometheus are accepted, and are forgotten once the clock is right.
TEST(SampleTime, SamplesOfAClockThatWasWrongAreForgotten) {
  const TempDir folder;
  ControlCell cell(80, folder.path() + "/store");
  ASSERT_TRUE(cell.Live(0, 30).ok());
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok()) << cell.restored();
  LiveIngest& ingest = cell.control().ingest();
  const int64_t stored = StoredThroughMinute(cell);
  ingest.time.Doubt(true);
  constexpr int kDayMinutes = 1440;
  for (int minute = 30; minute < 40; ++minute)
    ASSERT_TRUE(cell.Send(kDayMinutes + minute, ControlCell::Minute(kDayMinutes + minute)).ok());
  EXPECT_EQ(ingest.counts.samples().far_future, 0U);
  ingest.time.Shift(ControlCell::Minute(40));
  ingest.time.GoBack(ControlCell::Minute(40));
  ingest.time.Doubt(false);
  ASSERT_TRUE(cell.Live(40, 80).ok());
  EXPECT_EQ(ingest.counts.samples().too_late, 0U);
  EXPECT_EQ(ingest.counts.samples().far_future, 0U);
  EXPECT_GT(StoredThroughMinute(cell), stored + 30);
  EXPECT_LT(StoredThroughMinute(cell), 80);
  // The log that a restart reads contains no sample with a wrong time.
  cell.Restart();
  EXPECT_LE(*cell.control().ingest().time.before(), ControlCell::Minute(80));
}

TEST(IngestLag, IsOfTheNewestSampleWhenItCameAndNow) {
  ControlCell cell;
  EXPECT_FALSE(cell.control().ingest().time.lag().newest_sample_s.has_value());
  EXPECT_FALSE(cell.control().ingest().time.lag().arrival_s.has_value());
  ASSERT_TRUE(cell.Live(0, 10).ok());
  EXPECT_EQ(cell.control().ingest().time.lag().arrival_s, 0.0);
  const auto later = [](int minute, int seconds) {
    return Timestamp{ControlCell::Minute(minute).us + seconds * kMicrosPerSecond};
  };
  ASSERT_TRUE(cell.Send(10, later(10, 45)).ok());
  ASSERT_TRUE(cell.control().Tick(later(10, 50)).ok());
  EXPECT_EQ(cell.control().ingest().time.lag().arrival_s, 45.0);
  EXPECT_EQ(cell.control().ingest().time.lag().newest_sample_s, 50.0);
  // No more samples arrive: the delay of the last sample does not change, and its age grows.
  ASSERT_TRUE(cell.control().Tick(later(20, 0)).ok());
  EXPECT_EQ(cell.control().ingest().time.lag().arrival_s, 45.0);
  EXPECT_EQ(cell.control().ingest().time.lag().newest_sample_s, 600.0);
  ASSERT_TRUE(cell.control().agents().stored_through().has_value());
  const auto window_end = cell.control().agents().stored_through()->next().start_s();
  EXPECT_EQ(cell.control().ingest().time.lag().window_s,
            static_cast<double>(ControlCell::kStart + 20 * 60 - window_end));
}

// A fast replay of the past has no lag against the clock of its samples.
TEST(IngestLag, IsByTheClockOfTheSamplesWhereTheyTellTheTime) {
  ControlCell cell(80, "", BySamples());
  ASSERT_TRUE(cell.Live(0, 10).ok());
  EXPECT_EQ(cell.control().ingest().time.lag().newest_sample_s, 0.0);
  EXPECT_FALSE(cell.control().ingest().time.lag().arrival_s.has_value());
}

TEST(SampleTime, NorDoesOneInTheFirstRequest) {
  ControlCell cell(80, "", BySamples());
  const int64_t now_ms = ControlCell::kStart * 1000;
  ASSERT_TRUE(cell.control().ingest().samples.Write(BodyAt({kYear2100Ms, now_ms, now_ms}), {}).ok());
  EXPECT_EQ(cell.control().ingest().counts.samples().far_future, 1U);
  ASSERT_TRUE(cell.Live(1, 30).ok());
  EXPECT_EQ(StoredThroughMinute(cell), 25);
}

TEST(SampleTime, AFirstRequestThatIsAllWrongIsTakenBack) {
  ControlCell cell(80, "", BySamples());
  ASSERT_TRUE(cell.control().ingest().samples.Write(BodyAt({kYear2100Ms}), {}).ok());
  ASSERT_TRUE(cell.control().Tick({}).ok());
  ASSERT_TRUE(cell.Live(0, 60).ok());
  EXPECT_GE(StoredThroughMinute(cell), 50);
}

TEST(SampleTime, ASourceThatGoesOnAtAnotherTimeIsFollowed) {
  ControlCell cell(80, "", BySamples());
  ASSERT_TRUE(cell.Live(0, 30).ok());
  const int month = 30 * 1440;
  ASSERT_TRUE(cell.Live(month, month + 60).ok());
  EXPECT_GE(StoredThroughMinute(cell), month + 50);
}

// The store would refuse the second copy of a waiting window, and then all later windows.
TEST(SampleTime, AWindowThatWaitsForTheStoreIsNotOpenedAgain) {
  ControlCell cell(80, "", BySamples());
  ASSERT_TRUE(cell.Live(0, 30).ok());
  cell.failing().fail = true;
  EXPECT_FALSE(cell.Live(30, 60).ok());
  const int month = 30 * 1440;
  EXPECT_FALSE(cell.Live(month, month + 4).ok());
  EXPECT_FALSE(cell.Live(50, 70).ok()) << "the source goes back to windows that wait";
  cell.failing().fail = false;
  ASSERT_TRUE(cell.Live(70, 100).ok());
  EXPECT_EQ(StoredThroughMinute(cell), 95);
}

// The times of one series may be arbitrary.
TEST(SampleTime, TheEndsOfTimeDoNoHarm) {
  for (const bool by_samples : {true, false}) {
    ControlCell cell(80, "", by_samples ? BySamples() : ControlOptions());
    for (const int64_t ms : {INT64_MAX, INT64_MIN, INT64_MAX / 1000, INT64_MIN / 1000, int64_t{0}}) {
      for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(cell.control().ingest().samples.Write(BodyAt({ms, ms}), ControlCell::Minute(0)).ok());
        ASSERT_TRUE(cell.control().Tick(ControlCell::Minute(0)).ok());
      }
    }
    if (by_samples) continue;
    ASSERT_TRUE(cell.Live(1, 30).ok());
    EXPECT_EQ(StoredThroughMinute(cell), 25);
  }
}

// A daemon's clock runs ahead of all samples: later samples are accepted nevertheless.
TEST(SampleTime, AClockThatRunsAheadClosesNothingThatHasNotBegun) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 30).ok());
  ASSERT_TRUE(cell.control().Tick(ControlCell::Minute(365 * 1440)).ok());
  cell.control().ingest().time.Shift(ControlCell::Minute(30));
  ASSERT_TRUE(cell.Live(30, 100).ok());
  EXPECT_EQ(cell.control().ingest().counts.samples().too_late, 0U);
  EXPECT_EQ(StoredThroughMinute(cell), 95);
}

TEST(SampleTime, MoreSamplesThanThereIsRoomForAreDeferred) {
  ControlOptions options;
  options.ingest.ingest.max_waiting_samples = 80 * 5;
  ControlCell cell(80, "", options);
  EXPECT_EQ(cell.Live(0, 7).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(cell.control().ingest().counts.deferred_writes(), 2U);
  EXPECT_EQ(cell.control().ingest().counts.waiting_samples(), 80U * 5);
  EXPECT_TRUE(cell.control().Tick(ControlCell::Minute(8)).ok());
  EXPECT_TRUE(cell.Send(8, ControlCell::Minute(8)).ok()) << "there is room again";
}

}  // namespace
}  // namespace taut::server
