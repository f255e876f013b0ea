#include "server/ingest/oom_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

#include "common/base/byte_units.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

using enum SeriesKind;

constexpr int64_t kWatchStart = 1'700'000'000'000;

double Stale() {
  uint64_t bits = 0x7ff0000000000002;
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint64_t See(OomWatch& watch, SeriesKind kind, int minute, double value) {
  const auto kill = watch.See(1, 7, kind, {value, kWatchStart + minute * 60'000});
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
    // The reason stays until the container ends again.
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
  // The container ended with an error: the series of the old reason ends.
  EXPECT_EQ(See(watch, kRestartsTotal, 2, 2) + See(watch, kOomReason, 2, Stale()), 0U);
  // Older versions of kube-state-metrics send 0 for every other reason.
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
  // If the container is restarted after all, the restart shows the same kill.
  EXPECT_EQ(See(watch, kRestartsTotal, 5, 1) + See(watch, kOomReason, 5, 1), 0U);
  EXPECT_EQ(See(watch, kRestartsTotal, 9, 2) + See(watch, kOomReason, 9, 1), 1U);
  watch.ForgetBefore(kWatchStart + 100 * 60'000);
  EXPECT_EQ(watch.size(), 0U);
}

// ---- kills dated by the end of the container ----

// A container whose series arrive in a given order in each scrape.
class DatedContainer {
 public:
  explicit DatedContainer(std::vector<SeriesKind> order) : order_(std::move(order)) {}
  // `ended`: seconds after kWatchStart; absent: none.
  std::vector<OomWatch::Kill> Scrape(int second, double restarts, std::optional<int> ended, bool oom) {
    std::vector<OomWatch::Kill> kills;
    const int64_t at = kWatchStart + second * 1000;
    for (const SeriesKind kind : order_) {
      std::optional<OomWatch::Kill> kill;
      if (kind == kRestartsTotal) kill = watch_.See(1, 7, kind, {restarts, at});
      if (kind == kLastEnded && ended.has_value())
        kill = watch_.See(1, 8, kind, {static_cast<double>(kWatchStart / 1000 + *ended), at});
      if (kind == kOomReason && oom) kill = watch_.See(1, 9, kind, {1, at});
      if (kill.has_value()) kills.push_back(*kill);
    }
    return kills;
  }

 private:
  std::vector<SeriesKind> order_;
  OomWatch watch_;
};

// A container in a crash loop, watched every 30 s, in each order of its series. Between two scrapes it ended
// twice and was restarted once; later it was restarted again.
TEST(OomWatch, TheEndOfAContainerThatWaitsCountsBesideItsRestarts) {
  std::vector<SeriesKind> order = {kRestartsTotal, kLastEnded, kOomReason, kWaiting};
  std::ranges::sort(order);
  do {
    OomWatch watch;
    const auto scrape = [&](int second, double restarts, int ended, double waits) {
      const int64_t at = kWatchStart + second * 1000;
      uint64_t kills = 0;
      for (const SeriesKind kind : order) {
        double value = 1;
        if (kind == kRestartsTotal) value = restarts;
        if (kind == kWaiting) value = waits;
        if (kind == kLastEnded) value = static_cast<double>(kWatchStart / 1000 + ended);
        if (ended == 0 && (kind == kLastEnded || kind == kOomReason)) continue;
        const auto kill = watch.See(1, 7, kind, {value, at});
        if (!kill.has_value()) continue;
        kills += kill->more + (kill->instead_of_ms.has_value() ? 0 : kill->kills);
      }
      return kills;
    };
    EXPECT_EQ(scrape(0, 3, 0, 0), 0U);
    EXPECT_EQ(scrape(30, 4, 27, 1), 2U) << "it runs, is killed, is restarted, is killed, and waits";
    EXPECT_EQ(scrape(60, 4, 27, 1), 0U);
    EXPECT_EQ(scrape(90, 5, 27, 0), 0U) << "the restart of the second";
    EXPECT_EQ(scrape(120, 5, 110, 1), 1U);
    EXPECT_EQ(scrape(150, 6, 145, 1), 1U) << "restarted, and killed again";
    EXPECT_EQ(scrape(180, 8, 175, 1), 2U);
    EXPECT_EQ(scrape(210, 9, 175, 0), 0U);
    EXPECT_EQ(scrape(240, 10, 220, 0), 1U);
    EXPECT_EQ(scrape(270, 10, 220, 0), 0U);
    // A scrape shows the container as waiting after its end. One second later, a scrape shows the container as
    // restarted.
    EXPECT_EQ(scrape(300, 10, 299, 1) + scrape(301, 11, 299, 0), 1U);
  } while (std::ranges::next_permutation(order).found);
}

// A source may report a container twice at one time; the later report is valid.
TEST(OomWatch, AKillBetweenTwoLooksAtOneTimeIsOne) {
  OomWatch watch;
  uint64_t kills = 0;
  const auto look = [&](int second, double restarts, int ended, double waits) {
    const int64_t at = kWatchStart + second * 1000;
    const auto see = [&](SeriesKind kind, double value) {
      const auto kill = watch.See(1, 7, kind, {value, at});
      if (kill.has_value()) kills += kill->more + (kill->instead_of_ms.has_value() ? 0 : kill->kills);
    };
    if (ended > 0) {
      see(kWaiting, waits);
      see(kOomReason, 1);
      see(kLastEnded, static_cast<double>(kWatchStart / 1000 + ended));
    }
    see(kRestartsTotal, restarts);
  };
  look(0, 0, 0, 0);
  look(60, 0, 0, 0);
  look(60, 1, 59, 0);
  look(120, 1, 59, 0);
  EXPECT_EQ(kills, 1U) << "killed and restarted";
  look(180, 1, 59, 0);
  look(180, 1, 179, 1);
  look(180, 2, 179, 0);
  look(240, 2, 179, 0);
  EXPECT_EQ(kills, 2U) << "killed, and then restarted";
  look(300, 3, 299, 0);
  look(300, 4, 300, 0);
  look(360, 4, 300, 0);
  EXPECT_EQ(kills, 4U) << "killed twice";
}

// Returns the kills that LiveWindows would report: seconds after kWatchStart, and numbers.
std::vector<std::pair<int64_t, uint64_t>> Dates(const std::vector<OomWatch::Kill>& kills) {
  std::vector<std::pair<int64_t, uint64_t>> out;
  for (const OomWatch::Kill& k : kills) {
    if (k.instead_of_ms.has_value()) out.pop_back();
    out.emplace_back((k.time_ms - kWatchStart) / 1000, k.kills);
  }
  return out;
}

void ForEachOrder(const std::function<void(const std::vector<SeriesKind>&)>& test) {
  std::vector<SeriesKind> order = {kRestartsTotal, kOomReason, kLastEnded};
  std::ranges::sort(order);
  do {
    test(order);
  } while (std::ranges::next_permutation(order).found);
}

TEST(OomWatch, AnEndByAClockThatIsAheadIsOneKill) {
  ForEachOrder([](const std::vector<SeriesKind>& order) {
    DatedContainer container(order);
    EXPECT_TRUE(container.Scrape(0, 0, {}, false).empty());
    EXPECT_FALSE(container.Scrape(30, 1, 90, true).empty());
    for (const int second : {60, 90, 120})
      EXPECT_TRUE(container.Scrape(second, 1, 90, true).empty()) << "after " << second << " s";
  });
}

TEST(OomWatch, AKillIsDatedByTheEndOfItsContainer) {
  ForEachOrder([](const std::vector<SeriesKind>& order) {
    DatedContainer container(order);
    EXPECT_TRUE(container.Scrape(0, 0, {}, false).empty());
    // The container is killed at 40 s, and restarted after a back-off of 33 s.
    EXPECT_THAT(Dates(container.Scrape(90, 1, 40, true)), testing::ElementsAre(testing::Pair(40, 1)));
    EXPECT_TRUE(container.Scrape(120, 1, 40, true).empty());
    // The kill is shown while the container waits and again after the restart, but counts once.
    EXPECT_THAT(Dates(container.Scrape(150, 1, 130, true)), testing::ElementsAre(testing::Pair(130, 1)));
    EXPECT_TRUE(container.Scrape(300, 2, 130, true).empty());
    // The container ends for another reason.
    EXPECT_TRUE(container.Scrape(400, 3, 390, false).empty());
    EXPECT_THAT(Dates(container.Scrape(430, 4, 420, true)), testing::ElementsAre(testing::Pair(420, 1)));
  });
}

TEST(OomWatch, TheFirstEndCountsWhileItIsNews) {
  ForEachOrder([](const std::vector<SeriesKind>& order) {
    DatedContainer late(order);
    const std::vector<OomWatch::Kill> kills = late.Scrape(0, 3, -50, true);
    ASSERT_EQ(kills.size(), 1U);
    EXPECT_TRUE(kills[0].is_first) << "a daemon before may have counted it";
    EXPECT_EQ(kills[0].time_ms, kWatchStart - 50'000);
    DatedContainer old(order);
    EXPECT_TRUE(old.Scrape(0, 3, -3600, true).empty());
    EXPECT_TRUE(old.Scrape(30, 3, -3600, true).empty());
  });
}

TEST(OomWatch, AKillWithoutADateWasNotBeforeTheRestartBeforeIt) {
  OomWatch watch;
  const auto at = [](int second) { return kWatchStart + second * 1000; };
  (void)watch.See(1, 7, kRestartsTotal, {0, at(0)});
  (void)watch.See(1, 7, kRestartsTotal, {1, at(1000)});
  std::optional<OomWatch::Kill> kill = watch.See(1, 9, kOomReason, {1, at(1000)});
  ASSERT_TRUE(kill.has_value());
  EXPECT_EQ(kill->since_ms, at(670)) << "the longest back-off";
  (void)watch.See(1, 7, kRestartsTotal, {2, at(1060)});
  kill = watch.See(1, 9, kOomReason, {1, at(1060)});
  ASSERT_TRUE(kill.has_value());
  EXPECT_EQ(kill->since_ms, at(1000));
  EXPECT_EQ(kill->time_ms, at(1060));
}

TEST(OomWatch, AnAbsurdCountOfRestartsIsBounded) {
  OomWatch watch;
  (void)watch.See(1, 7, kRestartsTotal, {0, kWatchStart});
  (void)watch.See(1, 7, kRestartsTotal, {1e300, kWatchStart + 1000});
  const std::optional<OomWatch::Kill> kill = watch.See(1, 9, kOomReason, {1, kWatchStart + 1000});
  ASSERT_TRUE(kill.has_value());
  EXPECT_EQ(kill->kills, kMostKillsAtOnce);
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
    const RemoteSample sample{value, kWatchStart + minute * 60'000};
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
  // Returns the peak memory of the job in the windows closed so far, MiB.
  double Peak() {
    double peak = 0;
    ingest.CloseUntil(Timestamp{(kWatchStart + 3'600'000) * 1000}, [&](const ClosedWindow& w) {
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
  // The container's counter ends with the container, and starts again at 0.
  cell.State(1, 1, true);
  cell.Take("container_oom_events_total", "app", 0, 1);
  EXPECT_EQ(cell.Kills(), 1U);
  cell.State(2, 1, true);
  EXPECT_EQ(cell.Kills(), 0U);
  EXPECT_THAT(cell.ingest.mapper().jobs().Names(), testing::ElementsAre("shop/deployment/web"));
  EXPECT_EQ(cell.ingest.mapper().jobs().FactsOf(JobId{0}).oom_source, OomSource::kFull);
}

TEST(KubeStateMetrics, AKillThatTwoSourcesTellIsOne) {
  KubeCell cell;
  cell.State(0, 0, false);
  cell.Take("container_oom_events_total", "app", 0, 0);
  cell.Take("container_oom_events_total", "app", 1, 1);
  EXPECT_EQ(cell.Kills(), 1U);
  cell.State(4, 1, true);  // the container was restarted after a back-off
  EXPECT_EQ(cell.Kills(), 0U);
  cell.State(20, 2, true);
  EXPECT_EQ(cell.Kills(), 1U);
}

TEST(KubeStateMetrics, AKillIsDatedByTheEndOfItsContainer) {
  KubeCell cell;
  cell.State(0, 0, false);
  cell.State(5, 1, true);
  cell.Take("kube_pod_container_status_last_terminated_timestamp", "app", kWatchStart / 1000 + 30, 5);
  const std::vector<OomSighting> seen = cell.ingest.TakeOoms();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].time, Timestamp{(kWatchStart + 30'000) * 1000});
  EXPECT_EQ(seen[0].since, seen[0].time);
}

// In a crash loop, a different series is the first to show each kill.
TEST(KubeStateMetrics, KillsInARowAreKillsEachByItsDate) {
  KubeCell cell;
  const auto ended = [&](int second, int minute) {
    cell.Take("kube_pod_container_status_last_terminated_timestamp", "app", kWatchStart / 1000 + second,
              minute);
  };
  cell.State(0, 0, false);
  cell.State(1, 1, true);  // the container was killed and restarted
  ended(30, 1);
  EXPECT_EQ(cell.Kills(), 1U);
  cell.State(2, 1, true);  // the container was killed again, and is in the back-off
  ended(75, 2);
  EXPECT_EQ(cell.Kills(), 1U);
  cell.State(3, 2, true);  // the container was restarted
  EXPECT_EQ(cell.Kills(), 0U);
  cell.Take("kube_pod_container_status_terminated_reason", "app", 0, 3, {{"reason", "OOMKilled"}});
  cell.Take("kube_pod_container_status_terminated_reason", "app", 1, 4, {{"reason", "OOMKilled"}});
  EXPECT_EQ(cell.Kills(), 1U) << "as it ends";
  cell.State(5, 3, true);
  ended(240, 5);
  EXPECT_EQ(cell.Kills(), 0U);
  cell.State(6, 4, true);  // the container was restarted once more
  ended(350, 6);
  EXPECT_EQ(cell.Kills(), 1U);
}

TEST(KubeStateMetrics, AKillOfAnInitContainerIsCountedAsideOfTheTasks) {
  KubeCell cell;
  cell.Take("kube_pod_init_container_info", "migrate", 1, 0);
  cell.Take("kube_pod_container_status_restarts_total", "migrate", 0, 0);
  cell.Take("kube_pod_container_status_restarts_total", "migrate", 1, 1);
  cell.Take("kube_pod_container_status_last_terminated_reason", "migrate", 1, 1, {{"reason", "OOMKilled"}});
  const std::vector<OomSighting> seen = cell.ingest.TakeOoms();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].task, kAsideTask);
  EXPECT_EQ(seen[0].job, JobId{0});
}

TEST(KubeStateMetrics, AJobWithoutThemSaysWhatItCannotTell) {
  KubeCell cell;
  cell.Take("container_memory_working_set_bytes", "app", 1e8, 0);
  EXPECT_EQ(cell.ingest.mapper().jobs().FactsOf(JobId{0}).oom_source, OomSource::kNone);
  cell.Take("container_oom_events_total", "app", 0, 0);
  EXPECT_EQ(cell.ingest.mapper().jobs().FactsOf(JobId{0}).oom_source, OomSource::kSurvivors);
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
}  // namespace taut::server
