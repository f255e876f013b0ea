// Tests real groups on the kernel of this machine, v1 or v2: compares readings with the work of child processes,
// and checks that limits take effect.
#include <poll.h>
#include <sys/epoll.h>

#include <cmath>

#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "node/cgroup/cgroup_fixture.h"

namespace taut::node {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Optional;
using ::testing::StartsWith;

TaskReading ReadAll(TaskGroup& group) {
  TaskReading out;
  const absl::Status status = group.Read(ReadDepth::kAll, out);
  EXPECT_TRUE(status.ok()) << Message(status);
  return out;
}
TaskLimits LimitsOf(TaskGroup& group) {
  const absl::StatusOr<TaskLimits> limits = group.ReadLimits();
  EXPECT_TRUE(limits.ok()) << Message(limits.status());
  return limits.ok() ? *limits : TaskLimits();
}
std::string Set(TaskGroup& group, LimitKind kind, std::optional<double> value) {
  const absl::Status status = group.SetLimit(kind, value);
  return status.ok() ? "ok" : std::string(Message(status));
}
// Returns true if an event of the wakeup occurs within the timeout.
bool IsReady(const Wakeup& wakeup, int timeout_ms = 20'000) {
  const int poll_fd = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = wakeup.epoll_events;
  EXPECT_EQ(epoll_ctl(poll_fd, EPOLL_CTL_ADD, wakeup.fd, &event), 0);
  epoll_event got{};
  const int ready = epoll_wait(poll_fd, &got, 1, timeout_ms);
  close(poll_fd);
  return ready == 1 && (got.events & wakeup.epoll_events) != 0;
}

TEST(KernelCgroup, MeasuresABusyChild) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("busy");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  TaskReading before;
  ASSERT_TRUE(group->Read(ReadDepth::kUsage, before).ok());
  EXPECT_THAT(before.cpu_usage_us, Optional(Le(100'000U)));
  fixture.StartBurning(milliseconds(300));
  fixture.StartHolding(static_cast<size_t>(32 * kMiB));
  TaskReading after;
  ASSERT_TRUE(group->Read(ReadDepth::kUsage, after).ok());
  // The second child also uses some CPU.
  EXPECT_THAT(after.cpu_usage_us, Optional(AllOf(Ge(290'000U), Le(3'000'000U))));
  EXPECT_THAT(after.memory_bytes, Optional(AllOf(Ge(32U << 20), Le(80U << 20))));
  EXPECT_THAT(after.memory_working_set_bytes, Optional(AllOf(Ge(32U << 20), Le(*after.memory_bytes))));
  EXPECT_FALSE(after.oom_kills.has_value()) << "not asked for";

  const TaskReading all = ReadAll(*group);
  EXPECT_THAT(all.memory_peak_bytes, Optional(Ge(32U << 20)));
  EXPECT_THAT(all.oom_kills, Optional(0U));
  EXPECT_THAT(all.memory_max_events, Optional(0U));
  EXPECT_EQ(all.memory_high_events.has_value(), fixture.is_v2());
  EXPECT_THAT(all.cpu_throttled_periods, Optional(0U));
  if (!fixture.mounts().unified.empty()) {
    EXPECT_TRUE(all.cpu_pressure.some_us.has_value());
    EXPECT_TRUE(all.memory_pressure.full_us.has_value());
    EXPECT_TRUE(all.io_pressure.some_us.has_value());
  }
}

TEST(KernelCgroup, SetsCpuLimitsAndSeesThrottling) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("cpu");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  EXPECT_EQ(LimitsOf(*group).cpu_max_cores, std::nullopt);
  EXPECT_EQ(Set(*group, LimitKind::kCpuMax, 0.1), "ok");
  EXPECT_THAT(LimitsOf(*group).cpu_max_cores, Optional(0.1));
  EXPECT_THAT(fixture.ReadFile(fixture.is_v2() ? "cpu.max" : "cpu.cfs_quota_us"), StartsWith("10000"));
  fixture.StartBurning(milliseconds(100));
  const TaskReading reading = ReadAll(*group);
  EXPECT_THAT(reading.cpu_periods, Optional(Ge(3U)));
  EXPECT_THAT(reading.cpu_throttled_periods, Optional(AllOf(Ge(2U), Le(*reading.cpu_periods))));
  EXPECT_THAT(reading.cpu_throttled_us, Optional(Ge(10'000U)));

  if (fixture.is_v2()) {
    fixture.WriteFile("cpu.max", "max 50000");
  } else {
    fixture.WriteFile("cpu.cfs_period_us", "50000");
  }
  EXPECT_EQ(Set(*group, LimitKind::kCpuMax, 1.5), "ok");
  EXPECT_THAT(LimitsOf(*group).cpu_max_cores, Optional(1.5));
  EXPECT_THAT(fixture.ReadFile(fixture.is_v2() ? "cpu.max" : "cpu.cfs_quota_us"), HasSubstr("75000"));
  EXPECT_EQ(Set(*group, LimitKind::kCpuMax, 0.001), "ok") << "below the kernel's least, 1 ms a period";
  EXPECT_THAT(LimitsOf(*group).cpu_max_cores, Optional(0.02));
  EXPECT_EQ(Set(*group, LimitKind::kCpuMax, std::nullopt), "ok");
  EXPECT_EQ(LimitsOf(*group).cpu_max_cores, std::nullopt);
  for (const double wrong : {0.0, -1.0, 1e9, std::nan("")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(group->SetLimit(LimitKind::kCpuMax, wrong))) << wrong;
  }
}

TEST(KernelCgroup, SaysBeforeWhatTheKernelWillMakeOfALimit) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("rounded");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  for (const int period_us : {100'000, 50'000, 10'000, 1'000}) {
    if (fixture.is_v2()) {
      fixture.WriteFile("cpu.max", "max " + std::to_string(period_us));
    } else {
      fixture.WriteFile("cpu.cfs_period_us", std::to_string(period_us));
    }
    for (const double cores : {0.0123, 0.025, 0.0374, 1.23456}) {
      EXPECT_EQ(Set(*group, LimitKind::kCpuMax, cores), "ok");
      EXPECT_EQ(group->Rounded(LimitKind::kCpuMax, cores), LimitsOf(*group).cpu_max_cores)
          << period_us << " us, " << cores;
    }
    EXPECT_EQ(Set(*group, LimitKind::kCpuMax, std::nullopt), "ok");
  }
  for (const double weight : {1.0, 7.3, 4321.0}) {
    EXPECT_EQ(Set(*group, LimitKind::kCpuWeight, weight), "ok");
    EXPECT_EQ(group->Rounded(LimitKind::kCpuWeight, weight), LimitsOf(*group).cpu_weight);
  }
}

TEST(KernelCgroup, AWeightSetIsAWeightReadBack) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("weight");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  const std::string file = fixture.is_v2() ? "cpu.weight" : "cpu.shares";
  const std::string before = fixture.ReadFile(file);
  const std::optional<double> first = LimitsOf(*group).cpu_weight;
  EXPECT_THAT(first, Optional(testing::DoubleNear(fixture.is_v2() ? 100 : 39.98, 0.01)));
  for (const double weight : {1.0, 2.0, 99.0, 100.0, 1234.0, 9999.0, 10'000.0}) {
    EXPECT_EQ(Set(*group, LimitKind::kCpuWeight, weight), "ok");
    EXPECT_THAT(LimitsOf(*group).cpu_weight,
                Optional(testing::DoubleNear(weight, fixture.is_v2() ? 0 : 0.04)));
  }
  EXPECT_EQ(Set(*group, LimitKind::kCpuWeight, first), "ok");
  EXPECT_EQ(fixture.ReadFile(file), before) << "the owner's own, to the share";
  EXPECT_EQ(Set(*group, LimitKind::kCpuWeight, 7), "ok");
  EXPECT_EQ(Set(*group, LimitKind::kCpuWeight, std::nullopt), "ok");
  EXPECT_EQ(fixture.ReadFile(file), before);
  EXPECT_TRUE(absl::IsInvalidArgument(group->SetLimit(LimitKind::kCpuWeight, 0.5)));
  EXPECT_TRUE(absl::IsInvalidArgument(group->SetLimit(LimitKind::kCpuWeight, 10'001)));
}

TEST(KernelCgroup, SetsMemoryLimitsAndRefusesToShrinkBelowUse) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("memory");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  EXPECT_EQ(LimitsOf(*group).memory_max_bytes, std::nullopt);
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 96 * kMiB + 1), "ok");
  EXPECT_THAT(LimitsOf(*group).memory_max_bytes, Optional(96 * kMiB));
  const pid_t child = fixture.StartHolding(static_cast<size_t>(48 * kMiB));
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 72 * kMiB), "ok");
  const absl::Status refused = group->SetLimit(LimitKind::kMemoryMax, 24 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << Message(refused);
  EXPECT_THAT(std::string(Message(refused)), HasSubstr(fixture.path()));
  EXPECT_THAT(LimitsOf(*group).memory_max_bytes, Optional(72 * kMiB));
  EXPECT_EQ(kill(child, 0), 0);
  EXPECT_THAT(ReadAll(*group).oom_kills, Optional(0U));
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, std::nullopt), "ok");
  EXPECT_EQ(LimitsOf(*group).memory_max_bytes, std::nullopt);
  EXPECT_TRUE(absl::IsInvalidArgument(group->SetLimit(LimitKind::kMemoryMax, 0)));

  if (fixture.is_v2()) {
    EXPECT_EQ(Set(*group, LimitKind::kMemoryHigh, 64 * kMiB), "ok");
    EXPECT_THAT(LimitsOf(*group).memory_high_bytes, Optional(64 * kMiB));
    EXPECT_EQ(Set(*group, LimitKind::kMemoryHigh, std::nullopt), "ok");
    EXPECT_EQ(LimitsOf(*group).memory_high_bytes, std::nullopt);
  } else {
    EXPECT_TRUE(absl::IsUnimplemented(group->SetLimit(LimitKind::kMemoryHigh, 64 * kMiB)));
  }
}

// The kernel counts page cache as memory in use, but can reclaim it.
TEST(KernelCgroup, ShrinksOverPageCacheThatNobodyUses) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("cache");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  // The file has no name, so the kernel deletes it with its last descriptor, which the child keeps open.
  const int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) GTEST_SKIP() << "no file without a name can be made in the working directory";
  fixture.Start([fd] {
    const std::vector<char> block(1 << 20, 'x');
    for (int i = 0; i < 48; ++i) (void)!write(fd, block.data(), block.size());
    fdatasync(fd);
  });
  close(fd);
  const TaskReading before = ReadAll(*group);
  if (*before.memory_working_set_bytes > 24 * kMiB) {
    GTEST_SKIP() << "the working directory is in memory: its files are no page cache";
  }
  EXPECT_THAT(before.memory_bytes, Optional(Ge(48U << 20)));
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 32 * kMiB), "ok");
  EXPECT_THAT(LimitsOf(*group).memory_max_bytes, Optional(32 * kMiB));
  EXPECT_THAT(ReadAll(*group).memory_bytes, Optional(Le(32U << 20)));
}

TEST(KernelCgroup, KeepsTheOwnersAllowanceOfSwap) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("swap");
  if (fixture.is_v2()) GTEST_SKIP() << "cgroup v2 counts swap by itself";
  constexpr const char* kSwap = "memory.memsw.limit_in_bytes";
  if (fixture.ReadFile(kSwap).empty()) GTEST_SKIP() << "this kernel does not count swap";
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  fixture.WriteFile("memory.limit_in_bytes", "67108864");
  fixture.WriteFile(kSwap, "67108864");
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 128 * kMiB), "ok") << "up";
  EXPECT_EQ(fixture.ReadFile(kSwap), "134217728\n");
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 32 * kMiB), "ok") << "down";
  EXPECT_EQ(fixture.ReadFile(kSwap), "33554432\n");
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, std::nullopt), "ok");
  EXPECT_EQ(fixture.ReadFile(kSwap), "9223372036854771712\n");
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 64 * kMiB), "ok") << "as the owner had it";
  EXPECT_EQ(fixture.ReadFile(kSwap), "67108864\n");

  fixture.WriteFile(kSwap, "-1");
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 48 * kMiB), "ok");
  EXPECT_EQ(fixture.ReadFile(kSwap), "9223372036854771712\n") << "the owner's new will";
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 64 * kMiB), "ok");
  fixture.WriteFile(kSwap, "67108864");

  fixture.StartHolding(static_cast<size_t>(40 * kMiB));
  EXPECT_TRUE(absl::IsResourceExhausted(group->SetLimit(LimitKind::kMemoryMax, 16 * kMiB)));
  EXPECT_EQ(fixture.ReadFile(kSwap), "67108864\n");
  EXPECT_EQ(fixture.ReadFile("memory.limit_in_bytes"), "67108864\n");
}

