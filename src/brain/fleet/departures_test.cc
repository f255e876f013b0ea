// Tests that sleeping jobs keep their state, and that checkpoints are readable without forgotten jobs.
#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr size_t kJobs = 3;

void StepSome(LiveFleet& fleet, const Cell& cell, int from, int to) {
  PassOutput out;
  for (int w = from; w < to; ++w) {
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
    out.Clear();
  }
}

TEST(Departures, AJobThatSleptDecidesAsIfItHadNot) {
  const Cell cell(kJobs);
  for (const Policy recommender :
       {Policy::kMovingWindow, Policy::kEnsemble, Policy::kVpa, Policy::kAnalogs}) {
    LiveFleet awake(Settings(recommender, Mode::kAuto)), sleeper(Settings(recommender, Mode::kAuto));
    for (LiveFleet* fleet : {&awake, &sleeper}) {
      AddJobs(*fleet, kJobs);
      StepSome(*fleet, cell, 0, 400);
    }
    const size_t before = sleeper.checkpoint.state_bytes();
    PutToSleep(WindowId{400 + 2 * kWindowsPerHour}, sleeper);
    ASSERT_TRUE(sleeper.job(JobId{1}).sleeps());
    EXPECT_LT(sleeper.checkpoint.state_bytes(), before);
    EXPECT_EQ(Chunk(sleeper), Chunk(awake));
    // The lists of wrapper steps are equal although the sleeping job's list was rebuilt after packing.
    EXPECT_EQ(sleeper.risk.Explain(JobId{1}, Resource::kCpu).why,
              awake.risk.Explain(JobId{1}, Resource::kCpu).why);
    EXPECT_TRUE(sleeper.job(JobId{1}).sleeps()) << "to look at it wakes nothing";
    StepSome(awake, cell, 400, 650);
    StepSome(sleeper, cell, 400, 650);
    EXPECT_FALSE(sleeper.job(JobId{1}).sleeps());
    EXPECT_EQ(Chunk(sleeper), Chunk(awake));
  }
}

void Restore(LiveFleet& fleet, const std::string& chunk, size_t jobs, WindowId through) {
  for (uint32_t j = 0; j < jobs; ++j) fleet.AddRestoredJob({JobId{j}, "job-" + std::to_string(j), {}, 0});
  ByteReader in(chunk);
  ASSERT_TRUE(fleet.checkpoint.LoadChunk(0, through, in).ok());
  fleet.checkpoint.MakeRecommenders();
}

TEST(Departures, RestoredJobsSleepUntilTheyAreStepped) {
  const Cell cell(kJobs);
  for (const Policy recommender : {Policy::kMovingWindow, Policy::kEnsemble, Policy::kVpa, Policy::kPeak}) {
    LiveFleet straight(Settings(recommender, Mode::kAuto)), again(Settings(recommender, Mode::kAuto));
    AddJobs(straight, kJobs);
    StepSome(straight, cell, 0, 400);
    // The fleet has a job that is not in the checkpoint.
    Restore(again, Chunk(straight), kJobs + 1, WindowId{399});
    EXPECT_FALSE(again.job(JobId{kJobs}).sleeps());
    for (uint32_t j = 0; j < kJobs; ++j) {
      ASSERT_TRUE(again.job(JobId{j}).sleeps());
      for (const Resource r : kResources) {
        EXPECT_EQ(again.job(JobId{j}).of(r).lane.recommended(),
                  straight.job(JobId{j}).of(r).lane.recommended());
      }
    }
    again.departures.Forget(JobId{kJobs});
    EXPECT_EQ(Chunk(again), Chunk(straight));
    StepSome(straight, cell, 400, 650);
    StepSome(again, cell, 400, 650);
    EXPECT_FALSE(again.job(JobId{0}).sleeps());
    EXPECT_EQ(Chunk(again), Chunk(straight));
  }
}

// A store of an earlier version has a setting under its old key. A later change of the setting, under the new key,
// replaces the stored value.
TEST(Departures, AStoredSettingWithAnOldKeyIsThatOfTheNewOne) {
  const Cell cell(kJobs);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, kJobs);
  SettingChange change;
  change.id = 1;
  change.job = "job-0";
  change.who = "anna";
  change.key = "replicas.hpa.down_window_s";
  change.value = "120";
  fleet.restore.Redo(change);
  EXPECT_EQ(fleet.job(JobId{0}).policy->replicas.hpa.down.stabilization_s, 120);
  ASSERT_EQ(fleet.job(JobId{0}).overrides.size(), 1U);
  EXPECT_EQ(fleet.job(JobId{0}).overrides[0].key, "replicas.hpa.down_window");
  PassOutput out;
  ASSERT_TRUE(Set(fleet, JobId{0}, "replicas.hpa.down_window", "", 0, out).ok());
  EXPECT_TRUE(fleet.job(JobId{0}).overrides.empty());
  const auto set = Set(fleet, JobId{0}, "replicas.hpa.down_window_s", "90", 0, out);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->key, "replicas.hpa.down_window");
  EXPECT_EQ(set->value, "90s");
}

