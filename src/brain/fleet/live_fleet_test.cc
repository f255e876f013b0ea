// Tests that a restart does not affect the later decisions of a cell. Also tests OOM kills and people's
// settings.
#include "brain/fleet/live_fleet.h"

#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// A fleet may be stopped at any window, with checkpoints of any age. The restored fleet, which has processed the
// later stored windows, continues as if it had not been stopped.
TEST(LiveFleet, GoesOnAfterAStop) {
  constexpr size_t kJobs = 6;
  const Cell cell(kJobs);
  const LiveSettings settings = Settings(Policy::kAnalogs, Mode::kAuto);
  for (const int stop : {300, 5 * kWindowsPerDay - 1, 5 * kWindowsPerDay + 2, 7 * kWindowsPerDay + 100}) {
    for (const int age : {0, 1, 5}) {
      LiveFleet straight(settings);
      AddJobs(straight, kJobs);
      std::vector<Decision> decisions;
      std::string checkpoint, models;
      PassOutput out;
      for (int w = 0; w <= stop; ++w) {
        out.Clear();
        Step(straight, cell.windows()[static_cast<size_t>(w)], out);
        decisions.insert(decisions.end(), out.decisions.begin(), out.decisions.end());
        if (w == stop - age) checkpoint = Chunk(straight);
        if (out.day_ended) models = Models(straight);
      }
      LiveFleet again(settings);
      AddJobs(again, kJobs);
      ByteReader in(checkpoint);
      ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{0}, in).ok());
      ByteReader fleet_in(models);
      ASSERT_TRUE(again.checkpoint.LoadFleet(fleet_in).ok());
      const WindowId through{stop - age};
      for (int w = stop - age; w <= stop; ++w) {
        again.restore.Redo(cell.windows()[static_cast<size_t>(w)], {&through, 1});
        for (const Decision& d : decisions) {
          if (w > stop - age && d.time_s == WindowId{w}.next().start_s()) again.restore.Redo(d);
        }
      }
      again.restore.End(decisions.empty() ? 0 : decisions.back().id, 0);
      for (int w = stop + 1; w < stop + 400; ++w) {
        PassOutput a, b;
        Step(straight, cell.windows()[static_cast<size_t>(w)], a);
        Step(again, cell.windows()[static_cast<size_t>(w)], b);
        ASSERT_EQ(a.decisions.size(), b.decisions.size())
            << "stop " << stop << " age " << age << " window " << w;
        for (size_t i = 0; i < a.decisions.size(); ++i) {
          EXPECT_EQ(a.decisions[i].id, b.decisions[i].id);
          EXPECT_EQ(a.decisions[i].after, b.decisions[i].after);
          EXPECT_EQ(a.decisions[i].sentence, b.decisions[i].sentence);
        }
      }
      EXPECT_EQ(Models(straight), Models(again)) << "stop " << stop << " age " << age;
    }
  }
}

TEST(LiveFleet, TheFleetsSumsSayOfHowManyJobsTheyAre) {
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, 2);
  ClosedWindow closed = Cell(2).windows()[0];
  for (TaskWindow& t : closed.tasks) t.cpu_mean_cores = t.cpu_peak_cores = kAbsent;
  closed.jobs[1].window.memory_limit_bytes = kAbsent;
  PassOutput out;
  Step(fleet, closed, out);
  EXPECT_EQ(out.point.amounts[0].jobs, 0U);
  EXPECT_EQ(out.point.amounts[1].jobs, 2U);
  EXPECT_EQ(out.point.amounts[1].jobs_limited, 1U);
}

