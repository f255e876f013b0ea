// Tests usage during the start of a task, from the series with the start's time to the output of taut explain. The
// result is the same after a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/start_usage.h"
#include "common/testing/temp_dir.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;

// One job of ten pods.
class ControlStarts : public ::testing::Test {
 protected:
  static constexpr int kStartMinute = 122;

  // Series of kube-state-metrics: the first pod started at kStartMinute, the others long ago.
  void SayStarts(int minute) {
    std::vector<RemoteSeries> series;
    std::vector<NamedSample> named;
    for (uint32_t pod = 0; pod < 10; ++pod) named.push_back(CadvisorSample(2 * pod, 0));
    for (size_t pod = 0; pod < named.size(); ++pod) {
      const int64_t at_s = ControlCell::kStart + (pod == 0 ? 60 * kStartMinute : -86'400);
      std::vector<LabelView> labels = {{"__name__", "kube_pod_container_state_started"}};
      for (const auto& [name, value] : named[pod].labels) {
        if (name == "container" || name == "namespace" || name == "pod") labels.push_back({name, value});
      }
      if (pod == 0 && minute < kStartMinute) continue;
      series.push_back({labels, {{double(at_s), ControlCell::Minute(minute).us / 1000}}});
    }
    ASSERT_TRUE(
        cell_.control().ingest().samples.Write(EncodeWriteRequest(series), ControlCell::Minute(minute)).ok());
  }
  void Live(int from, int to) {
    for (int minute = from; minute < to; ++minute) {
      SayStarts(minute);
      ASSERT_TRUE(cell_.Live(minute, minute + 1).ok());
    }
  }
  brain::StartPeaks Peaks() {
    brain::StartPeaks out;
    EXPECT_TRUE(cell_.control().Look(JobId{0}, [&](const brain::LiveJob& job) {
      if (job.starts != nullptr) out = job.starts->peaks;
    }));
    return out;
  }
  std::optional<double> Recommended() {
    std::optional<double> out;
    (void)cell_.control().Look(
        JobId{0}, [&](const brain::LiveJob& job) { out = job.of(Resource::kCpu).lane.recommended(); });
    return out;
  }

  TempDir dir_;
  ControlCell cell_{20, dir_.path() + "/cell.db"};
};

TEST_F(ControlStarts, AreKeptApartFromTheSeriesOnAndOverARestart) {
  Live(0, 100);
  EXPECT_EQ(cell_.control().ingest().jobs.SourcesOf(JobId{0})->knows_starts, false) << "no job asks for it";
  ASSERT_TRUE(SetOne(cell_.control(), JobId{0}, "cpu.startup_window", "10m", "anna").ok());
  Live(100, 112);
  EXPECT_EQ(cell_.control().ingest().jobs.SourcesOf(JobId{0})->knows_starts, true);
  EXPECT_TRUE(Peaks().empty());
  Live(112, 128);
  // The daemon is killed while the windows of the start are open: the series are read again from the log.
  cell_.Restart();
  ASSERT_TRUE(cell_.restored().ok()) << cell_.restored();
  Live(128, 150);
  const brain::StartPeaks peaks = Peaks();
  ASSERT_EQ(peaks.size(), 1U);
  EXPECT_GT(peaks.highest()->peak, 0);
  EXPECT_THAT(cell_.control().Explain(JobId{0}, Resource::kCpu).sentence,
              HasSubstr("In the first 10m after its start a task"));
  // In windows during the start of one task, the CPU usage of the other nine tasks is stored as usual. The CPU
  // usage of the starting task is stored separately.
  int starts = 0;
  ASSERT_TRUE(cell_.store()
                  .ReadWindows(WindowId{INT32_MIN / 2},
                               [&](const ClosedWindow& closed) {
                                 if (!StartsOf(closed.signals).known()) return absl::OkStatus();
                                 ++starts;
                                 int cpu = 0;
                                 for (const TaskWindow& t : closed.tasks)
                                   cpu += t.cpu_mean_cores >= 0 ? 1 : 0;
                                 EXPECT_GE(cpu, 9);
                                 EXPECT_EQ(closed.tasks.size(), 10U);
                                 return absl::OkStatus();
                               })
                  .ok());
  EXPECT_EQ(starts, 3) << "from minute 122 to 132";
  const std::optional<double> recommended = Recommended();
  ASSERT_TRUE(cell_.control().CheckpointAll().ok());
  cell_.Restart();
  EXPECT_EQ(Peaks().highest()->need, peaks.highest()->need);
  EXPECT_EQ(Recommended(), recommended);
}

}  // namespace
}  // namespace taut::server
