#include "server/control/cell_clock.h"

#include <gtest/gtest.h>

namespace taut::server {
namespace {

constexpr int64_t kCellClockStart = 1'700'006'400;  // a midnight
Timestamp Sec(int64_t seconds) { return Timestamp::FromSeconds(kCellClockStart + seconds); }
WindowId WindowOfSec(int64_t seconds) { return WindowId::Of(Sec(seconds)); }

TEST(CellClock, WindowsCloseByTheClockOnlyAsFarAsSamplesHaveBeenSilent) {
  CellClock clock(ClockSource::kWall, 120);
  EXPECT_FALSE(clock.has_samples());
  EXPECT_EQ(clock.Close(Sec(50)).us, INT64_MIN) << "there is nothing to close";
  clock.Advance(Sec(100));
  clock.Note(Sec(90), Sec(90));  // the sample is received 10 s after its time
  EXPECT_EQ(clock.Close(Sec(100)), Sec(90));
  EXPECT_EQ(clock.Close(Sec(400)), Sec(390)) << "silent for 300 s";
  EXPECT_EQ(clock.Close(Sec(20)), Sec(20)) << "a clock that went back closes nothing";
}

TEST(CellClock, AFastSenderClosesNoWindowBeforeItsTime) {
  CellClock clock(ClockSource::kWall, 120);
  clock.Advance(Sec(100));
  clock.Note(Sec(900), Sec(900));
  EXPECT_EQ(clock.Close(Sec(130)), Sec(130));
}

TEST(CellClock, ALongSilenceOfSeriesIsAGapOnce) {
  CellClock clock(ClockSource::kWall, 120);
  clock.Hear(Sec(0), Sec(0), Sec(0));
  clock.Hear(Sec(480), Sec(480), Sec(480));  // 300 + 120 + 60 s: no gap yet
  EXPECT_TRUE(clock.TakeGaps().empty());
  clock.Hear(Sec(961), Sec(961), Sec(961));
  const std::vector<SilentSpan> gaps = clock.TakeGaps();
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].from, WindowOfSec(480));
  EXPECT_EQ(gaps[0].to, WindowOfSec(961));
  EXPECT_TRUE(clock.TakeGaps().empty());
}

TEST(CellClock, TheFirstTimeAfterARestartSaysHowLongTheDaemonWasDown) {
  CellClock clock(ClockSource::kWall, 120);
  clock.Restore(Sec(600));
  clock.ExpectGap();
  const std::optional<CellClock::Span> gap = clock.EndGap(Sec(1'000), true);
  ASSERT_TRUE(gap.has_value());
  EXPECT_EQ(gap->begin, Sec(600));
  EXPECT_EQ(gap->end, Sec(1'000));
  EXPECT_TRUE(clock.catching_up(Sec(1'019)));
  EXPECT_FALSE(clock.catching_up(Sec(1'020)));
  EXPECT_FALSE(clock.EndGap(Sec(5'000), true).has_value()) << "once";
}

TEST(CellClock, AShortStopIsNoGap) {
  CellClock clock(ClockSource::kWall, 120);
  clock.Restore(Sec(600));
  clock.ExpectGap();
  EXPECT_FALSE(clock.EndGap(Sec(660), true).has_value());
  EXPECT_FALSE(clock.catching_up(Sec(660)));
}

TEST(CellClock, AClockThatIsSetBackEndsTheWaitForSenders) {
  CellClock clock(ClockSource::kWall, 120);
  clock.Restore(Sec(600));
  clock.ExpectGap();
  (void)clock.EndGap(Sec(100'000), true);
  clock.Shift(Sec(700));
  EXPECT_EQ(clock.now(), Sec(700));
  EXPECT_FALSE(clock.catching_up(Sec(721)));
}

TEST(CellClock, SamplesThatAgreeOnAnotherDayMoveTheirTimeButNotBehindWhatIsClosed) {
  constexpr int64_t kDays3 = 3 * kDaySeconds;
  constexpr WindowId kAll{INT32_MIN / 2};
  CellClock clock(ClockSource::kSamples, 120);
  EXPECT_FALSE(clock.Offer(Sec(0), false, kAll).has_value()) << "before the first sample";
  clock.Note(Sec(kDays3), Sec(kDays3));
  EXPECT_EQ(clock.now(), Sec(kDays3));
  const auto offer = [&](WindowId first) {
    std::optional<Timestamp> back;
    for (int i = 0; i < 3; ++i) back = clock.Offer(Sec(0), false, first);
    return back;
  };
  EXPECT_FALSE(offer(WindowOfSec(kDaySeconds).next()).has_value());
  EXPECT_EQ(clock.now(), Sec(kDays3));
  EXPECT_EQ(offer(kAll), Sec(0));
  EXPECT_EQ(clock.now(), Sec(0));
  EXPECT_EQ(clock.last_watermark(), Sec(0));
}

TEST(CellClock, TheLagIsAbsentUntilThereIsSomethingToMeasure) {
  CellClock clock(ClockSource::kWall, 120);
  EXPECT_FALSE(clock.Lag(std::nullopt).newest_sample_s.has_value());
  clock.Advance(Sec(700));
  clock.Note(Sec(690), Sec(690));
  const IngestLag lag = clock.Lag(WindowOfSec(0));
  EXPECT_DOUBLE_EQ(*lag.arrival_s, 10);
  EXPECT_DOUBLE_EQ(*lag.newest_sample_s, 10);
  EXPECT_DOUBLE_EQ(*lag.window_s, 400);
  EXPECT_FALSE(clock.Lag(std::nullopt).window_s.has_value());
}

}  // namespace
}  // namespace taut::server