// A decision is not in force if no agent manages the job's tasks.
TEST(LiveFleet, LimitsThatNoAgentAppliesAreTheOwners) {
  const Cell cell(3);
  LiveSettings settings = Settings(Policy::kMovingWindow, Mode::kAuto);
  const auto sums = [&](Enforcement enforcement) {
    settings.enforcement = enforcement;
    LiveFleet fleet(settings);
    AddJobs(fleet, 3);
    PassOutput out;
    for (size_t w = 0; w < 400; ++w) {
      out.Clear();
      Step(fleet, cell.windows()[w], out);
    }
    EXPECT_TRUE(fleet.job(JobId{0}).of(Resource::kMemory).gate.in_force.has_value());
    return std::pair(out.point.amounts[1].in_force, out.point.amounts[1].owner_limit);
  };
  const auto [unapplied, owners] = sums(Enforcement::kByAgents);
  EXPECT_EQ(unapplied, owners);
  const auto [applied, same] = sums(Enforcement::kAlways);
  EXPECT_LT(applied, same);
  const auto [dry, also] = sums(Enforcement::kNever);
  EXPECT_LT(dry, also) << "a dry run shows what would be";
}

TEST(LiveFleet, AnOomRaisesAtOnceWhateverThePeriod) {
  const Cell cell(2);
  LiveFleet fleet(Settings(Policy::kEnsemble, Mode::kAuto));
  AddJobs(fleet, 2);
  PassOutput out;
  for (int w = 0; w < 600; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const std::optional<double> before = fleet.job(JobId{1}).of(Resource::kMemory).limit();
  ASSERT_TRUE(before.has_value());
  out.Clear();
  OomRecord oom{JobId{1}, 0, WindowId{600}.start_s() + 10, 1, std::nullopt};
  fleet.kills.TakeOom(oom, out);
  EXPECT_EQ(oom.limit, before);
  ASSERT_EQ(out.decisions.size(), 1U);
  EXPECT_EQ(out.decisions[0].kind, DecisionKind::kOomRaise);
  EXPECT_GE(*out.decisions[0].after, 1.19 * *before);
  EXPECT_EQ(fleet.job(JobId{1}).OomsOfWeek(WindowId{600}.day()), 1U);
  EXPECT_EQ(fleet.job(JobId{1}).OomsOfWeek(WindowId{600}.day() + 7), 0U);
}

// In either order of the two keys, no limit below the bound is set, even before the next window closes.
TEST(LiveFleet, ABoundHoldsForWhatIsDecidedWithIt) {
  const Cell cell(1);
  for (const bool mode_first : {false, true}) {
    LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kObserve));
    AddJobs(fleet, 1);
    PassOutput out;
    for (int w = 0; w < 400; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
    const LiveLane& memory = fleet.job(JobId{0}).of(Resource::kMemory);
    ASSERT_LT(memory.lane.recommended().value_or(kGiB * 64), kGiB * 64);
    std::vector<KeyValue> settings = {{"memory.lower", "64GiB"}, {"mode", "auto"}};
    if (mode_first) std::swap(settings[0], settings[1]);
    absl::StatusOr<PreparedSettings> prepared =
        fleet.overrides.Prepare(JobId{0}, settings, "anna", WindowId{400}.start_s());
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    size_t of_memory = 0;
    for (const Decision& d : prepared->output.decisions) {
      if (d.target != Target(Resource::kMemory)) continue;
      ++of_memory;
      EXPECT_EQ(d.after, 64 * kGiB);
      EXPECT_EQ(d.sentence, "lower bound set for the job");
      EXPECT_GT(d.time_s, WindowId{400}.start_s())
          << "no restart takes it for one of the window that has passed";
    }
    EXPECT_EQ(of_memory, 1U);
    fleet.overrides.Take(*std::move(prepared));
    out.Clear();
    Step(fleet, cell.windows()[400], out);
    EXPECT_EQ(memory.gate.in_force, 64 * kGiB);
  }
}

