// Tests OOM kills under real conditions: kills of unknown jobs, late reports, and dates in the future. The
// effect of a kill survives a change of the recommender and an upgrade.
#include "common/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"
#include "server/control/stored_kills.h"

namespace taut::server {
namespace {

constexpr int64_t kOomsStart = ControlCell::kStart;
constexpr double kKilledAt = 3e9;  // limit far above the cell's usage

Timestamp OomsAt(int minute) { return Timestamp::FromSeconds(kOomsStart + 60 * minute); }

// Returns the only task of this job.
NamedTask Task(const std::string& job) { return {job, "oomed", {}}; }

std::string FirstJob(ControlCell& cell) { return cell.control().view()->jobs[0].record->name; }

std::optional<double> Recommended(ControlCell& cell) {
  std::optional<double> recommended;
  cell.control().Look(JobId{0}, [&](const brain::LiveJob& job) {
    recommended = job.of(Resource::kMemory).lane.recommended();
  });
  return recommended;
}

std::optional<double> InForce(ControlCell& cell) {
  std::optional<double> in_force;
  cell.control().Look(JobId{0},
                      [&](const brain::LiveJob& job) { in_force = job.of(Resource::kMemory).gate.in_force; });
  return in_force;
}

void Kill(ControlCell& cell, Timestamp time, Timestamp now) {
  ASSERT_TRUE(cell.control().agents().TakeOom(Task(FirstJob(cell)), time, 1, kKilledAt, now).ok());
}

// While a tick stores new jobs, an agent reports a kill of another job.
TEST(ControlOoms, OfAJobMetDuringATickWaitForTheNext) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 30).ok());
  ASSERT_TRUE(cell.control().agents().Announce({"shop/known", "t", {}}, OomsAt(30)).has_value());
  bool told = false;
  cell.failing().on_commit = [&] {
    if (std::exchange(told, true)) return;
    ASSERT_TRUE(
        cell.control().agents().TakeOom({"shop/unknown", "t", {}}, OomsAt(30), 1, 1e9, OomsAt(30)).ok());
  };
  ASSERT_TRUE(cell.control().Tick(OomsAt(30)).ok());
  EXPECT_TRUE(told);
  EXPECT_EQ(cell.control().status().counts().ooms, 0U);
  ASSERT_TRUE(cell.control().Tick(OomsAt(30)).ok());
  EXPECT_EQ(cell.control().status().counts().ooms, 1U);
  EXPECT_EQ(cell.store().Ooms(std::nullopt, INT64_MIN, 9)->size(), 1U);
}

// Before the first sample, the time is unknown. The job begins at the time of the first sample.
TEST(ControlOoms, WhereTimeIsTheSamplesAJobBeginsWithTheFirst) {
  ControlCell cell(80, ClockSource::kSamples);
  ASSERT_TRUE(cell.control().agents().TakeOom({"shop/early", "t", {}}, OomsAt(0), 1, 1e9, OomsAt(0)).ok());
  ASSERT_TRUE(cell.control().Tick(OomsAt(0)).ok());
  EXPECT_FALSE(cell.control().Find("shop/early").has_value());
  ASSERT_TRUE(cell.Live(0, 30).ok());
  const std::optional<JobId> id = cell.control().Find("shop/early");
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(cell.control().status().counts().ooms, 1U);
  cell.control().Look(*id,
                      [](const brain::LiveJob& job) { EXPECT_EQ(job.record->first_seen_s, kOomsStart); });
}

TEST(ControlOoms, AFutureTimeFreezesNothing) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  Kill(cell, OomsAt(180 + 365 * 1440), OomsAt(180));
  Kill(cell, Timestamp{INT64_MAX}, OomsAt(180));
  Kill(cell, Timestamp{INT64_MIN}, OomsAt(180));
  ASSERT_TRUE(cell.control().Tick(OomsAt(180)).ok());
  EXPECT_GT(InForce(cell), kKilledAt);
  const auto ooms = *cell.store().Ooms(JobId{0}, INT64_MIN, 9);
  ASSERT_FALSE(ooms.empty());
  for (const OomRecord& o : ooms) EXPECT_LE(o.time_s, OomsAt(180).seconds() + 300);
  for (const Decision& d : cell.told()) EXPECT_LE(d.time_s, OomsAt(180).seconds() + 300);
  // The owner sets an upper bound, an hour after the last change.
  ASSERT_TRUE(SetOne(cell.control(), JobId{0}, "memory.upper", "1GiB", "anna").ok());
  ASSERT_TRUE(cell.Live(181, 260).ok());
  EXPECT_EQ(InForce(cell), 1024 * kMiB);
}

