// Tests of a job's state outside its lanes: kills by day, and the owner's amounts when a series reports orders.
#include "brain/fleet/live_job.h"

#include <memory>
#include <string>

#include "brain/fleet/live_fixture.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

TEST(LiveJob, CountsTheKillsOfSevenDays) {
  LiveJobState job;
  EXPECT_EQ(job.OomsOfWeek(5), 0U);
  job.CountOoms(10, 2);
  job.CountOoms(12, 3);
  job.CountOoms(16, 1);
  EXPECT_EQ(job.OomsOfWeek(16), 6U);
  EXPECT_EQ(job.OomsOfWeek(17), 4U) << "without day 10";
  EXPECT_EQ(job.OomsOfWeek(18), 4U);
  EXPECT_EQ(job.OomsOfWeek(19), 1U);
  EXPECT_EQ(job.OomsOfWeek(22), 1U);
  EXPECT_EQ(job.OomsOfWeek(23), 0U);
  job.CountOoms(14, 5);
  EXPECT_EQ(job.OomsOfWeek(16), 11U) << "late, and counted on its day";
  EXPECT_EQ(job.OomsOfWeek(10), 11U) << "a clock that was set back";
  job.CountOoms(17, 1);
  EXPECT_EQ(job.OomsOfWeek(17), 10U) << "day 17 takes the place of day 10";
  job.CountOoms(23, 4);
  EXPECT_EQ(job.OomsOfWeek(23), 5U);
  job.CountOoms(30, 7);
  EXPECT_EQ(job.OomsOfWeek(30), 7U);
}

// A kill reported a week late must not count as a kill of the current day, although both days use the same array
// element.
TEST(LiveJob, KillsOfAWeekAgoAreNoMoreCounted) {
  LiveJobState job;
  job.CountOoms(24, 1);
  job.CountOoms(17, 9);
  job.CountOoms(3, 9);
  EXPECT_EQ(job.OomsOfWeek(24), 1U);
  job.CountOoms(18, 2);
  EXPECT_EQ(job.OomsOfWeek(24), 3U) << "six days ago";
}