TEST(LiveFleet, APersonsSettingActsAtOnceAndIsTakenBack) {
  const Cell cell(3);
  LiveFleet fleet(Settings(Policy::kEnsemble, Mode::kAuto));
  AddJobs(fleet, 3);
  PassOutput out;
  for (int w = 0; w < 600; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const JobId id = *fleet.Find("job-2");
  ASSERT_TRUE(fleet.job(id).of(Resource::kMemory).gate.in_force.has_value());
  out.Clear();
  absl::StatusOr<SettingChange> change = Set(fleet, id, "mode", "observe", 180'000, out);
  ASSERT_TRUE(change.ok()) << change.status();
  EXPECT_EQ(change->before, "auto");
  ASSERT_EQ(out.decisions.size(), 2U);
  EXPECT_EQ(out.decisions[0].kind, DecisionKind::kRelease);
  EXPECT_FALSE(fleet.job(id).of(Resource::kMemory).gate.in_force.has_value());
  EXPECT_EQ(fleet.job(id).policy->mode, Mode::kObserve);
  ASSERT_TRUE(Set(fleet, id, "mode", "", 180'000, out).ok());
  EXPECT_EQ(fleet.job(id).policy->mode, Mode::kAuto);
  EXPECT_FALSE(Set(fleet, id, "mod", "auto", 180'000, out).ok());
  EXPECT_FALSE(Set(fleet, id, "mode", "full", 180'000, out).ok());
}

TEST(LiveFleet, LabelsThatAreSettingsActAtOnceToo) {
  const Cell cell(3);
  LiveFleet fleet(Settings(Policy::kEnsemble, Mode::kAuto));
  AddJobs(fleet, 3);
  PassOutput out;
  for (int w = 0; w < 600; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const JobId id = *fleet.Find("job-2");
  const std::vector<KeyValue> observe = {{"tautline.dev/mode", "observe"}};
  out.Clear();
  EXPECT_TRUE(fleet.owners.SetLabels(id, observe, 180'000, out));
  ASSERT_EQ(out.decisions.size(), 2U);
  EXPECT_EQ(out.decisions[0].kind, DecisionKind::kRelease);
  EXPECT_EQ(fleet.job(id).policy->mode, Mode::kObserve);
  EXPECT_EQ(fleet.job(*fleet.Find("job-1")).policy->mode, Mode::kAuto) << "not of jobs without the label";
  out.Clear();
  EXPECT_FALSE(fleet.owners.SetLabels(id, observe, 180'000, out));
  EXPECT_TRUE(fleet.owners.SetLabels(id, {}, 180'000, out));
  EXPECT_EQ(fleet.job(id).policy->mode, Mode::kAuto);
}

// A new recommender that has processed the stored days equals a recommender that has observed all days.
TEST(LiveFleet, AnotherRecommenderLivesThroughHistory) {
  const Cell cell(2);
  LiveFleet fleet(Settings(Policy::kPeak, Mode::kObserve));
  LiveFleet all_along(Settings(Policy::kEnsemble, Mode::kObserve));
  AddJobs(fleet, 2);
  AddJobs(all_along, 2);
  PassOutput out;
  const int windows = 3 * kWindowsPerDay;
  for (int w = 0; w < windows; ++w) {
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
    Step(all_along, cell.windows()[static_cast<size_t>(w)], out);
  }
  ASSERT_TRUE(Set(fleet, JobId{0}, "recommender", "ensemble", 0, out).ok());
  ASSERT_THAT(WantedOf(fleet), testing::ElementsAre(JobId{0}));
  std::vector<JobDay> history;
  for (int32_t d = 0; d < 3; ++d) history.push_back(DayOf(cell, d, 2)[0]);
  fleet.history.Retrain(JobId{0}, history, {});
  EXPECT_TRUE(WantedOf(fleet).empty());
  for (const Resource r : kResources) {
    EXPECT_EQ(fleet.job(JobId{0}).of(r).lane.recommended(), all_along.job(JobId{0}).of(r).lane.recommended());
  }
}

// If only the CPU recommender changes, the memory recommender keeps its state, even if the job sleeps or tautd
// is restarted.
TEST(LiveFleet, AnotherRecommenderOfOneResourceLeavesTheOtherAsItIs) {
  const Cell cell(2);
  const LiveSettings settings = Settings(Policy::kPeak, Mode::kObserve);
  LiveFleet fleet(settings), all_along(Settings(Policy::kEnsemble, Mode::kObserve));
  AddJobs(fleet, 2);
  AddJobs(all_along, 2);
  PassOutput out;
  for (int w = 0; w < 3 * kWindowsPerDay; ++w) {
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
    Step(all_along, cell.windows()[static_cast<size_t>(w)], out);
  }
  const JobId id{0};
  const auto lane_of = [&](const LiveFleet& of, Resource r) -> const LiveLane& { return of.job(id).of(r); };
  const auto memory = [&](const LiveFleet& of) { return lane_of(of, Resource::kMemory).lane.recommended(); };
  const std::optional<double> kept = memory(fleet);
  ASSERT_TRUE(kept.has_value());
  ASSERT_TRUE(Set(fleet, id, "cpu.recommender", "ensemble", 0, out).ok());
  EXPECT_EQ(memory(fleet), kept);
  EXPECT_TRUE(lane_of(fleet, Resource::kCpu).needs_history);
  EXPECT_FALSE(lane_of(fleet, Resource::kMemory).needs_history);
  EXPECT_FALSE(lane_of(fleet, Resource::kCpu).lane.recommended().has_value());

  std::string saved;
  ByteWriter writer(&saved);
  fleet.checkpoint.SaveChunk(0, writer);
  LiveFleet again(settings);
  again.AddRestoredJob({id, "job-0", {}, 0});
  again.AddRestoredJob({JobId{1}, "job-1", {}, 0});
  again.restore.Redo({.id = 1,
                      .time_s = 0,
                      .who = "anna",
                      .job = "job-0",
                      .key = "cpu.recommender",
                      .value = "ensemble",
                      .before = {}});
  ByteReader reader(saved);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{3 * kWindowsPerDay}, reader).ok());
  EXPECT_EQ(memory(again), kept);
  EXPECT_TRUE(lane_of(again, Resource::kCpu).needs_history);
  EXPECT_FALSE(lane_of(again, Resource::kMemory).needs_history);

  std::vector<JobDay> history;
  for (int32_t d = 0; d < 3; ++d) history.push_back(DayOf(cell, d, 2)[0]);
  PutToSleep(WindowId{100 * kWindowsPerDay}, fleet);
  fleet.history.Retrain(id, std::span(history).first(3), {});
  EXPECT_TRUE(WantedOf(fleet).empty());
  EXPECT_EQ(memory(fleet), kept);
  EXPECT_EQ(lane_of(fleet, Resource::kCpu).lane.recommended(),
            lane_of(all_along, Resource::kCpu).lane.recommended());
  Step(fleet, cell.windows()[3 * kWindowsPerDay], out);
  EXPECT_TRUE(memory(fleet).has_value());
}

// Stored kills affect a new recommender as if it had observed the kills when they happened.
TEST(LiveFleet, AnotherRecommenderLivesThroughOomKills) {
  const Cell cell(2);
  for (const Policy policy : {Policy::kEnsemble, Policy::kPeak, Policy::kMovingWindow, Policy::kVpa}) {
    LiveFleet fleet(Settings(Policy::kStatic, Mode::kObserve));
    LiveFleet all_along(Settings(policy, Mode::kObserve));
    AddJobs(fleet, 2);
    AddJobs(all_along, 2);
    PassOutput out;
    std::vector<OomRecord> ooms;
    const int windows = 3 * kWindowsPerDay + 10;
    for (int w = 0; w < windows; ++w) {
      if (w == 300 || w == 577 || w == windows - 1) {
        ooms.push_back({JobId{0}, 0, WindowId{w}.start_s() + 100, 1, 200 * kMiB + w * kMiB});
        OomRecord oom = ooms.back();
        all_along.kills.TakeOom(oom, out);
      }
      Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
      Step(all_along, cell.windows()[static_cast<size_t>(w)], out);
    }
    ASSERT_TRUE(Set(fleet, JobId{0}, "recommender", Name(policy), 0, out).ok());
    std::vector<JobDay> history;
    for (int32_t d = 0; d < 3; ++d) history.push_back(DayOf(cell, d, 2)[0]);
    JobDay& today = history.emplace_back();
    for (int w = 3 * kWindowsPerDay; w < windows; ++w)
      AppendWindow(cell.windows()[static_cast<size_t>(w)], 0, today);
    fleet.history.Retrain(JobId{0}, history, ooms);
    for (const Resource r : kResources) {
      EXPECT_EQ(fleet.job(JobId{0}).of(r).lane.recommended(),
                all_along.job(JobId{0}).of(r).lane.recommended());
    }
    EXPECT_GT(fleet.job(JobId{0}).of(Resource::kMemory).lane.recommended(), ooms.back().limit);
  }
}

TEST(LiveFleet, DamagedCheckpointsNeverCrash) {
  const Cell cell(4);
  const LiveSettings settings = Settings(Policy::kAnalogs, Mode::kAuto);
  LiveFleet fleet(settings);
  AddJobs(fleet, 4);
  PassOutput out;
  for (int w = 0; w < 2000; ++w) Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  const std::string good = Chunk(fleet);
  Rng rng(5);
  for (int i = 0; i < 200; ++i) {
    std::string bad = good;
    for (int n = 0; n < 3; ++n) bad[rng.Below(bad.size())] = static_cast<char>(rng.Next());
    if (rng.Below(4) == 0) bad.resize(rng.Below(bad.size()));
    LiveFleet other(settings);
    AddJobs(other, 4);
    ByteReader in(bad);
    (void)other.checkpoint.LoadChunk(0, WindowId{0}, in);
    PassOutput ignored;
    Step(other, cell.windows()[2000], ignored);
  }
}

// If agents and a cluster report to one daemon, the platform that runs the job determines which limits are in
// force.
TEST(LiveFleet, LimitsAreInForceWhereAnActuatorSetsThem) {
  const auto enforced = [](Enforcement enforcement, Source source, bool managed) {
    LiveSettings settings;
    settings.enforcement = enforcement;
    FleetState state(settings);
    LiveJob job;
    job.record = std::make_shared<JobRecord>(JobId{0}, "job", JobRecord::Labels(), 0, WorkloadParts(source));
    job.managed = managed;
    return state.Enforced(job);
  };
  using enum Enforcement;
  EXPECT_FALSE(enforced(kNever, Source::kKubernetes, true));
  EXPECT_TRUE(enforced(kAlways, Source::kUnknown, false));
  EXPECT_TRUE(enforced(kByAgents, Source::kAgents, true));
  EXPECT_FALSE(enforced(kByAgents, Source::kKubernetes, false));
  EXPECT_TRUE(enforced(kInKubernetes, Source::kKubernetes, false));
  EXPECT_FALSE(enforced(kInKubernetes, Source::kAgents, true)) << "no actuator sets it";
  EXPECT_TRUE(enforced(kByAgentsAndInKubernetes, Source::kKubernetes, false));
  EXPECT_TRUE(enforced(kByAgentsAndInKubernetes, Source::kAgents, true));
  EXPECT_FALSE(enforced(kByAgentsAndInKubernetes, Source::kAgents, false));
}

TEST(LiveFleet, AJobIsSmall) {
  LiveFleet fleet(Settings(Policy::kStatic, Mode::kObserve));
  constexpr size_t kJobs = 1000;
  AddJobs(fleet, kJobs);
  EXPECT_LT(fleet.checkpoint.state_bytes() / kJobs, 700U);
  EXPECT_EQ(fleet.Find("job-777"), JobId{777});
  fleet.departures.Forget(JobId{777});
  EXPECT_EQ(fleet.Find("job-777"), std::nullopt);
  EXPECT_EQ(fleet.Find("job-778"), JobId{778});
}

}  // namespace
}  // namespace taut::brain
