#include "ingest/oom_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/byte_units.h"
#include "ingest/ingest.h"

namespace taut {
namespace {

using enum SeriesKind;

constexpr int64_t kStart = 1'700'000'000'000;

double Stale() {
  uint64_t bits = 0x7ff0000000000002;
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint64_t See(OomWatch& watch, SeriesKind kind, int minute, double value) {
  const auto kill = watch.See(1, 7, kind, {value, kStart + minute * 60'000});
  return kill.has_value() ? kill->kills : 0;
}

TEST(OomWatch, ARestartWhoseReasonIsAnOomKillIsOne) {
  for (const bool reason_first : {false, true}) {
    OomWatch watch;
    EXPECT_EQ(See(watch, kRestartsTotal, 0, 3), 0U);
    EXPECT_EQ(See(watch, kRestartsTotal, 1, 3), 0U);
    uint64_t kills = 0;
    if (reason_first) kills += See(watch, kOomReason, 2, 1);
    kills += See(watch, kRestartsTotal, 2, 4);
    if (!reason_first) kills += See(watch, kOomReason, 2, 1);
    EXPECT_EQ(kills, 1U);
    // The reason stands until the container ends again.
    EXPECT_EQ(See(watch, kRestartsTotal, 3, 4) + See(watch, kOomReason, 3, 1), 0U);
    EXPECT_EQ(See(watch, kRestartsTotal, 4, 6) + See(watch, kOomReason, 4, 1), 2U)
        << "two between two scrapes";
    EXPECT_EQ(See(watch, kOomReason, 4, 1), 0U) << "told a second time";
  }
}

TEST(OomWatch, ARestartForAnotherReasonIsNone) {
  OomWatch watch;
  See(watch, kRestartsTotal, 0, 0);
  EXPECT_EQ(See(watch, kRestartsTotal, 1, 1) + See(watch, kOomReason, 1, 1), 1U);
  // Ended with an error: the series of the old reason ends.
  EXPECT_EQ(See(watch, kRestartsTotal, 2, 2) + See(watch, kOomReason, 2, Stale()), 0U);
  // Older kube-state-metrics say 0 for each reason that it is not.
  EXPECT_EQ(See(watch, kRestartsTotal, 3, 3) + See(watch, kOomReason, 3, 0), 0U);
  EXPECT_EQ(See(watch, kOomReason, 9, 1), 0U) << "that is of another end";
  EXPECT_EQ(See(watch, kRestartsTotal, 10, 4) + See(watch, kOomReason, 10, 1), 1U);
}

TEST(OomWatch, WhatIsFirstSeenIsNoNews) {
  OomWatch watch;
  EXPECT_EQ(See(watch, kOomReason, 0, 1) + See(watch, kRestartsTotal, 0, 5) + See(watch, kOomEnded, 0, 1),
            0U);
  EXPECT_EQ(See(watch, kOomReason, 1, 1) + See(watch, kRestartsTotal, 1, 5) + See(watch, kOomEnded, 1, 1),
            0U);
}

TEST(OomWatch, AContainerThatIsNotRestartedTellsItsEnd) {
  OomWatch watch;
  See(watch, kRestartsTotal, 0, 0);
  EXPECT_EQ(See(watch, kOomEnded, 1, 1), 1U);
  EXPECT_EQ(See(watch, kOomEnded, 2, 1), 0U);
  // If it is restarted after all, that is the same kill.
  EXPECT_EQ(See(watch, kRestartsTotal, 5, 1) + See(watch, kOomReason, 5, 1), 0U);
  EXPECT_EQ(See(watch, kRestartsTotal, 9, 2) + See(watch, kOomReason, 9, 1), 1U);
  watch.ForgetBefore(kStart + 100 * 60'000);
  EXPECT_EQ(watch.size(), 0U);
}

// ---- with the built-in rules ----

class KubeCell {
 public:
  void Take(std::string_view metric, std::string_view container, double value, int minute,
            std::vector<LabelView> more = {}) {
    std::vector<LabelView> labels = {
        {"__name__", metric}, {"container", container}, {"namespace", "shop"}, {"pod", pod}};
    labels.insert(labels.end(), more.begin(), more.end());
    std::sort(labels.begin(), labels.end(),
              [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
    const RemoteSample sample{value, kStart + minute * 60'000};
    ingest.Take({labels, {&sample, 1}, Fingerprint(labels)}, Timestamp{sample.timestamp_ms * 1000});
  }
  void State(int minute, double restarts, bool oom) {
    Take("kube_pod_container_status_restarts_total", "app", restarts, minute);
    if (oom) {
      Take("kube_pod_container_status_last_terminated_reason", "app", 1, minute, {{"reason", "OOMKilled"}});
    }
  }
  uint64_t Kills() {
    uint64_t sum = 0;
    for (const OomSighting& o : ingest.TakeOoms()) sum += o.kills;
    return sum;
  }
  // Peak memory of the job in the windows closed so far, in MiB.
  double Peak() {
    double peak = 0;
    ingest.CloseUntil(Timestamp{(kStart + 3'600'000) * 1000}, [&](const ClosedWindow& w) {
      for (const TaskWindow& t : w.tasks) peak = std::max(peak, double{t.memory_peak_bytes});
    });
    return peak / kMiB;
  }
  const char* pod = "web-5d4f8c7b9d-x2x4z";
  Ingest ingest{*MappingRules::Compile(BuiltinRules()), Ingest::Options()};
};

TEST(KubeStateMetrics, TellOfOomKillsThatCadvisorCannotSee) {
  KubeCell cell;
  cell.State(0, 0, false);
  cell.Take("container_oom_events_total", "app", 0, 0);
  EXPECT_EQ(cell.Kills(), 0U);
  // The container dies with its counter, which begins again at 0.
  cell.State(1, 1, true);
  cell.Take("container_oom_events_total", "app", 0, 1);
  EXPECT_EQ(cell.Kills(), 1U);
  cell.State(2, 1, true);
  EXPECT_EQ(cell.Kills(), 0U);
  EXPECT_THAT(cell.ingest.mapper().job_names(), testing::ElementsAre("shop/deployment/web"));
  EXPECT_EQ(cell.ingest.mapper().oom_source(JobId{0}), OomSource::kFull);
}

TEST(KubeStateMetrics, AKillThatTwoSourcesTellIsOne) {
  KubeCell cell;
  cell.State(0, 0, false);
  cell.Take("container_oom_events_total", "app", 0, 0);
  cell.Take("container_oom_events_total", "app", 1, 1);
  EXPECT_EQ(cell.Kills(), 1U);
  cell.State(4, 1, true);  // restarted after a back-off
  EXPECT_EQ(cell.Kills(), 0U);
  cell.State(20, 2, true);
  EXPECT_EQ(cell.Kills(), 1U);
}

TEST(KubeStateMetrics, AJobWithoutThemSaysWhatItCannotTell) {
  KubeCell cell;
  cell.Take("container_memory_working_set_bytes", "app", 1e8, 0);
  EXPECT_EQ(cell.ingest.mapper().oom_source(JobId{0}), OomSource::kNone);
  cell.Take("container_oom_events_total", "app", 0, 0);
  EXPECT_EQ(cell.ingest.mapper().oom_source(JobId{0}), OomSource::kSurvivors);
}

TEST(KubeStateMetrics, AnInitContainerIsNoneOfThePodsNeed) {
  for (const bool told_late : {false, true}) {
    KubeCell cell;
    const auto tell = [&] {
      cell.Take("kube_pod_init_container_info", "migrate", 1, 4);
      cell.Take("kube_pod_init_container_info", "mesh", 1, 4, {{"restart_policy", "Always"}});
    };
    if (!told_late) tell();
    for (int minute = 0; minute < 5; ++minute) {
      if (minute == 0) {
        cell.Take("container_memory_working_set_bytes", "migrate", 700.0 * kMiB, minute);
      }
      cell.Take("container_memory_working_set_bytes", "app", 360.0 * kMiB, minute);
      cell.Take("container_memory_working_set_bytes", "mesh", 20.0 * kMiB, minute);
    }
    if (told_late) tell();
    EXPECT_NEAR(cell.Peak(), 380, 0.1) << "the pod's own container and its sidecar";
  }
}

}  // namespace
}  // namespace taut
