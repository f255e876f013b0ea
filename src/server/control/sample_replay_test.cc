// Tests that acknowledged samples survive a restart, even while their window is open.
#include <filesystem>
#include <memory>
#include <random>

#include "common/testing/temp_dir.h"
#include "common/testing/test_scale.h"
#include "gtest/gtest.h"
#include "server/control/clock_guard.h"
#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

class SampleReplay : public testing::Test {
 protected:
  std::string path() const { return folder_ / "store.db"; }

  // Sends a counter of OOM kills with this value at this minute.
  static void SayKills(ControlCell& cell, int minute, double kills) {
    const NamedSample s{{{"__name__", "container_oom_events_total"},
                         {"container", "app"},
                         {"namespace", "shop-0"},
                         {"pod", "web-0-5d4f8c7b9d-xbbbz"}},
                        {kills, ControlCell::Minute(minute).us / 1000}};
    const RemoteSeries series = ViewOf(s);
    ASSERT_TRUE(cell.control()
                    .ingest()
                    .samples.Write(EncodeWriteRequest({&series, 1}), ControlCell::Minute(minute))
                    .ok());
    ASSERT_TRUE(cell.control().Tick(ControlCell::Minute(minute)).ok());
  }

  const TempDir dir_;
  const std::filesystem::path folder_ = dir_.path();
};

// Returns all stored usage and limits as bytes.
std::string Stored(ControlCell& cell) {
  std::string out;
  const auto add = [&out](auto v) { out.append(reinterpret_cast<const char*>(&v), sizeof(v)); };
  EXPECT_TRUE(cell.store()
                  .ReadWindows(WindowId{0},
                               [&](const ClosedWindow& w) {
                                 add(w.window.index);
                                 for (const JobWindowData& j : w.jobs) {
                                   add(j.job.value);
                                   add(j.window.memory_limit_bytes);
                                 }
                                 for (const TaskWindow& t : w.tasks) {
                                   add(t.cpu_mean_cores);
                                   add(t.cpu_peak_cores);
                                   add(t.memory_mean_bytes);
                                   add(t.memory_peak_bytes);
                                 }
                                 for (const BucketWeight& b : w.cpu_buckets) add(b.weight);
                                 return absl::OkStatus();
                               })
                  .ok());
  DecisionQuery query;
  query.limit = 1'000'000;
  const std::vector<Decision> decisions = *cell.store().Decisions(query, History::Reasons::kLeaveOut);
  for (const Decision& d : decisions) {
    add(d.id);
    add(d.time_s);
    add(d.after.value_or(-1));
  }
  return out;
}

// A small cell's log covers hours: samples that are already stored are not processed again.
TEST_F(SampleReplay, OnlyWhatIsNeededIsTakenInAgain) {
  ControlOptions options;
  options.ingest.ingest.windows.max_samples_per_series = 30;
  ControlCell straight(80, "", options);
  ASSERT_TRUE(straight.Live(0, 200).ok());
  ControlCell cell(80, path(), options);
  ASSERT_TRUE(cell.Live(0, 163).ok());
  cell.Restart();
  EXPECT_LT(cell.control().ingest().log.replayed_samples(), 80U * 30);
  EXPECT_GT(cell.control().ingest().log.replayed_samples(), 0U);
  ASSERT_TRUE(cell.Live(163, 200).ok());
  EXPECT_EQ(Stored(cell), Stored(straight));
}

// A sender's series with a name of the sample log must not be accepted after a restart.
TEST_F(SampleReplay, ASendersSeriesWithNamesOfTheLogAreNotBelievedAfterARestart) {
  ControlCell cell(80, path());
  ASSERT_TRUE(cell.Live(0, 63).ok());
  const WorkloadPart part{.job = {.source = Source::kKubernetes,
                                  .namespace_name = "shop",
                                  .kind = "deployment",
                                  .name = "forged",
                                  .container = "app"},
                          .task = "forged-0"};
  const std::string packed = EncodePart(part, SeriesKind::kMemoryBytes);
  const int64_t now_ms = ControlCell::Minute(63).us / 1000;
  const RemoteSeries series[] = {{{{kMetricNameLabel, kPartMetric}, {kPackedLabel, packed}}, {{5e7, now_ms}}},
                                 {{{kMetricNameLabel, "container_memory_working_set_bytes"},
                                   {"container", "app"},
                                   {"namespace", "shop-0"},
                                   {"pod", "web-0-5d4f8c7b9d-xbbbz"}},
                                  {{5e7, now_ms}}}};
  ASSERT_TRUE(
      cell.control().ingest().samples.Write(EncodeWriteRequest(series), ControlCell::Minute(63)).ok());
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok()) << cell.restored();
  ASSERT_TRUE(cell.Live(63, 70).ok());
  EXPECT_FALSE(cell.control().Find("shop/deployment/forged/app").has_value());
}

