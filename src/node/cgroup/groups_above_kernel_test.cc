// Tests on the real kernel: limits of the groups above a task, and the limit that caused a kill. Also tests
// processes of a group, their oom_score_adj, and memory that passes a threshold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include "common/base/byte_units.h"
#include "node/cgroup/cgroup_fixture.h"
#include "node/cgroup/memory_sources.h"
#include "node/cgroup/process_files.h"

namespace taut::node {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::Optional;

std::unique_ptr<TaskGroup> OpenBelow(const CgroupFixture& fixture, const std::string& name) {
  absl::StatusOr<std::unique_ptr<TaskGroup>> group =
      OpenCgroup(fixture.mounts(), fixture.path() + "/" + name);
  EXPECT_TRUE(group.ok()) << Message(group.status());
  return group.ok() ? *std::move(group) : nullptr;
}

// Returns the group `path` if it has a limit.
std::optional<GroupAbove> Of(const std::vector<GroupAbove>& above, const std::string& path) {
  for (const GroupAbove& group : above) {
    if (group.path == path) return group;
  }
  return std::nullopt;
}

void MakeTask(const CgroupFixture& fixture) {
  if (fixture.is_v2()) fixture.WriteFile("cgroup.subtree_control", "+memory +cpu");
  fixture.MakeBelow("task");
}

void LimitMemory(const CgroupFixture& fixture, double bytes) {
  const std::string text = StrCat(static_cast<uint64_t>(bytes));
  fixture.WriteFile(fixture.is_v2() ? "memory.max" : "memory.limit_in_bytes", text);
  if (fixture.is_v2()) fixture.WriteFile("memory.swap.max", "0");
}

TEST(KernelGroupsAbove, TheLimitsOfEachLevelAreRead) {
  TAUT_NEEDS_CGROUPS();
  const CgroupFixture fixture("above");
  MakeTask(fixture);
  const std::unique_ptr<TaskGroup> task = OpenBelow(fixture, "task");
  EXPECT_FALSE(Of(task->ReadAbove(), fixture.path()).has_value()) << "no limit yet";
  LimitMemory(fixture, 64 * kMiB);
  fixture.WriteFile(fixture.is_v2() ? "cpu.max" : "cpu.cfs_quota_us", "50000");
  const std::optional<GroupAbove> above = Of(task->ReadAbove(), fixture.path());
  ASSERT_TRUE(above.has_value());
  EXPECT_EQ(above->memory_max_bytes, 64 * kMiB);
  EXPECT_EQ(above->cpu_max_cores, 0.5);
  EXPECT_TRUE(above->limit_ooms.has_value());
  const absl::StatusOr<TaskLimits> own = task->ReadLimits();
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->memory_max_bytes, std::nullopt) << "its own is another matter";
}

TEST(KernelGroupsAbove, WhoseLimitAKillIsDueToIsSeen) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("whose");
  MakeTask(fixture);
  LimitMemory(fixture, 48 * kMiB);
  const std::unique_ptr<TaskGroup> task = OpenBelow(fixture, "task");
  TaskReading before, after;
  ASSERT_TRUE(task->Read(ReadDepth::kAll, before).ok());
  const uint64_t above_before = Of(task->ReadAbove(), fixture.path())->limit_ooms.value_or(0);
  fixture.StartIn("task", [] { CgroupFixture::Touch(static_cast<size_t>(200 * kMiB)); });
  ASSERT_TRUE(Eventually([&] {
    return task->Read(ReadDepth::kAll, after).ok() &&
           after.oom_kills.value_or(0) > before.oom_kills.value_or(0);
  }));
  EXPECT_EQ(after.limit_ooms, before.limit_ooms) << "its own limit was not met";
  EXPECT_THAT(Of(task->ReadAbove(), fixture.path())->limit_ooms, Optional(Ge(above_before + 1)));

  ASSERT_TRUE(task->SetLimit(LimitKind::kMemoryMax, 16 * kMiB).ok());
  before = after;
  fixture.StartIn("task", [] { CgroupFixture::Touch(static_cast<size_t>(200 * kMiB)); });
  ASSERT_TRUE(Eventually([&] {
    return task->Read(ReadDepth::kAll, after).ok() &&
           after.oom_kills.value_or(0) > before.oom_kills.value_or(0);
  }));
  EXPECT_THAT(after.limit_ooms, Optional(Ge(before.limit_ooms.value_or(0) + 1)));
}

TEST(KernelProcesses, OfAGroupAndThoseBelowButForThoseLeftOut) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("pids");
  fixture.MakeBelow("task");
  fixture.MakeBelow("other");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  EXPECT_THAT(group->Pids({}), IsEmpty());
  const pid_t a = fixture.StartIn("task", [] {}), b = fixture.StartIn("other", [] {});
  EXPECT_THAT(group->Pids({}), ElementsAre(std::min(a, b), std::max(a, b)));
  const std::string other = fixture.path() + "/other";
  EXPECT_THAT(group->Pids({other}), ElementsAre(a));
}

TEST(KernelProcesses, TheirOomScoreAdjIsReadAndSetAndNeverAnothers) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("score");
  const pid_t pid = fixture.Start([] {});
  const std::unique_ptr<ProcessTable> processes = ProcessFiles();
  const std::optional<ProcessReading> facts = processes->Read(pid);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->id.pid, pid);
  EXPECT_EQ(facts->parent, getpid());
  EXPECT_GT(facts->id.started, 0U);
  ASSERT_TRUE(processes->SetOomScoreAdj(facts->id, 800).ok());
  EXPECT_EQ(processes->Read(pid)->oom_score_adj, 800);
  const ProcessId another{pid, facts->id.started + 1};
  EXPECT_TRUE(absl::IsNotFound(processes->SetOomScoreAdj(another, 0)));
  EXPECT_EQ(processes->Read(pid)->oom_score_adj, 800);
  fixture.KillAll();
  EXPECT_TRUE(absl::IsNotFound(processes->SetOomScoreAdj(facts->id, 0)));
  EXPECT_FALSE(processes->Read(pid).has_value());
}

TEST(KernelMemorySource, AThresholdWakesOnV1) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("threshold");
  LimitMemory(fixture, 64 * kMiB);
  const std::unique_ptr<MemorySource> machine = MachineMemory();
  const std::unique_ptr<MemorySource> group = GroupMemory(fixture.mounts(), fixture.path(), *machine);
  group->Watch({{0.5, 1e12}});
  ASSERT_TRUE(group->Read().ok());
  if (fixture.is_v2()) {
    EXPECT_LT(group->wakeup_fd(), 0);
    return;
  }
  const auto is_ready = [&group](int wait_ms) {
    pollfd waits{group->wakeup_fd(), POLLIN, 0};
    return poll(&waits, 1, wait_ms) == 1;
  };
  EXPECT_FALSE(is_ready(0));
  fixture.StartHolding(static_cast<size_t>(16 * kMiB));
  EXPECT_FALSE(is_ready(50));
  fixture.StartHolding(static_cast<size_t>(24 * kMiB));
  EXPECT_TRUE(is_ready(10'000));
  group->ClearWakeup();
  EXPECT_FALSE(is_ready(50));
}

}  // namespace
}  // namespace taut::node