// Returns a chunk in the format of version 1: the states of all jobs in order, without ids.
std::string ChunkOfTheFirstVersion(const LiveFleet& fleet) {
  const std::string now = Chunk(fleet);
  ByteReader in(now);
  (void)in.Get<uint8_t>();
  std::string then;
  ByteWriter out(&then);
  out.Put(uint8_t{1});
  const uint64_t count = in.GetVarint();
  out.PutVarint(count);
  for (uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(in.GetVarint(), 0U) << "jobs stand without gaps";
    out.PutString(in.GetString());
  }
  return then + now.substr(now.size() - in.remaining());
}

TEST(Departures, AChunkOfTheFirstVersionIsRead) {
  const Cell cell(kJobs);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto)),
      again(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, kJobs);
  StepSome(fleet, cell, 0, 400);
  Restore(again, ChunkOfTheFirstVersion(fleet), kJobs, WindowId{399});
  EXPECT_EQ(Chunk(again), Chunk(fleet));
}

// A new version of tautd may be unable to read the stored state of a recommender.
TEST(Departures, AStateThatCannotBeReadIsLearntAnewAndItsLimitStays) {
  const Cell cell(kJobs);
  LiveFleet before(Settings(Policy::kEnsemble, Mode::kAuto));
  AddJobs(before, kJobs);
  StepSome(before, cell, 0, 400);
  LiveSettings other = Settings(Policy::kEnsemble, Mode::kAuto);
  other.vertical.ensemble.half_lives_s.pop_back();
  LiveFleet after(other);
  Restore(after, Chunk(before), kJobs, WindowId{399});
  const std::optional<double> limit = before.job(JobId{1}).of(Resource::kCpu).gate.in_force;
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(after.job(JobId{1}).of(Resource::kCpu).gate.in_force, limit);
  PassOutput out;
  Step(after, cell.windows()[400], out);
  EXPECT_EQ(WantedOf(after).size(), kJobs);
  EXPECT_EQ(after.job(JobId{1}).of(Resource::kCpu).gate.in_force, limit);
}

TEST(Departures, AnOomKillOrASettingWakes) {
  const Cell cell(kJobs);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kObserve));
  AddJobs(fleet, kJobs);
  StepSome(fleet, cell, 0, 400);
  PutToSleep(WindowId{500}, fleet);
  PassOutput out;
  OomRecord oom{JobId{0}, 0, WindowId{400}.start_s() + 5, 1, 1e9};
  fleet.kills.TakeOom(oom, out);
  EXPECT_FALSE(fleet.job(JobId{0}).sleeps());
  ASSERT_TRUE(Set(fleet, JobId{1}, "recommender", "peak", WindowId{400}.start_s(), out).ok());
  EXPECT_FALSE(fleet.job(JobId{1}).sleeps());
  EXPECT_TRUE(fleet.job(JobId{2}).sleeps());
}

TEST(Departures, CheckpointsGoOnWithoutJobsThatAreForgotten) {
  const Cell cell(kJobs);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, kJobs);
  StepSome(fleet, cell, 0, 400);
  const std::string with_all = Chunk(fleet);
  fleet.checkpoint.MarkSaved(0);
  EXPECT_FALSE(fleet.checkpoint.ChangedSince(0).has_value());
  fleet.departures.Forget(JobId{1});
  EXPECT_EQ(fleet.checkpoint.ChangedSince(0), WindowId{399});
  EXPECT_EQ(fleet.Find("job-1"), std::nullopt);
  for (const std::string& bytes : {with_all, Chunk(fleet)}) {
    LiveFleet again(Settings(Policy::kMovingWindow, Mode::kAuto));
    for (const uint32_t j : {0U, 2U}) again.AddJob({JobId{j}, "job-" + std::to_string(j), {}, 0});
    ByteReader in(bytes);
    ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{399}, in).ok());
    EXPECT_EQ(Chunk(again), Chunk(fleet));
    EXPECT_TRUE(WantedOf(again).empty());
  }
}

// A job that is older than the checkpoint but is missing in it had been forgotten and was added again later.
TEST(Departures, AJobThatReturnedAfterTheCheckpointWantsItsHistory) {
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  fleet.AddJob({JobId{0}, "job-0", {}, 0});
  const std::string saved = Chunk(fleet);
  LiveFleet again(Settings(Policy::kMovingWindow, Mode::kAuto));
  again.AddJob({JobId{0}, "job-0", {}, 0});
  again.AddJob({JobId{1}, "returned", {}, WindowId{10}.start_s()});
  again.AddJob({JobId{2}, "new", {}, WindowId{400}.start_s()});
  ByteReader in(saved);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{399}, in).ok());
  EXPECT_THAT(WantedOf(again), testing::ElementsAre(JobId{1}));
}

TEST(Departures, AJobIsDueAfterAsLongAsItWasKnown) {
  const Cell cell(kJobs);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, kJobs);
  fleet.AddJob({JobId{7}, "never-measured", {}, 0});
  StepSome(fleet, cell, 0, 3 * kWindowsPerDay);
  const auto due = [&](double day, int32_t most) {
    return fleet.departures.DueToForget(WindowId{static_cast<int32_t>(day * kWindowsPerDay)}, most, 99)
        .size();
  };
  EXPECT_EQ(due(0.08, 30), 0U);
  EXPECT_EQ(due(0.1, 30), 1U) << "never measured: two hours";
  EXPECT_EQ(due(5.9, 30), 1U);
  EXPECT_EQ(due(6.1, 30), 4U) << "known for three days: three days";
  EXPECT_EQ(due(5.1, 2), 4U) << "but no longer than the setting says";
}

}  // namespace
}  // namespace taut::brain