// No sample is sent again, because Prometheus does not resend acknowledged requests.
TEST_F(SampleReplay, ARestartInAnyMinuteChangesNothing) {
  ControlCell straight;
  ASSERT_TRUE(straight.Live(0, 200).ok());
  const std::string wanted = Stored(straight);
  for (const int stop : {1, 3, 61, 64, 65, 67, 121, 163}) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    ControlCell cell(80, path());
    ASSERT_TRUE(cell.Live(0, stop).ok());
    cell.Restart();
    ASSERT_TRUE(cell.restored().ok()) << cell.restored();
    EXPECT_TRUE(cell.control().status().lost().empty());
    ASSERT_TRUE(cell.Live(stop, 200).ok());
    EXPECT_EQ(Stored(cell), wanted) << "stopped in minute " << stop;
  }
}

TEST_F(SampleReplay, RestartsInEachMinuteChangeNothing) {
  ControlCell straight;
  ASSERT_TRUE(straight.Live(0, 90).ok());
  ControlCell cell(80, path());
  for (int minute = 0; minute < 90; ++minute) {
    cell.Restart();
    // Jobs that are not in a checkpoint yet are trained from stored windows.
    ASSERT_TRUE(cell.control().Tick(ControlCell::Minute(minute - 1)).ok());
    ASSERT_TRUE(cell.Live(minute, minute + 1).ok());
  }
  EXPECT_EQ(Stored(cell), Stored(straight));
}

// If a full disk rejects a closed window, a kill of the process does not lose the window.
TEST_F(SampleReplay, AFullStoreAndAKillLoseNothing) {
  ControlCell straight;
  ASSERT_TRUE(straight.Live(0, 200).ok());
  ControlCell cell(80, path());
  ASSERT_TRUE(cell.Live(0, 100).ok());
  cell.failing().fail = true;
  EXPECT_FALSE(cell.Live(100, 120).ok());
  cell.Restart();
  cell.failing().fail = false;
  ASSERT_TRUE(cell.Live(120, 200).ok());
  EXPECT_EQ(Stored(cell), Stored(straight));
}

TEST_F(SampleReplay, AnOomKillDuringARestartIsSeenOnce) {
  ControlCell cell(80, path());
  ASSERT_TRUE(cell.Live(0, 90).ok());
  SayKills(cell, 90, 0);
  cell.Restart();
  SayKills(cell, 91, 2);
  EXPECT_EQ(cell.control().status().counts().ooms, 2U) << "the counter's value before the restart is known";
  cell.Restart();
  ASSERT_TRUE(cell.Live(92, 93).ok());
  EXPECT_EQ(cell.control().status().counts().ooms, 0U) << "it was acted on before this life";
  EXPECT_EQ(cell.store().Ooms(std::nullopt, 0, 10)->size(), 1U);
}

// The kill was received and acknowledged, and the process is killed before a tick acts on it.
TEST_F(SampleReplay, AnOomKillThatNoTickSawIsActedOnAfterAKill) {
  ControlCell cell(80, path());
  ASSERT_TRUE(cell.Live(0, 90).ok());
  SayKills(cell, 90, 0);
  cell.failing().fail = true;
  const NamedSample s{{{"__name__", "container_oom_events_total"},
                       {"container", "app"},
                       {"namespace", "shop-0"},
                       {"pod", "web-0-5d4f8c7b9d-xbbbz"}},
                      {3, ControlCell::Minute(91).us / 1000}};
  const RemoteSeries series = ViewOf(s);
  ASSERT_TRUE(
      cell.control().ingest().samples.Write(EncodeWriteRequest({&series, 1}), ControlCell::Minute(91)).ok());
  cell.Restart();
  cell.failing().fail = false;
  ASSERT_TRUE(cell.Live(92, 93).ok());
  EXPECT_EQ(cell.control().status().counts().ooms, 3U);
}