// An earlier run of tautd stored kills with a wrong clock.
TEST(ControlOoms, AStoredFutureIsMendedByARestart) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  Decision d;
  d.id = cell.told().back().id + 1;
  d.target = Resource::kMemory;
  d.kind = DecisionKind::kOomRaise;
  d.mode = Mode::kAuto;
  d.time_s = kOomsStart + 365 * kDaySeconds;
  d.after = 4e9;
  const OomRecord oom{JobId{0}, 0, d.time_s, 1, kKilledAt};
  PassRecord pass;
  pass.decisions = {&d, 1};
  pass.ooms = {&oom, 1};
  ASSERT_TRUE(cell.store().Commit(pass).ok());
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok());
  EXPECT_EQ(InForce(cell), 4e9);
  ASSERT_TRUE(cell.Live(180, 360).ok());
  EXPECT_LT(InForce(cell), 3e9) << "two hours later it is lowered";
  cell.control().Look(JobId{0}, [](const brain::LiveJob& job) {
    EXPECT_LE(job.last_oom_s, kOomsStart + kDaySeconds);
    EXPECT_LE(job.last_change_s(), kOomsStart + kDaySeconds);
  });
}

// A kill is reported after the pass of its window and before the next pass. A restart restores the kill and its
// decision.
TEST(ControlOoms, OneToldLateOutlivesARestart) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 188).ok());
  Kill(cell, OomsAt(120), OomsAt(188));
  ASSERT_TRUE(cell.control().Tick(OomsAt(188)).ok());
  const std::optional<double> raised = InForce(cell);
  ASSERT_GT(raised, kKilledAt);
  const std::optional<double> recommended = Recommended(cell);
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok());
  EXPECT_EQ(InForce(cell), raised);
  EXPECT_EQ(Recommended(cell), recommended);
  ASSERT_TRUE(cell.Live(188, 300).ok());
  EXPECT_GT(InForce(cell), kKilledAt);
}

// The series of a container that has terminated report the last termination as long as the container exists.
TEST(ControlOoms, OneDatedByItsContainerIsCountedOnceAlsoOverARestart) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 30).ok());
  const auto tell = [&](int minute, const char* pod, int killed_minute) {
    const auto take = [&](std::string_view metric, double value, std::vector<LabelView> more) {
      std::vector<LabelView> labels = {
          {"__name__", metric}, {"container", "app"}, {"namespace", "shop"}, {"pod", pod}};
      labels.insert(labels.end(), more.begin(), more.end());
      const RemoteSample sample{value, OomsAt(minute).us / 1000};
      cell.control().ingest().samples.Take(labels, {&sample, 1}, OomsAt(minute));
    };
    take("kube_pod_container_status_last_terminated_reason", 1, {{"reason", "OOMKilled"}});
    take("kube_pod_container_status_last_terminated_timestamp",
         static_cast<double>(OomsAt(killed_minute).seconds()), {});
  };
  const auto stored = [&] { return cell.store().Ooms(std::nullopt, INT64_MIN, 9)->size(); };
  tell(30, "web-5d4f8c7b9d-x2x4z", 28);
  ASSERT_TRUE(cell.control().Tick(OomsAt(30)).ok());
  ASSERT_TRUE(cell.control().Tick(OomsAt(31)).ok());
  ASSERT_EQ(stored(), 1U);
  EXPECT_EQ((*cell.store().Ooms(std::nullopt, INT64_MIN, 9))[0].time_s, OomsAt(28).seconds());
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok());
  tell(32, "web-5d4f8c7b9d-x2x4z", 28);
  tell(32, "web-5d4f8c7b9d-b2b4z", 28);  // another kill of the same second, while tautd was stopped
  ASSERT_TRUE(cell.control().Tick(OomsAt(32)).ok());
  ASSERT_TRUE(cell.control().Tick(OomsAt(33)).ok());
  EXPECT_EQ(stored(), 2U);
}

