// Tests of agents' reports about tasks, and of outcomes that actuators report.
#include <string>
#include <utility>
#include <vector>

#include "brain/fleet/live_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a window of a job with two tasks, which use 1 core and 1 GiB each, and the given reports of agents.
ClosedWindow Reported(int32_t index, std::vector<TaskReport> reports,
                      std::vector<TaskThrottling> throttling = {}) {
  ClosedWindow closed = TwoTasks(index, 4, static_cast<float>(8 * kGiB));
  closed.reports = std::move(reports);
  closed.throttling = std::move(throttling);
  JobWindowData& data = closed.jobs[0];
  data.num_reports = static_cast<uint32_t>(closed.reports.size());
  data.num_throttling = static_cast<uint32_t>(closed.throttling.size());
  return closed;
}

TaskReport Report(uint32_t task, float cores, float bytes, bool managed = false) {
  TaskReport r;
  r.task = task;
  r.managed = managed;
  r.cpu_limit_cores = cores;
  r.memory_limit_bytes = bytes;
  return r;
}

TEST(LiveTrials, TheAppliedLimitIsTheMeanOfThoseThatAreKnown) {
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, 1);
  PassOutput out;
  const LiveJob& job = fleet.job(JobId{0});
  const auto applied = [&](Resource r) { return job.of(r).applied; };
  Step(fleet, Reported(0, {Report(0, 2, 100, true), Report(1, 4, kAbsent)}), out);
  EXPECT_EQ(applied(Resource::kCpu), 3);
  EXPECT_EQ(applied(Resource::kMemory), 100);
  EXPECT_TRUE(job.managed);
  Step(fleet, Reported(1, {Report(0, 0, kAbsent), Report(1, 1, kAbsent)}), out);
  EXPECT_EQ(applied(Resource::kCpu), 0.5F);
  EXPECT_EQ(applied(Resource::kMemory), 100) << "no task reports one: as it was";
  EXPECT_FALSE(job.managed);
  Step(fleet, Reported(2, {Report(0, kNoLimit, 50)}), out);
  EXPECT_EQ(applied(Resource::kCpu), kNoLimit);
  EXPECT_EQ(applied(Resource::kMemory), 50);
  Step(fleet, Reported(3, {}), out);
  EXPECT_EQ(applied(Resource::kCpu), kAbsent) << "no agent is there";
  EXPECT_EQ(applied(Resource::kMemory), kAbsent);
}

TEST(LiveTrials, ThrottledPeriodsFadeWithAHalfLifeOfADay) {
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kObserve));
  AddJobs(fleet, 1);
  PassOutput out;
  const LiveJob& job = fleet.job(JobId{0});
  EXPECT_EQ(job.throttled_share(), std::nullopt);
  TaskReport report = Report(0, 2, kAbsent);
  report.cpu_periods = 3000;
  report.cpu_throttled_periods = 600;
  Step(fleet, Reported(0, {report}, {{1, 1000, 200}}), out);
  EXPECT_NEAR(job.periods, 4000, 0.01);
  EXPECT_NEAR(*job.throttled_share(), 0.2, 1e-6);
  for (int32_t w = 1; w <= kWindowsPerDay; ++w) Step(fleet, Reported(w, {Report(0, 2, kAbsent)}), out);
  EXPECT_NEAR(job.periods, 2000, 1);
  EXPECT_NEAR(*job.throttled_share(), 0.2, 1e-4) << "no periods: nothing new is known";
  Step(fleet, Reported(kWindowsPerDay + 1, {}, {{1, 2000, 0}}), out);
  EXPECT_NEAR(*job.throttled_share(), 0.1, 1e-3);
}

OutcomeUpdate Minimum(Target target, double minimum, std::string job = "job-0") {
  OutcomeUpdate update;
  update.outcome = Outcome::kFailed;
  update.minimum = minimum;
  update.job = std::move(job);
  update.target = target;
  return update;
}