TEST_F(SampleReplay, AWindowOfWhichSamplesAreLostIsNotLearntFrom) {
  ControlCell cell(80, path());
  ASSERT_TRUE(cell.Live(0, 62).ok());
  cell.Restart();
  ASSERT_TRUE(cell.Live(74, 100).ok());
  EXPECT_EQ(cell.control().ingest().counts.folds().partial_windows, 2U);
  std::vector<int32_t> minutes;
  ASSERT_TRUE(cell.store()
                  .ReadWindows(WindowId{0},
                               [&](const ClosedWindow& w) {
                                 minutes.push_back((w.window.start_s() - ControlCell::kStart) / 60);
                                 return absl::OkStatus();
                               })
                  .ok());
  EXPECT_EQ(minutes, (std::vector<int32_t>{0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 75, 80, 85, 90}))
      << "60 and 70 were heard for a minute or two of five";
}

// A sender queues samples that it cannot send, and sends them after the daemon's restart.
TEST_F(SampleReplay, WhatSendersBringAfterAGapIsTaken) {
  ControlCell straight;
  ASSERT_TRUE(straight.Live(0, 100).ok());
  ControlCell cell(80, path());
  ASSERT_TRUE(cell.Live(0, 62).ok());
  cell.Restart();
  const Timestamp back = ControlCell::Minute(73);
  for (int minute = 62; minute < 74; ++minute) {
    ASSERT_TRUE(cell.control().Tick({back.us + minute * 100'000}).ok());
    ASSERT_TRUE(cell.Send(minute, {back.us + minute * 100'000}).ok());
  }
  EXPECT_EQ(cell.control().ingest().counts.samples().too_late, 0U);
  ASSERT_TRUE(cell.Live(74, 100).ok());
  EXPECT_EQ(cell.control().ingest().counts.folds().partial_windows, 0U);
  EXPECT_EQ(Stored(cell), Stored(straight));
}

// Kills, full disks and wrong clocks in any order: the stored data equal the data without these faults.
TEST_F(SampleReplay, KillsFullDisksAndWrongClocksChangeNothing) {
  constexpr int kMinutes = 150;
  ControlCell straight;
  ASSERT_TRUE(straight.Live(0, kMinutes).ok());
  ASSERT_TRUE(straight.control().Tick(ControlCell::Minute(kMinutes + 20)).ok());
  const std::string wanted = Stored(straight);
  for (int round = 0; round < Scaled(4); ++round) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    std::mt19937 random(static_cast<uint32_t>(round));
    ControlCell cell(80, path());
    double error_s = 0;
    const auto wall = [&](double second) {
      return Timestamp{static_cast<int64_t>((ControlCell::kStart + second + error_s) * 1e6)};
    };
    auto guard = std::make_unique<ClockGuard>(wall(0), 0, std::nullopt);
    for (int minute = 0; minute < kMinutes + 20; ++minute) {
      const bool last = minute > kMinutes - 15;  // true at the end, which has no fault
      if (last || random() % 10 == 0) cell.failing().fail = !last && !cell.failing().fail;
      // Before any data are known, every clock time is equally possible.
      if (last || (random() % 10 == 0 && minute >= 5)) {
        constexpr double kErrors[] = {0, -3600, 3600, 365 * 86'400.0, -365 * 86'400.0, 240};
        error_s = last ? 0 : kErrors[random() % 6];
      }
      if (!last && random() % 8 == 0) {
        cell.Restart();
        ASSERT_TRUE(cell.restored().ok()) << cell.restored();
        guard = std::make_unique<ClockGuard>(wall(60 * minute), 60 * minute,
                                             cell.control().ingest().time.before());
      }
      for (int tick = 0; tick < 12; ++tick) {
        const double second = 60 * minute + 5 * tick;
        const Timestamp now = guard->Step(wall(second), second, cell.control().ingest().samples.TakeSaid());
        if (guard->shifted()) cell.control().ingest().time.Shift(now);
        if (tick == 0 && minute < kMinutes) {
          ASSERT_TRUE(cell.Send(minute, now).ok()) << "round " << round << ", minute " << minute;
        }
        (void)cell.control().Tick(now);  // the result is not OK while the disk is full
      }
    }
    EXPECT_EQ(cell.control().ingest().counts.samples().too_late, 0U);
    EXPECT_TRUE(Stored(cell) == wanted) << "round " << round;
  }
}

TEST_F(SampleReplay, TheLogStaysSmall) {
  ControlCell cell(80, path());
  ASSERT_TRUE(cell.Live(0, 30).ok());
  uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) bytes += file.file_size();
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(bytes, uintmax_t{2} << 20);
}

}  // namespace
}  // namespace taut::server