// A machine whose clock is ahead dates a kill after the sample that reports the kill. After a restart, a later
// sample reports the same kill.
TEST(ControlOoms, OneDatedAheadOfItsSampleIsCountedOnceAlsoOverARestart) {
  for (const bool logged : {false, true}) {
    const TempDir dir;
    ControlCell cell(80, logged ? StrCat(dir.path(), "/store.db") : "");
    ASSERT_TRUE(cell.Live(0, 30).ok());
    const auto tell = [&](int minute, int ended_minute, bool kept = true) {
      const auto take = [&](std::string_view metric, double value, std::vector<LabelView> more) {
        std::vector<LabelView> labels = {{"__name__", metric},
                                         {"container", "app"},
                                         {"namespace", "shop"},
                                         {"pod", "web-5d4f8c7b9d-x2x4z"}};
        labels.insert(labels.end(), more.begin(), more.end());
        const RemoteSample sample{value, OomsAt(minute).us / 1000};
        cell.control().ingest().samples.Take(labels, {&sample, 1}, OomsAt(minute),
                                             kept ? OomsAt(minute) : Timestamp{INT64_MAX});
      };
      take("kube_pod_container_status_last_terminated_reason", 1, {{"reason", "OOMKilled"}});
      take("kube_pod_container_status_last_terminated_timestamp",
           static_cast<double>(OomsAt(ended_minute).seconds()), {});
      EXPECT_TRUE(cell.control().Tick(OomsAt(minute)).ok());
    };
    const auto stored = [&] { return *cell.store().Ooms(std::nullopt, INT64_MIN, 9); };
    tell(30, 35, false);
    tell(31, 35);
    ASSERT_EQ(stored().size(), 1U);
    EXPECT_EQ(stored()[0].time_s, OomsAt(30).seconds()) << "not after its sample";
    EXPECT_EQ(stored()[0].shown_s, OomsAt(35).seconds());
    for (const int minute : {32, 34}) {
      cell.Restart();
      ASSERT_TRUE(cell.restored().ok());
      tell(minute, 35);
      tell(minute + 1, 35);
      EXPECT_EQ(stored().size(), 1U) << "minute " << minute << ", logged: " << logged;
    }
    tell(36, 37);
    EXPECT_EQ(stored().size(), 2U) << "the next kill is another";
  }
}

// A counter reports a kill without a time. After a restart, the container's series report the time of the
// termination.
TEST(ControlOoms, OneWithoutADateIsTheOneThatIsDatedAfterARestart) {
  StoredKills stored;
  const auto meet = [&](uint32_t job, int64_t second, std::optional<int64_t> shown_s) {
    OomSighting seen;
    seen.job = JobId{job};
    seen.time = Timestamp::FromSeconds(second);
    if (shown_s.has_value()) seen.shown = Timestamp::FromSeconds(*shown_s);
    return stored.Meet(seen);
  };
  const OomRecord undated{JobId{3}, 0, 130, 1, {}, {}, 100};
  stored.Add(undated);
  stored.Add({JobId{3}, 0, 110, 1, {}, 115, {}});
  stored.Add({JobId{3}, 0, 60, 1, {}});
  EXPECT_TRUE(meet(3, 110, 115)) << "shown with this date";
  EXPECT_TRUE(meet(3, 110, 115)) << "the one without a date may be it";
  EXPECT_FALSE(meet(3, 110, 115));
  stored.Add(undated);
  EXPECT_FALSE(meet(3, 99, 99)) << "that one came later";
  EXPECT_FALSE(meet(3, 115, {})) << "a sighting without a date is met by its second";
  EXPECT_TRUE(meet(3, 60, 60)) << "an older version stored this second";
  EXPECT_FALSE(meet(4, 130, 130));
}

