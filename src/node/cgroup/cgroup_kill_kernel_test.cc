// Tests the kill of all processes of real groups, and readings of the free memory of real groups and of the
// machine.
#include <csignal>

#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "node/cgroup/cgroup_fixture.h"
#include "node/cgroup/kill_group.h"
#include "node/cgroup/memory_sources.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

KernelDirectory HomeOf(const CgroupFixture& fixture) {
  return *KernelDirectory::Open(fixture.mounts().home(), fixture.path());
}
bool WasKilled(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

TEST(KernelCgroup, KillsAllThatIsInItAndCountsNoOomKill) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("kill"), neighbour("kill-not");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  EXPECT_EQ(group->cgroup_path(), fixture.path());
  const pid_t one = fixture.StartHolding(static_cast<size_t>(8 * kMiB));
  // The child forks 50 children, which wait for a signal.
  const pid_t many = fixture.Start([] {
    for (int i = 0; i < 50; ++i) {
      if (fork() == 0) {
        for (;;) pause();
      }
    }
  });
  const pid_t other = neighbour.StartHolding(static_cast<size_t>(4 * kMiB));
  const absl::StatusOr<int> killed = group->Kill();
  ASSERT_TRUE(killed.ok()) << Message(killed.status());
  EXPECT_EQ(*killed, 52);
  EXPECT_TRUE(WasKilled(fixture.WaitFor(one)));
  EXPECT_TRUE(WasKilled(fixture.WaitFor(many)));
  EXPECT_TRUE(Eventually([&] { return fixture.ReadFile("cgroup.procs").empty(); }));
  TaskReading reading;
  ASSERT_TRUE(group->Read(ReadDepth::kAll, reading).ok());
  EXPECT_EQ(reading.oom_kills, 0U);
  EXPECT_EQ(kill(other, 0), 0);
  EXPECT_EQ(*group->Kill(), 0) << "nothing is left";
}

TEST(KernelCgroup, KillsInGroupsBelowIt) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("kill-below");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  const pid_t child = fixture.StartHolding(static_cast<size_t>(4 * kMiB));
  fixture.MakeBelow("below");
  std::ofstream(fixture.mounts().home() + fixture.path() + "/below/cgroup.procs") << child;
  EXPECT_EQ(fixture.ReadFile("cgroup.procs"), "");
  const absl::StatusOr<int> killed = group->Kill();
  ASSERT_TRUE(killed.ok()) << Message(killed.status());
  EXPECT_EQ(*killed, 1);
  EXPECT_TRUE(WasKilled(fixture.WaitFor(child)));
}

TEST(KernelCgroup, KillsNoneThatTookItsName) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("kill-again");
  const std::unique_ptr<TaskGroup> old = fixture.Open();
  fixture.Remove();
  fixture.Make();
  const pid_t child = fixture.StartHolding(static_cast<size_t>(4 * kMiB));
  EXPECT_TRUE(absl::IsNotFound(old->Kill().status()));
  EXPECT_EQ(kill(child, 0), 0);
}

TEST(KernelCgroup, NeverKillsItsOwnProcessOrTheRoot) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("kill-self");
  int said[2];
  ASSERT_EQ(pipe2(said, O_CLOEXEC), 0);
  fixture.Start([&] {
    const absl::StatusOr<int> killed = KillGroup(HomeOf(fixture), fixture.path());
    const std::string text = killed.ok() ? "killed" : std::string(Message(killed.status()));
    (void)!write(said[1], text.data(), text.size());
  });
  char text[200] = {};
  ASSERT_GT(read(said[0], text, sizeof(text) - 1), 0);
  EXPECT_THAT(text, HasSubstr("this process is in it"));
  close(said[0]);
  close(said[1]);
  EXPECT_TRUE(absl::IsFailedPrecondition(KillGroup(HomeOf(fixture), "/").status()));
}

TEST(KernelCgroup, ProtectsMemory) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("protect");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  for (const LimitKind kind : {LimitKind::kMemoryLow, LimitKind::kMemoryMin}) {
    const absl::Status set = group->SetLimit(kind, 32 * kMiB);
    if (!fixture.is_v2()) {
      EXPECT_TRUE(absl::IsUnimplemented(set)) << Message(set);
      continue;
    }
    EXPECT_TRUE(set.ok()) << Message(set);
    EXPECT_EQ(group->ReadLimits()->of(kind), 32 * kMiB);
    EXPECT_EQ(fixture.ReadFile(std::string(Name(kind))), "33554432\n");
    fixture.WriteFile(std::string(Name(kind)), "max");
    EXPECT_EQ(group->ReadLimits()->of(kind), 1e18);
    EXPECT_TRUE(group->SetLimit(kind, 1e18).ok());
    EXPECT_TRUE(group->SetLimit(kind, std::nullopt).ok());
    EXPECT_EQ(group->ReadLimits()->of(kind), std::nullopt);
    EXPECT_EQ(fixture.ReadFile(std::string(Name(kind))), "0\n");
  }
}

TEST(KernelCgroup, SaysWhatIsFreeOfALimit) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("free");
  const std::unique_ptr<MemorySource> machine = MachineMemory();
  const absl::StatusOr<MemoryNow> all = machine->Read();
  ASSERT_TRUE(all.ok()) << Message(all.status());
  EXPECT_GT(all->total, all->free);
  const std::unique_ptr<MemorySource> source = GroupMemory(fixture.mounts(), fixture.path(), *machine);
  EXPECT_TRUE(absl::IsFailedPrecondition(source->Read().status())) << "no limit";
  ASSERT_TRUE(fixture.Open()->SetLimit(LimitKind::kMemoryMax, 64 * kMiB).ok());
  fixture.StartHolding(static_cast<size_t>(16 * kMiB));
  const absl::StatusOr<MemoryNow> now = source->Read();
  ASSERT_TRUE(now.ok()) << Message(now.status());
  EXPECT_EQ(now->total, 64 * kMiB);
  EXPECT_LT(now->free, 48 * kMiB);
  EXPECT_GT(now->free, 30 * kMiB);
  if (!fixture.mounts().unified.empty()) {
    EXPECT_TRUE(now->some.has_value());
  }
  const std::unique_ptr<MemorySource> none = GroupMemory(fixture.mounts(), "/no-such-group", *machine);
  EXPECT_TRUE(absl::IsNotFound(none->Read().status()));
}

}  // namespace
}  // namespace taut::node