// If an agent reports that a limit is impossible, and a kernel could have rejected the limit, the limit becomes
// a lower bound.
TEST(LiveTrials, ARefusedLimitIsTheFloorFromThenOn) {
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kAuto));
  AddJobs(fleet, 2);
  const auto floor = [&](Resource r) { return fleet.job(JobId{0}).of(r).gate.floor; };
  fleet.orders.TakeOutcome(Minimum(Resource::kCpu, 0.5));
  EXPECT_EQ(floor(Resource::kCpu), 0.5);
  EXPECT_EQ(floor(Resource::kMemory), 0);
  fleet.orders.TakeOutcome(Minimum(Resource::kCpu, 0.25));
  EXPECT_EQ(floor(Resource::kCpu), 0.5) << "it never falls";
  fleet.orders.TakeOutcome(Minimum(Resource::kCpu, 1.01));
  EXPECT_EQ(floor(Resource::kCpu), 0.5) << "no kernel refuses a core";
  fleet.orders.TakeOutcome(Minimum(Resource::kCpu, 1));
  EXPECT_EQ(floor(Resource::kCpu), 1);
  fleet.orders.TakeOutcome(Minimum(Resource::kMemory, kGiB + 1));
  EXPECT_EQ(floor(Resource::kMemory), 0);
  fleet.orders.TakeOutcome(Minimum(Resource::kMemory, kGiB));
  EXPECT_EQ(floor(Resource::kMemory), kGiB);
  fleet.orders.TakeOutcome(Minimum(Target::Replicas(), 1));
  fleet.orders.TakeOutcome(Minimum(Resource::kCpu, 0.75, "nobody"));
  OutcomeUpdate nothing = Minimum(Resource::kCpu, 1);
  nothing.minimum.reset();
  nothing.job = "job-1";
  fleet.orders.TakeOutcome(nothing);
  EXPECT_EQ(fleet.job(JobId{1}).of(Resource::kCpu).gate.floor, 0);
}

TEST(LiveTrials, ATrialIsListedWhileItRuns) {
  const Cell cell(3);
  LiveFleet fleet(Settings(Policy::kMovingWindow, Mode::kCanary));
  AddJobs(fleet, 3);
  PassOutput out;
  int w = 0;
  for (; w < 3 * kWindowsPerDay && fleet.trials.Running().empty(); ++w)
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  ASSERT_THAT(fleet.trials.Running(), ElementsAre(JobId{1}, JobId{2}))
      << "job 0 has one task: it is only watched";
  const auto trial_of = [&](uint32_t id) -> const Boxed<Trial>& {
    const LiveJob& job = fleet.job(JobId{id});
    return job.of(job.of(Resource::kMemory).gate.trial.has_value() ? Resource::kMemory : Resource::kCpu)
        .gate.trial;
  };
  ASSERT_TRUE(trial_of(1).has_value());
  EXPECT_FALSE(trial_of(1)->members.empty());
  const uint32_t member = trial_of(1)->members.front().number;
  ASSERT_NE(member, TrialTask::kGone);
  ASSERT_TRUE(Set(fleet, JobId{1}, "min_change", "1%", WindowId{w}.start_s(), out).ok());
  ASSERT_TRUE(trial_of(1).has_value());
  EXPECT_EQ(trial_of(1)->members.front().number, member) << "a setting keeps the tasks on trial";
  // After a restart, running trials are listed again, but not trials that are only watched.
  LiveFleet again(Settings(Policy::kMovingWindow, Mode::kCanary));
  AddJobs(again, 3);
  const std::string chunk = Chunk(fleet);
  ByteReader in(chunk);
  ASSERT_TRUE(again.checkpoint.LoadChunk(0, WindowId{w - 1}, in).ok());
  EXPECT_THAT(again.trials.Running(), ElementsAre(JobId{1}, JobId{2}));
  OutcomeUpdate applied;
  applied.id = trial_of(1)->decision;
  fleet.orders.TakeOutcome(applied);
  EXPECT_TRUE(trial_of(1)->delivered);
  EXPECT_FALSE(trial_of(2)->delivered) << "of another order";
  fleet.trials.SetTasks(JobId{9}, Resource::kCpu, {});
  fleet.departures.Forget(JobId{2});
  EXPECT_THAT(fleet.trials.Running(), ElementsAre(JobId{1}));
  ASSERT_TRUE(Set(fleet, JobId{1}, "mode", "observe", WindowId{w}.start_s(), out).ok());
  EXPECT_THAT(fleet.trials.Running(), IsEmpty());
}

// Only CPU has a trial, and the memory lane must not hide the trial.
TEST(LiveTrials, ATrialOfOneResourceIsListed) {
  const Cell cell(2);
  PolicyPair recommenders(Policy::kMovingWindow);
  recommenders.memory = Policy::kStatic;
  LiveFleet fleet(Settings(recommenders, Mode::kCanary));
  AddJobs(fleet, 2);
  PassOutput out;
  for (int w = 0; w < 3 * kWindowsPerDay && fleet.trials.Running().empty(); ++w)
    Step(fleet, cell.windows()[static_cast<size_t>(w)], out);
  EXPECT_THAT(fleet.trials.Running(), ElementsAre(JobId{1}));
  EXPECT_FALSE(fleet.job(JobId{1}).of(Resource::kMemory).gate.trial.has_value());
}

}  // namespace
}  // namespace taut::brain