TEST(KernelCgroup, AnOomKillWakesAndIsCounted) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("oom");
  const std::unique_ptr<TaskGroup> group = fixture.Open();
  const Wakeup wakeup = group->oom_wakeup();
  ASSERT_GE(wakeup.fd, 0);
  // With swap, the group might swap for a long time before the kernel kills a process.
  const char* swap = fixture.is_v2() ? "memory.swap.max" : "memory.swappiness";
  if (!fixture.ReadFile(swap).empty()) fixture.WriteFile(swap, "0");
  EXPECT_EQ(Set(*group, LimitKind::kMemoryMax, 64 * kMiB), "ok");
  EXPECT_FALSE(IsReady(wakeup, 0));
  const pid_t child = fixture.StartHolding(static_cast<size_t>(300 * kMiB));
  const int status = fixture.WaitFor(child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_TRUE(IsReady(wakeup));
  group->ClearOomWakeup();
  const TaskReading reading = ReadAll(*group);
  EXPECT_THAT(reading.oom_kills, Optional(1U));
  EXPECT_THAT(reading.memory_max_events, Optional(Ge(1U)));
  EXPECT_THAT(reading.memory_peak_bytes, Optional(AllOf(Ge(48U << 20), Le(64U << 20))));
  // The kernel may report the same kill once more, some milliseconds later.
  EXPECT_TRUE(Eventually([&] {
    group->ClearOomWakeup();
    return !IsReady(wakeup, 20);
  }));

  fixture.WaitFor(fixture.StartHolding(static_cast<size_t>(300 * kMiB)));
  EXPECT_TRUE(IsReady(wakeup)) << "armed again";
  group->ClearOomWakeup();
  EXPECT_THAT(ReadAll(*group).oom_kills, Optional(2U));
}