// A later kill in the checkpoint does not hide an earlier kill that is reported after the checkpoint.
TEST(ControlOoms, OneToldLateAfterACheckpointOutlivesARestart) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 188).ok());
  const auto kill = [&](int minute, double limit) {
    const std::string job = FirstJob(cell);
    EXPECT_TRUE(cell.control().agents().TakeOom(Task(job), OomsAt(minute), 1, limit, OomsAt(188)).ok());
    EXPECT_TRUE(cell.control().Tick(OomsAt(188)).ok());
  };
  kill(185, kKilledAt / 2);
  ASSERT_TRUE(cell.control().CheckpointAll().ok());
  kill(120, kKilledAt);
  const std::optional<double> recommended = Recommended(cell);
  ASSERT_GT(recommended, kKilledAt);
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok());
  EXPECT_EQ(Recommended(cell), recommended);
  cell.control().Look(JobId{0},
                      [](const brain::LiveJob& job) { EXPECT_EQ(job.OomsOfWeek(job.ooms_day), 2U); });
}

// A kill before the first window closes is restored although no window is stored.
TEST(ControlOoms, OneBeforeTheFirstWindowOutlivesARestart) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 3).ok());
  const std::string job = cell.store().Job(JobId{0})->name;
  ASSERT_TRUE(cell.control().agents().TakeOom(Task(job), OomsAt(2), 1, kKilledAt, OomsAt(3)).ok());
  ASSERT_TRUE(cell.control().Tick(OomsAt(3)).ok());
  const auto of_week = [&] {
    uint32_t kills = 0;
    cell.control().Look(JobId{0}, [&](const brain::LiveJob& job) { kills = job.OomsOfWeek(job.ooms_day); });
    return kills;
  };
  ASSERT_EQ(of_week(), 1U);
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok());
  EXPECT_EQ(of_week(), 1U);
}

// A leak that the owner's limit would hold for hours is not killed by a limit that Tautline sets.
TEST(ControlOoms, ALeakIsRaisedBeforeItsKill) {
  ControlOptions options;
  brain::JobPolicy defaults;
  defaults.mode = Mode::kAuto;
  defaults.recommender = brain::Policy::kMovingWindow;
  options.live.vertical.moving_window.min_history_s = 3600;
  options.live.rules = *brain::PolicyRules::Compile({}, defaults);
  options.live.enforcement = brain::Enforcement::kAlways;
  InMemoryStore store;
  DryRunActuator actuator;
  ControlPlane control(options, *MappingRules::Compile(BuiltinRules()),
                       ControlPlane::Parts{&store, &store, &actuator, [] { return 0.0; }});
  ASSERT_TRUE(control.Restore().ok());
  const auto at = [](int second) { return Timestamp::FromSeconds(kOomsStart + second); };
  const auto tell = [&](int second, double mib) {
    const auto take = [&](std::string_view metric, double value, std::vector<LabelView> more) {
      std::vector<LabelView> labels = {{"__name__", metric}, {"container", "app"}, {"namespace", "shop"}};
      labels.push_back({"pod", "web-5d4f8c7b9d-x2x4z"});
      labels.insert(labels.end(), more.begin(), more.end());
      const RemoteSample sample{value, at(second).us / 1000};
      control.ingest().samples.Take(labels, {&sample, 1}, at(second));
    };
    take("container_memory_working_set_bytes", mib * kMiB, {});
    take("kube_pod_container_resource_limits", 512 * kMiB, {{"resource", "memory"}});
    return control.Tick(at(second));
  };
  int second = 0;
  for (; second < 3 * 3600; second += 30) ASSERT_TRUE(tell(second, 20).ok());
  const auto in_force = [&] {
    std::optional<double> limit;
    control.Look(JobId{0},
                 [&](const brain::LiveJob& job) { limit = job.of(Resource::kMemory).gate.in_force; });
    return limit.value_or(0) / kMiB;
  };
  const double lowered = in_force();
  ASSERT_GT(lowered, 0);
  ASSERT_LT(lowered, 150);
  double mib = 20;
  for (; mib < 400; second += 15, mib += 2) {
    ASSERT_TRUE(tell(second, mib).ok());
    ASSERT_GT(in_force(), mib);
  }
  EXPECT_LE(in_force(), 512) << "up to the owner's limit";
}

