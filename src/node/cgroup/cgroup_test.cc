// Tests groups of plain files: reads files that are missing, truncated or invalid, and checks the written values.
#include "node/cgroup/cgroup.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/cgroup/made_up_tree.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr std::string_view kPressure =
    "some avg10=1.00 avg60=0.00 avg300=0.00 total=11\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

void FillV2(const MadeUpTree& tree) {
  tree.MakeGroup("web");
  tree.Write("web/cpu.stat",
             "usage_usec 5000\nuser_usec 1\nnr_periods 40\nnr_throttled 4\nthrottled_usec 900\n");
  tree.Write("web/memory.current", "1000000\n");
  tree.Write("web/memory.stat", "anon 1\ninactive_anon 2\ninactive_file 300000\nactive_file 5\n");
  tree.Write("web/memory.peak", "1500000\n");
  tree.Write("web/memory.events", "low 0\nhigh 3\nmax 2\noom 1\noom_kill 1\n");
  tree.Write("web/cpu.pressure", kPressure);
  tree.Write("web/memory.max", "max\n");
  tree.Write("web/memory.high", "max\n");
  tree.Write("web/cpu.max", "max 100000\n");
  tree.Write("web/cpu.weight", "100\n");
}
void FillV1(const MadeUpTree& tree) {
  for (const std::string hierarchy : {"memory", "cpu", "cpuacct"}) tree.MakeGroup(hierarchy + "/web");
  tree.Write("cpuacct/web/cpuacct.usage", "5000999\n");
  tree.Write("cpu/web/cpu.stat", "nr_periods 40\nnr_throttled 4\nthrottled_time 900999\n");
  tree.Write("memory/web/memory.usage_in_bytes", "1000000\n");
  tree.Write("memory/web/memory.stat", "inactive_file 1\nactive_file 5\ntotal_inactive_file 300000\n");
  tree.Write("memory/web/memory.max_usage_in_bytes", "1500000\n");
  tree.Write("memory/web/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  tree.Write("memory/web/memory.failcnt", "2\n");
  tree.Write("memory/web/memory.limit_in_bytes", "9223372036854771712\n");
  tree.Write("cpu/web/cpu.cfs_quota_us", "-1\n");
  tree.Write("cpu/web/cpu.cfs_period_us", "100000\n");
  tree.Write("cpu/web/cpu.shares", "1024\n");
}

std::unique_ptr<TaskGroup> Open(const CgroupMounts& mounts, std::string_view path = "/web") {
  absl::StatusOr<std::unique_ptr<TaskGroup>> group = OpenCgroup(mounts, path);
  EXPECT_TRUE(group.ok()) << Message(group.status());
  return *std::move(group);
}
TaskReading ReadOf(TaskGroup& group, ReadDepth depth) {
  TaskReading out;
  const absl::Status status = group.Read(depth, out);
  EXPECT_TRUE(status.ok()) << Message(status);
  return out;
}

TEST(Cgroup, V1AndV2ReadAlike) {
  const MadeUpTree v1, v2;
  FillV1(v1);
  FillV2(v2);
  for (const bool is_v2 : {false, true}) {
    SCOPED_TRACE(is_v2);
    const std::unique_ptr<TaskGroup> group = Open(is_v2 ? v2.V2() : v1.V1());
    const TaskReading usage = ReadOf(*group, ReadDepth::kUsage);
    EXPECT_THAT(usage.cpu_usage_us, Optional(5000U));
    EXPECT_THAT(usage.memory_bytes, Optional(1'000'000U));
    EXPECT_THAT(usage.memory_working_set_bytes, Optional(700'000U));
    EXPECT_EQ(usage.cpu_periods, std::nullopt);
    EXPECT_EQ(usage.oom_kills, std::nullopt);
    const TaskReading all = ReadOf(*group, ReadDepth::kAll);
    EXPECT_THAT(all.cpu_periods, Optional(40U));
    EXPECT_THAT(all.cpu_throttled_periods, Optional(4U));
    EXPECT_THAT(all.cpu_throttled_us, Optional(900U));
    EXPECT_THAT(all.memory_peak_bytes, Optional(1'500'000U));
    EXPECT_THAT(all.oom_kills, Optional(1U));
    EXPECT_THAT(all.memory_max_events, Optional(2U));
    EXPECT_EQ(all.memory_high_events.has_value(), is_v2);
    EXPECT_EQ(all.cpu_pressure.some_us.has_value(), is_v2);
    EXPECT_EQ(all.io_pressure.some_us, std::nullopt);
    const absl::StatusOr<TaskLimits> limits = group->ReadLimits();
    EXPECT_TRUE(limits.ok());
    EXPECT_EQ(limits->memory_max_bytes, std::nullopt);
    EXPECT_EQ(limits->cpu_max_cores, std::nullopt);
    EXPECT_THAT(limits->cpu_weight, Optional(testing::DoubleNear(is_v2 ? 100 : 39.98, 0.01)));
  }
}

TEST(Cgroup, V1TakesPressureFromTheUnifiedHierarchy) {
  const MadeUpTree tree;
  FillV1(tree);
  tree.Write("unified/web/memory.pressure", kPressure);
  const TaskReading all = ReadOf(*Open(tree.V1()), ReadDepth::kAll);
  EXPECT_THAT(all.memory_pressure.some_us, Optional(11U));
  EXPECT_THAT(all.memory_pressure.full_us, Optional(7U));
  EXPECT_EQ(all.cpu_pressure.some_us, std::nullopt);
}

TEST(Cgroup, NonsenseIsAbsent) {
  for (const std::string_view text :
       {"", "5000", "\n", "-5\n", "usage_usec\n", "usage_usec 99999999999999999999\n",
        "inactive_file x\noom_kill \nusage_usec 1"}) {
    const MadeUpTree tree;
    FillV2(tree);
    for (const char* file : {"cpu.stat", "memory.stat", "memory.peak", "memory.events", "cpu.pressure",
                             "memory.max", "memory.high", "cpu.max", "cpu.weight"}) {
      tree.Write(StrCat("web/", file), text);
    }
    const std::unique_ptr<TaskGroup> group = Open(tree.V2());
    const TaskReading all = ReadOf(*group, ReadDepth::kAll);
    EXPECT_FALSE(all.cpu_usage_us || all.cpu_periods || all.memory_working_set_bytes ||
                 all.memory_peak_bytes || all.oom_kills || all.cpu_pressure.some_us)
        << text;
    EXPECT_THAT(all.memory_bytes, Optional(1'000'000U));
    const absl::StatusOr<TaskLimits> limits = group->ReadLimits();
    ASSERT_TRUE(limits.ok());
    EXPECT_FALSE(limits->memory_max_bytes || limits->cpu_max_cores || limits->cpu_weight) << text;
  }
}

TEST(Cgroup, WhatIsNotThereIsAbsentAndNothingAtAllIsAnError) {
  const MadeUpTree tree;
  tree.MakeGroup("bare");
  const std::unique_ptr<TaskGroup> group = Open(tree.V2(), "/bare");
  TaskReading reading;
  const absl::Status read = group->Read(ReadDepth::kUsage, reading);
  EXPECT_TRUE(absl::IsUnavailable(read)) << Message(read);
  EXPECT_THAT(std::string(Message(read)), HasSubstr("/bare"));
  EXPECT_LT(group->oom_wakeup().fd, 0);
  for (int kind = 0; kind < kNumLimitKinds; ++kind) {
    const absl::Status set = group->SetLimit(static_cast<LimitKind>(kind), 100);
    EXPECT_TRUE(absl::IsUnimplemented(set)) << Message(set);
  }
  // A controller that is enabled later is found by the next full reading.
  tree.Write("bare/memory.current", "4096\n");
  EXPECT_THAT(ReadOf(*group, ReadDepth::kAll).memory_bytes, Optional(4096U));
  EXPECT_EQ(ReadOf(*group, ReadDepth::kUsage).cpu_usage_us, std::nullopt);

  tree.Remove("bare");
  EXPECT_TRUE(absl::IsNotFound(group->ReadLimits().status()));
  tree.MakeGroup("bare");
  EXPECT_TRUE(absl::IsNotFound(group->ReadLimits().status())) << "for good";
}

TEST(Cgroup, TheInactivePagesAreReadAgainWhenMemoryMovesOrAtTheTenthReading) {
  const MadeUpTree tree;
  FillV2(tree);
  const std::unique_ptr<TaskGroup> group = Open(tree.V2());
  const auto working_set = [&] { return *ReadOf(*group, ReadDepth::kUsage).memory_working_set_bytes; };
  EXPECT_EQ(working_set(), 700'000U);
  tree.Write("web/memory.stat", "inactive_file 100000\n");
  tree.Write("web/memory.current", "1010000\n");  // a change of 1 %: the working set is not read again
  for (int i = 1; i < 10; ++i) EXPECT_EQ(working_set(), 710'000U) << i;
  EXPECT_EQ(working_set(), 910'000U);
  tree.Write("web/memory.stat", "inactive_file 0\n");
  tree.Write("web/memory.current", "999000\n");
  EXPECT_EQ(working_set(), 999'000U);
  tree.Write("web/memory.stat", "inactive_file 5000000\n");
  EXPECT_EQ(ReadOf(*group, ReadDepth::kAll).memory_working_set_bytes, 0U);
}

TEST(Cgroup, WritesWhatTheKernelReads) {
  const MadeUpTree v2, v1;
  FillV2(v2);
  FillV1(v1);
  const std::unique_ptr<TaskGroup> two = Open(v2.V2()), one = Open(v1.V1());
  for (TaskGroup* group : {two.get(), one.get()}) {
    EXPECT_TRUE(group->SetLimit(LimitKind::kMemoryMax, 2'097'152.7).ok());
    EXPECT_TRUE(group->SetLimit(LimitKind::kCpuWeight, 250.4).ok());
  }
  EXPECT_EQ(v2.Read("web/memory.max"), "2097152\n");
  EXPECT_EQ(v1.Read("memory/web/memory.limit_in_bytes"), "2097152\n");
  EXPECT_EQ(v2.Read("web/cpu.weight"), "250\n");
  EXPECT_EQ(v1.Read("cpu/web/cpu.shares"), "6541\n");
  EXPECT_TRUE(one->SetLimit(LimitKind::kCpuMax, 1.5).ok());
  EXPECT_EQ(v1.Read("cpu/web/cpu.cfs_quota_us"), "150000\n");
  EXPECT_TRUE(one->SetLimit(LimitKind::kCpuMax, std::nullopt).ok());
  EXPECT_EQ(v1.Read("cpu/web/cpu.cfs_quota_us"), "-1\n");
  // A kernel adds the period to cpu.max, but a plain file keeps the text as written. The value read back differs.
  const absl::Status odd = two->SetLimit(LimitKind::kCpuMax, 1.5);
  EXPECT_EQ(v2.Read("web/cpu.max"), "150000\n");
  EXPECT_TRUE(absl::IsFailedPrecondition(odd));
  EXPECT_THAT(std::string(Message(odd)), HasSubstr("cpu.max was set to 1.5 but reads none"));
}

TEST(Cgroup, V2IsNotShrunkBelowUse) {
  const MadeUpTree tree;
  FillV2(tree);
  const std::unique_ptr<TaskGroup> group = Open(tree.V2());
  EXPECT_TRUE(group->SetLimit(LimitKind::kMemoryMax, 1'000'000).ok());
  // The kernel might reclaim page cache, but plain files do not change. Below the working set no reclaim is
  // tried.
  for (const double value : {800'000.0, 600'000.0}) {
    tree.Write("web/memory.reclaim", "untouched");
    const absl::Status refused = group->SetLimit(LimitKind::kMemoryMax, value);
    EXPECT_TRUE(absl::IsResourceExhausted(refused)) << Message(refused);
    EXPECT_EQ(tree.Read("web/memory.reclaim"), value > 700'000 ? "200000\n" : "untouched");
  }
  EXPECT_EQ(tree.Read("web/memory.max"), "1000000\n");
  tree.Write("web/memory.max", "500000\n");
  EXPECT_TRUE(group->SetLimit(LimitKind::kMemoryMax, 600'000).ok()) << "that is a raise";
  tree.Write("web/memory.current", "?");
  EXPECT_TRUE(absl::IsUnavailable(group->SetLimit(LimitKind::kMemoryMax, 550'000)));
  EXPECT_TRUE(group->SetLimit(LimitKind::kMemoryMax, std::nullopt).ok());
  EXPECT_EQ(tree.Read("web/memory.max"), "max\n");
}

TEST(Cgroup, PathsStayInTheirHierarchy) {
  const MadeUpTree tree;
  FillV2(tree);
  for (const std::string_view path : {"", "web", "/../web", "/web/..", "/web/../web"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(OpenCgroup(tree.V2(), path).status())) << path;
  }
  EXPECT_TRUE(absl::IsNotFound(OpenCgroup(tree.V2(), "/nowhere").status()));
  EXPECT_TRUE(absl::IsNotFound(OpenCgroup(tree.V2(), "/web/cpu.stat").status())) << "a file";
  EXPECT_TRUE(absl::IsNotFound(OpenCgroup(tree.V2(), "/web", 1).status())) << "another inode";
  EXPECT_TRUE(absl::IsNotFound(OpenCgroup(CgroupMounts(), "/web").status()));
}

TEST(CgroupIdentity, IsReadBack) {
  const CgroupIdentity identity{"/a.slice/b#7.service", 1234};
  EXPECT_EQ(identity.Text(), "cgroup:/a.slice/b#7.service#1234");
  const std::optional<CgroupIdentity> back = CgroupIdentity::Parse(identity.Text());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->path, identity.path);
  EXPECT_EQ(back->inode, identity.inode);
  for (const std::string_view text :
       {"", "cgroup:", "cgroup:/a", "cgroup:/a#", "cgroup:/a#x", "docker:4f#5"}) {
    EXPECT_FALSE(CgroupIdentity::Parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace taut::node