TEST(KernelCgroup, ARecreatedGroupIsNotTheOldOne) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("again");
  const std::unique_ptr<TaskGroup> old = fixture.Open();
  struct stat facts {};
  ASSERT_EQ(stat((fixture.mounts().home() + fixture.path()).c_str(), &facts), 0);
  EXPECT_TRUE(OpenCgroup(fixture.mounts(), fixture.path(), facts.st_ino).ok());
  ReadAll(*old);
  fixture.Remove();
  for (const bool is_recreated : {false, true}) {
    if (is_recreated) fixture.Make();
    TaskReading reading;
    reading.cpu_usage_us = 1;
    for (const ReadDepth depth : {ReadDepth::kUsage, ReadDepth::kAll}) {
      EXPECT_TRUE(absl::IsNotFound(old->Read(depth, reading)));
      EXPECT_FALSE(reading.cpu_usage_us.has_value() || reading.memory_bytes.has_value());
    }
    EXPECT_TRUE(absl::IsNotFound(old->ReadLimits().status()));
    EXPECT_TRUE(absl::IsNotFound(old->SetLimit(LimitKind::kMemoryMax, 64 * kMiB)));
    EXPECT_TRUE(absl::IsNotFound(old->SetLimit(LimitKind::kCpuWeight, 50)));
    old->ClearOomWakeup();
    const absl::Status reopened = OpenCgroup(fixture.mounts(), fixture.path(), facts.st_ino).status();
    EXPECT_TRUE(absl::IsNotFound(reopened)) << Message(reopened);
  }
  const std::unique_ptr<TaskGroup> fresh = fixture.Open();
  ReadAll(*fresh);
  EXPECT_EQ(LimitsOf(*fresh).memory_max_bytes, std::nullopt) << "nothing was set on the new one";
}

// Each kind of call detects the removal, also as the first call after the removal.
TEST(KernelCgroup, EachCallNoticesThatTheGroupIsGone) {
  TAUT_NEEDS_CGROUPS();
  CgroupFixture fixture("gone");
  const std::unique_ptr<TaskGroup> a = fixture.Open(), b = fixture.Open(), c = fixture.Open();
  fixture.Remove();
  TaskReading reading;
  EXPECT_TRUE(absl::IsNotFound(a->Read(ReadDepth::kAll, reading)));
  EXPECT_TRUE(absl::IsNotFound(b->ReadLimits().status()));
  EXPECT_TRUE(absl::IsNotFound(c->SetLimit(LimitKind::kCpuMax, 1)));
  EXPECT_TRUE(absl::IsNotFound(OpenCgroup(fixture.mounts(), fixture.path()).status()));
}

}  // namespace
}  // namespace taut::node