TEST(LiveJob, CountsBeforeTheEpochAndUpToTheMost) {
  LiveJobState job;
  job.CountOoms(-3, 1);
  job.CountOoms(2, 1);
  EXPECT_EQ(job.OomsOfWeek(2), 2U);
  EXPECT_EQ(job.OomsOfWeek(4), 1U);
  job.CountOoms(2, uint64_t{1} << 40);
  EXPECT_EQ(job.OomsOfWeek(4), 65'535U);
}

TEST(LiveJob, AnAmountIsOrderedIfItIsTheOrderTheOneBeforeOrATrials) {
  LiveLane lane;
  EXPECT_FALSE(lane.IsOrdered(Resource::kCpu, 2));
  lane.gate.in_force = 2;
  EXPECT_TRUE(lane.IsOrdered(Resource::kCpu, 2));
  EXPECT_FALSE(lane.IsOrdered(Resource::kCpu, 3));
  lane.NoteOrder(2);
  EXPECT_LT(lane.ordered_before, 0) << "nothing has changed";
  lane.gate.in_force = 3;
  lane.NoteOrder(2);
  EXPECT_TRUE(lane.IsOrdered(Resource::kCpu, 2)) << "tasks may still be there";
  EXPECT_TRUE(lane.IsOrdered(Resource::kCpu, 3));
  lane.ordered_before = 0;
  EXPECT_TRUE(lane.IsOrdered(Resource::kMemory, 0)) << "an order of nothing is one";
  lane.gate.in_force.reset();
  lane.ordered_before = kAbsent;
  EXPECT_FALSE(lane.IsOrdered(Resource::kCpu, 3));
  lane.gate.trial.emplace();
  lane.gate.trial->limit = 4;
  EXPECT_TRUE(lane.IsOrdered(Resource::kCpu, 4));
  EXPECT_FALSE(lane.IsOrdered(Resource::kCpu, 3));
}

TEST(LiveJob, TheLimitThatTasksRunAt) {
  LiveLane lane;
  EXPECT_EQ(lane.real_limit(), std::nullopt);
  lane.owner_limit = 8;
  EXPECT_EQ(lane.real_limit(), 8);
  lane.gate.in_force = 2;
  EXPECT_EQ(lane.real_limit(), 2);
  lane.applied = 0;
  EXPECT_EQ(lane.real_limit(), 0) << "an agent reports it";
  EXPECT_EQ(lane.reported(), 0);
  lane.applied = kNoLimit;
  EXPECT_EQ(lane.real_limit(), 8) << "it reports that there is none";
  EXPECT_EQ(lane.reported(), std::nullopt);
}

// An awake job of a fleet with moving-window recommenders.
class LoneJob {
 public:
  LoneJob() : fleet_(Settings(Policy::kMovingWindow, Mode::kAuto)), models_(fleet_.settings.vertical) {
    AddJobs(fleet_, 1);
    job_.record = fleet_.job(JobId{0}).record;
    job_.policy = fleet_.job(JobId{0}).policy;
    const JobInfo info{.name = job_.record->name,
                       .logical_name = job_.record->name,
                       .sensitivity = Sensitivity::kUnknown,
                       .priority = {}};
    for (const Resource r : kResources)
      job_.of(r).lane =
          Lane(NewRecommender(Policy::kMovingWindow, r, info, fleet_.settings.vertical, models_));
  }
  LiveJob& operator*() { return job_; }
  LiveJob* operator->() { return &job_; }

 private:
  LiveFleet fleet_;
  FleetModels models_;
  LiveJob job_;
};

// Saves `from` and loads the bytes into `to`, as in a restart.
void Carry(const LiveJob& from, LiveJob& to) {
  std::string bytes;
  ByteWriter out(&bytes);
  SaveLiveJob(from, out);
  ByteReader in(bytes);
  const absl::Status loaded = LoadLiveJob(in, to);
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(in.remaining(), 0U);
}

TEST(LiveJob, WhichLanesNeedHistoryIsSaved) {
  for (const bool cpu : {false, true}) {
    for (const bool memory : {false, true}) {
      LoneJob job;
      LoneJob read;
      job->of(Resource::kCpu).needs_history = cpu;
      job->of(Resource::kMemory).needs_history = memory;
      Carry(*job, *read);
      EXPECT_EQ(read->of(Resource::kCpu).needs_history, cpu);
      EXPECT_EQ(read->of(Resource::kMemory).needs_history, memory);
    }
  }
}

// A lane loads a saved state only if its configuration equals the configuration of the lane that saved the state.
TEST(LiveJob, ALaneThatIsMadeOtherwiseNeedsHistory) {
  const auto with = [](bool external, Policy cpu, Policy memory) {
    auto policy = std::make_shared<JobPolicy>();
    policy->external = external;
    policy->cpu_recommender = cpu;
    policy->memory_recommender = memory;
    return policy;
  };
  constexpr Policy kSame = Policy::kMovingWindow, kOther = Policy::kPeak;
  struct Case {
    std::shared_ptr<JobPolicy> before, after;
    bool cpu, memory;  // true: the lane has needs_history
  };
  for (const Case& c : {Case{with(false, kSame, kSame), with(false, kSame, kSame), false, false},
                        Case{with(true, kSame, kSame), with(true, kSame, kSame), false, false},
                        Case{with(false, kSame, kSame), with(true, kSame, kSame), true, true},
                        Case{with(true, kSame, kSame), with(false, kSame, kSame), true, true},
                        Case{with(false, kOther, kSame), with(false, kSame, kSame), true, false},
                        Case{with(true, kSame, kOther), with(true, kSame, kSame), false, true},
                        Case{with(true, kSame, kOther), with(true, kSame, kOther), false, false}}) {
    LoneJob job;
    LoneJob read;
    job->policy = c.before;
    read->policy = c.after;
    Carry(*job, *read);
    EXPECT_EQ(read->of(Resource::kCpu).needs_history, c.cpu);
    EXPECT_EQ(read->of(Resource::kMemory).needs_history, c.memory);
  }
}

// Data that a later version appends after the lanes is ignored, and the lanes are loaded.
TEST(LiveJob, WhatALaterVersionAddsIsLeftOut) {
  LoneJob job;
  LoneJob read;
  job->managed = true;
  job->CountOoms(12, 3);
  std::string bytes;
  ByteWriter out(&bytes);
  SaveLiveJob(*job, out);
  constexpr size_t kAdded = 1 + 2 * 4 + 1 + 2 * 4;  // version, applied limits, `managed`, periods
  ASSERT_EQ(bytes[bytes.size() - kAdded], 1);
  bytes[bytes.size() - kAdded] = 9;
  ByteReader in(bytes);
  ASSERT_TRUE(LoadLiveJob(in, *read).ok());
  EXPECT_FALSE(read->managed);
  EXPECT_EQ(read->OomsOfWeek(12), 3U);
}

TEST(LiveJob, WhatIsKnownOfOwnersAndOrdersIsSaved) {
  LoneJob job;
  LoneJob read;
  job->managed = true;
  job->periods = 100;
  job->throttled = 25;
  job->seen_today = job->over_today = true;
  job->CountOoms(12, 3);
  job->of(Resource::kCpu).applied = 1.5F;
  job->of(Resource::kMemory).owner_limit = 7;
  job->of(Resource::kMemory).owner_before = 9;
  job->of(Resource::kMemory).ordered_before = 0;
  Carry(*job, *read);
  EXPECT_TRUE(read->managed);
  EXPECT_TRUE(read->seen_today);
  EXPECT_TRUE(read->over_today);
  EXPECT_EQ(read->throttled_share(), 0.25);
  EXPECT_EQ(read->OomsOfWeek(12), 3U);
  EXPECT_EQ(read->of(Resource::kCpu).applied, 1.5F);
  EXPECT_LT(read->of(Resource::kMemory).applied, 0);
  EXPECT_EQ(read->of(Resource::kMemory).owner_before, 9);
  EXPECT_EQ(read->of(Resource::kMemory).ordered_before, 0) << "an order of nothing is one";
  // If a state has only a job's last window, the owner's amount of this window is used.
  LoneJob plain;
  LoneJob plain_read;
  plain->of(Resource::kCpu).owner_limit = plain->of(Resource::kCpu).owner_before = 3;
  Carry(*plain, *plain_read);
  EXPECT_EQ(plain_read->of(Resource::kCpu).owner_before, 3);
  EXPECT_LT(plain_read->of(Resource::kCpu).ordered_before, 0);
  EXPECT_EQ(plain_read->starts, nullptr);
}

TEST(LiveJob, WhatIsKnownOfStartsIsSaved) {
  LoneJob job;
  LoneJob read;
  job->starts = std::make_unique<JobStarts>();
  for (const double cores : {1.0, 2.0, 3.0, 2.0}) job->starts->NoteGiven(cores);
  EXPECT_EQ(job->starts->given[0], 2);
  EXPECT_EQ(job->starts->given[1], 3);
  EXPECT_EQ(job->starts->given[2], 1);
  EXPECT_LT(job->starts->given[3], 0) << "each once";
  job->of(Resource::kCpu).owner_before = 5;
  Carry(*job, *read);
  ASSERT_NE(read->starts, nullptr);
  EXPECT_EQ(read->starts->given, job->starts->given);
  EXPECT_EQ(read->of(Resource::kCpu).owner_before, 5);
  for (int i = 0; i < 20; ++i) job->starts->NoteGiven(10 + i);
  EXPECT_EQ(job->starts->given.front(), 29);
  EXPECT_EQ(job->starts->given.back(), 22) << "the oldest goes";
}

// Kernel peaks are saved both with and without starts. The format of starts is older than the format of peaks.
TEST(LiveJob, WhatKernelsKeepIsSaved) {
  for (const bool starts : {false, true}) {
    LoneJob job;
    LoneJob read;
    if (starts) {
      job->starts = std::make_unique<JobStarts>();
      job->starts->NoteGiven(2);
    }
    job->Memory().kernel_peaks.Note(12, 5e7);
    job->of(Resource::kMemory).owner_before = 9;
    Carry(*job, *read);
    ASSERT_NE(read->memory, nullptr);
    EXPECT_EQ(read->memory->kernel_peaks.Highest(12), 5e7);
    EXPECT_EQ(read->of(Resource::kMemory).owner_before, 9);
    EXPECT_EQ(read->starts != nullptr, starts);
  }
}

TEST(LiveJob, TheLastKillAndThePeaksThatStandAreSaved) {
  for (const bool peaks : {false, true}) {
    LoneJob job;
    LoneJob read;
    job->NoteOom({JobId{0}, 0, 500, 1, 1e9, {}, {}, 12});
    job->NoteOom({JobId{0}, 0, 300, 1, 1e9, {}, {}, 14});
    const std::vector<float> standing = {3e7F, 5e7F};
    if (peaks) job->Memory().standing_peaks.Set(standing);
    Carry(*job, *read);
    EXPECT_EQ(read->last_oom_s, 500);
    EXPECT_EQ(read->last_oom(), 14U);
    if (!peaks) continue;
    LoneJob again;  // this job also checks that unmatched peaks are kept
    Carry(*read, *again);
    EXPECT_TRUE(again->memory->standing_peaks.Meet(5e7F));
    EXPECT_FALSE(again->memory->standing_peaks.Meet(5e7F)) << "of one task";
    EXPECT_FALSE(again->memory->standing_peaks.Meet(4e7F));
  }
}

// The state has the format of version 4.
TEST(LiveJob, AStateWithPeaksAndWithoutKillsIsRead) {
  if (kResources.size() > kFirstResources) GTEST_SKIP() << "version 4 had no lanes of other resources";
  LoneJob job;
  LoneJob read;
  job->of(Resource::kMemory).owner_before = 9;
  std::string bytes;
  ByteWriter out(&bytes);
  SaveLiveJob(*job, out);
  // The last 16 bytes are owner_before and ordered_before of two lanes.
  constexpr size_t kAdded = 1 + 2 * 4 + 1 + 2 * 4 + 4 * 4;
  ASSERT_EQ(bytes[bytes.size() - kAdded], 2);
  bytes[bytes.size() - kAdded] = 4;
  out.Put(uint8_t{0});  // there are no starts
  RecentPeaks peaks;
  peaks.Note(12, 5e7);
  peaks.Save(out);
  ByteReader in(bytes);
  ASSERT_TRUE(LoadLiveJob(in, *read).ok());
  EXPECT_EQ(in.remaining(), 0U);
  ASSERT_NE(read->memory, nullptr);
  EXPECT_EQ(read->memory->kernel_peaks.Highest(12), 5e7);
  EXPECT_EQ(read->of(Resource::kMemory).owner_before, 9);
  EXPECT_EQ(read->last_oom(), 0U);
}

// Requests are saved both with and without starts and peaks, whose formats are older.
TEST(LiveJob, TheOwnersRequestsAreSaved) {
  for (const bool starts : {false, true}) {
    for (const bool peaks : {false, true}) {
      LoneJob job;
      LoneJob read;
      if (starts) {
        job->starts = std::make_unique<JobStarts>();
        job->starts->NoteGiven(2);
      }
      if (peaks) job->Memory().kernel_peaks.Note(12, 5e7);
      job->of(Resource::kMemory).owner_before = 9;
      Carry(*job, *read);
      EXPECT_LT(read->of(Resource::kCpu).owner_request, 0) << "as an earlier version has it";
      job->of(Resource::kCpu).owner_request = 0.5F;
      Carry(*job, *read);
      EXPECT_EQ(read->of(Resource::kCpu).owner_request, 0.5F);
      EXPECT_LT(read->of(Resource::kMemory).owner_request, 0);
      EXPECT_EQ(read->of(Resource::kMemory).owner_before, 9);
      EXPECT_EQ(read->starts != nullptr, starts);
      EXPECT_EQ(read->memory != nullptr, peaks);
    }
  }
}

}  // namespace
}  // namespace taut::brain
