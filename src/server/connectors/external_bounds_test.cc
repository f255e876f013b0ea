#include "server/connectors/external_bounds.h"

#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

// Returns a job whose tasks use half a core and 2 GiB, with owner's limits of 1 core and 3 GiB.
ExternalJob Web() {
  ExternalJob job;
  job.name = "web";
  job.tasks = {{0, 0.3F, 0.4F, float(kGiB), float(1.5 * kGiB)},
               {1, 0.5F, 0.75F, float(1.8 * kGiB), float(2 * kGiB)}};
  job.signals[0].owner_limit = 1;
  job.signals[1].owner_limit = 3 * kGiB;
  return job;
}
ExternalRefusal KindOf(Resource r, double value, const ExternalJob& job = Web(),
                       const ExternalBounds& bounds = {}) {
  return CheckExternalLimit(r, value, job, bounds).kind;
}
bool IsTaken(Resource r, double value, const ExternalJob& job = Web(), const ExternalBounds& bounds = {}) {
  return CheckExternalLimit(r, value, job, bounds).text.empty();
}

TEST(ExternalBounds, ALimitIsNotBelowWhatTasksUse) {
  EXPECT_EQ(KindOf(Resource::kCpu, 5e-324), ExternalRefusal::kBelowUsage);
  EXPECT_FALSE(IsTaken(Resource::kCpu, 0.4));
  EXPECT_TRUE(IsTaken(Resource::kCpu, 0.5)) << "the mean of the busiest";
  EXPECT_EQ(KindOf(Resource::kMemory, 1.9 * kGiB), ExternalRefusal::kBelowUsage);
  EXPECT_TRUE(IsTaken(Resource::kMemory, 2 * kGiB));
  ExternalJob throttled = Web();
  throttled.signals[0].limit_in_force = 0.45;
  EXPECT_TRUE(IsTaken(Resource::kCpu, 0.45, throttled)) << "what is in force may stay";
  EXPECT_THAT(CheckExternalLimit(Resource::kCpu, 5e-324, Web(), {}).text,
              HasSubstr("below the usage of a task"));
}

TEST(ExternalBounds, ALimitIsNotFarAboveUsageOwnerOrMachine) {
  EXPECT_FALSE(IsTaken(Resource::kMemory, 3 * kTiB)) << "for a job of 2 GiB";
  EXPECT_EQ(KindOf(Resource::kMemory, 31 * kGiB), ExternalRefusal::kAboveOwner);
  EXPECT_TRUE(IsTaken(Resource::kMemory, 30 * kGiB));
  const ExternalBounds machine{.max_step = 10, .machine = {16, 8 * kGiB}};
  EXPECT_EQ(KindOf(Resource::kMemory, 9 * kGiB, Web(), machine), ExternalRefusal::kAboveMachine);
  ExternalJob raised = Web();
  raised.signals[1].limit_in_force = 30 * kGiB;
  EXPECT_EQ(KindOf(Resource::kMemory, 100 * kGiB, raised), ExternalRefusal::kAboveOwner)
      << "no step after step";
  ExternalJob free = Web();
  free.signals[1].owner_limit.reset();
  EXPECT_EQ(KindOf(Resource::kMemory, 21 * kGiB, free), ExternalRefusal::kStep);
  EXPECT_TRUE(IsTaken(Resource::kMemory, 20 * kGiB, free));
  free.signals[1].limit_in_force = 20 * kGiB;
  EXPECT_TRUE(IsTaken(Resource::kMemory, 20 * kGiB, free)) << "what is in force may stay";
  EXPECT_EQ(KindOf(Resource::kMemory, 80 * kGiB, free), ExternalRefusal::kStep)
      << "no step after step, also without an owner's limit";
  ExternalJob idle;
  EXPECT_TRUE(IsTaken(Resource::kCpu, 1, idle));
  EXPECT_FALSE(IsTaken(Resource::kCpu, 1.5, idle));
}

TEST(ExternalBounds, AbsurdAnswersOfASmallJobAreRefused) {
  ExternalJob job;
  job.tasks = {{0, 0.039F, 0.04F, float(1.7 * kGiB), float(1.79 * kGiB)}};
  for (const bool has_owner : {false, true}) {
    if (has_owner) job.signals[0].owner_limit = 0.04, job.signals[1].owner_limit = 2 * kGiB;
    EXPECT_NE(CheckExternalLimit(Resource::kCpu, 900, job, {}).text, "");
    EXPECT_NE(CheckExternalLimit(Resource::kMemory, 3 * kTiB, job, {}).text, "");
    EXPECT_EQ(KindOf(Resource::kMemory, 1, job), ExternalRefusal::kBelowUsage);
    EXPECT_EQ(KindOf(Resource::kCpu, 1e-9, job), ExternalRefusal::kBelowUsage);
  }
}

TEST(ExternalBounds, TasksGrowByAStep) {
  ExternalJob job;
  EXPECT_EQ(CheckExternalTasks(1'000'000, job, {}).text, "") << "its number is not set";
  job.replicas =
      ExternalReplicas{.running = 20, .in_force = 30, .recommended = {}, .load = {}, .task_capacity = {}};
  EXPECT_EQ(CheckExternalTasks(300, job, {}).text, "");
  EXPECT_EQ(CheckExternalTasks(301, job, {}).kind, ExternalRefusal::kStep);
  EXPECT_NE(CheckExternalTasks(301, job, {}).text, "");
  job.replicas->in_force = 0;
  job.replicas->running = 1;
  EXPECT_EQ(CheckExternalTasks(101, job, {}).text, "");
  EXPECT_NE(CheckExternalTasks(102, job, {}).text, "");
}

}  // namespace
}  // namespace taut::server