TEST(ControlOoms, AnotherRecommenderKnowsThem) {
  for (const std::string_view other : {"peak", "ensemble", "vpa", "analogs"}) {
    ControlCell cell;
    ASSERT_TRUE(cell.Live(0, 180).ok());
    Kill(cell, OomsAt(180), OomsAt(180));
    ASSERT_TRUE(cell.control().Tick(OomsAt(180)).ok());
    ASSERT_GT(InForce(cell), kKilledAt);
    ASSERT_TRUE(SetOne(cell.control(), JobId{0}, "recommender", other, "anna").ok());
    ASSERT_TRUE(cell.Live(180, 400).ok());
    EXPECT_GT(Recommended(cell), kKilledAt) << other;
    EXPECT_GT(InForce(cell), kKilledAt) << other << ": for a week nothing is set that has killed";
  }
}

// Changes defaults.recommender, by a restart and by a reload.
TEST(ControlOoms, AnotherDefaultKnowsThem) {
  for (const bool reload : {false, true}) {
    ControlCell cell;
    ASSERT_TRUE(cell.Live(0, 180).ok());
    Kill(cell, OomsAt(180), OomsAt(180));
    ASSERT_TRUE(cell.control().Tick(OomsAt(180)).ok());
    cell.recommender = brain::Policy::kPeak;
    if (reload) {
      brain::LiveSettings settings;
      cell.control().WithFleet([&](const brain::LiveFleet& fleet) { settings = fleet.settings; });
      brain::JobPolicy defaults;
      defaults.mode = Mode::kAuto;
      defaults.recommender = brain::Policy::kPeak;
      settings.rules = *brain::PolicyRules::Compile({}, defaults);
      cell.control().Reload(settings);
    } else {
      cell.Restart();
    }
    ASSERT_TRUE(cell.Live(180, 400).ok());
    EXPECT_GT(Recommended(cell), kKilledAt) << reload;
    EXPECT_GT(InForce(cell), kKilledAt) << reload;
  }
}

// tautd acts on a kill even before the history is known again.
TEST(ControlOoms, RaiseAlsoBeforeTheHistoryIsKnown) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  const std::string job = FirstJob(cell);
  ASSERT_TRUE(cell.control().agents().TakeOom(Task(job), OomsAt(180), 1, kKilledAt, OomsAt(180)).ok());
  ASSERT_TRUE(SetOne(cell.control(), JobId{0}, "recommender", "peak", "anna").ok());
  ASSERT_TRUE(cell.control().Tick(OomsAt(180)).ok());
  EXPECT_EQ(cell.told().back().kind, DecisionKind::kOomRaise);
  EXPECT_GT(InForce(cell), kKilledAt);
}

// An upgrade may reject the checkpoints of the previous version. Jobs are then retrained from stored usage, with
// their kills, and the values in force remain in force.
TEST(ControlOoms, CheckpointsOfAnotherVersionLoseNothingThatIsInForce) {
  ControlCell cell;
  ASSERT_TRUE(cell.Live(0, 180).ok());
  Kill(cell, OomsAt(180), OomsAt(180));
  ASSERT_TRUE(cell.Live(180, 240).ok());
  ASSERT_TRUE(cell.control().CheckpointAll().ok());
  const std::optional<double> in_force = InForce(cell);
  ASSERT_GT(in_force, kKilledAt);
  Checkpoint other{0, *cell.control().agents().stored_through(), std::string(1, '\x7f')};
  PassRecord pass;
  pass.checkpoints = {&other, 1};
  ASSERT_TRUE(cell.store().Commit(pass).ok());
  cell.Restart();
  ASSERT_TRUE(cell.restored().ok());
  EXPECT_FALSE(cell.control().status().lost().empty());
  EXPECT_EQ(InForce(cell), in_force);
  cell.control().Look(JobId{0},
                      [](const brain::LiveJob& job) { EXPECT_EQ(job.OomsOfWeek(job.ooms_day), 1U); });
  ASSERT_TRUE(cell.Live(240, 400).ok());
  EXPECT_GT(Recommended(cell), kKilledAt);
  EXPECT_GT(InForce(cell), kKilledAt);
}

}  // namespace
}  // namespace taut::server
