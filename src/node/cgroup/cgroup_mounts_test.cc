#include "node/cgroup/cgroup_mounts.h"

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

// Returns the mount points of "memory cpu cpuacct unified", "-" for none.
std::string Points(std::string_view mountinfo) {
  const absl::StatusOr<CgroupMounts> mounts = ParseCgroupMounts(mountinfo);
  if (!mounts.ok()) return std::string(Message(mounts.status()));
  const auto text = [](const std::string& point) { return point.empty() ? "-" : point; };
  return StrCat(text(mounts->memory), " ", text(mounts->cpu), " ", text(mounts->cpuacct), " ",
                text(mounts->unified));
}

constexpr std::string_view kV2 =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "26 22 0:23 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr std::string_view kV1 =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:11 master:2 - cgroup cgroup rw,memory\n"
    "37 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n";
constexpr std::string_view kSeparate =  // each v1 controller has its own mount, and v2 is mounted, too
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
    "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(CgroupMounts, AreReadFromMountinfo) {
  EXPECT_EQ(Points(kV2), "- - - /sys/fs/cgroup");
  EXPECT_EQ(Points(kV1), "/sys/fs/cgroup/memory /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup/cpu,cpuacct -");
  EXPECT_EQ(Points(kSeparate),
            "/sys/fs/cgroup/memory /sys/fs/cgroup/cpu /sys/fs/cgroup/cpuacct /sys/fs/cgroup/unified");
}

TEST(CgroupMounts, MemoryDecidesTheVersion) {
  const CgroupMounts v2 = *ParseCgroupMounts(kV2);
  EXPECT_EQ(v2.version(), CgroupVersion::kV2);
  EXPECT_EQ(v2.home(), "/sys/fs/cgroup");
  EXPECT_EQ(v2.description(), "cgroup v2");
  const CgroupMounts v1 = *ParseCgroupMounts(kV1);
  EXPECT_EQ(v1.version(), CgroupVersion::kV1);
  EXPECT_EQ(v1.home(), "/sys/fs/cgroup/memory");
  EXPECT_EQ(v1.description(), "cgroup v1");
  const CgroupMounts hybrid = *ParseCgroupMounts(kSeparate);
  EXPECT_EQ(hybrid.version(), CgroupVersion::kV1);
  EXPECT_EQ(hybrid.home(), "/sys/fs/cgroup/memory");
  EXPECT_EQ(hybrid.description(), "cgroup v1 and v2 (hybrid)");
  // With the boot option cgroup_no_v1=memory, memory belongs to v2.
  const CgroupMounts moved = *ParseCgroupMounts(
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(moved.version(), CgroupVersion::kV2);
  EXPECT_EQ(moved.home(), "/sys/fs/cgroup/unified");
  const CgroupMounts cpu_only = *ParseCgroupMounts("32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu\n");
  EXPECT_EQ(cpu_only.version(), CgroupVersion::kV1);
  EXPECT_EQ(cpu_only.home(), "/cg/cpu");
}

TEST(CgroupMounts, LooksAtTheWholeHierarchyAndTheLastMountAtAPoint) {
  EXPECT_EQ(Points("40 1 0:38 /docker/4f5e /part rw - cgroup2 cgroup2 rw\n"
                   "41 1 0:38 / /whole rw - cgroup2 cgroup2 rw\n"
                   "42 1 0:38 / /whole-too rw - cgroup2 cgroup2 rw\n"),
            "- - - /whole");
  EXPECT_EQ(Points("40 1 0:38 /docker/4f5e /part rw - cgroup2 cgroup2 rw\n"), "- - - /part");
  EXPECT_THAT(Points("40 1 0:38 / /cg rw - cgroup2 cgroup2 rw\n50 40 0:40 / /cg rw - tmpfs tmpfs rw\n"),
              HasSubstr("no cgroup hierarchy"));
  EXPECT_EQ(Points("40 1 0:38 / /my\\040groups\\134x rw - cgroup2 cgroup2 rw\n"), "- - - /my groups\\x");
}

TEST(CgroupMounts, OnlyThoseBelowTheRootThatIsGiven) {
  const std::string both = StrCat(kSeparate, "50 1 0:30 / /host/cgroup/memory rw - cgroup cgroup rw,memory\n",
                                  "51 1 0:29 / /host/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
                                  "52 1 0:29 / /host/cgroups rw - cgroup2 cgroup2 rw\n");
  for (const std::string_view root : {"/host/cgroup", "/host/cgroup/", "/host/cgroup//"}) {
    const auto mounts = ParseCgroupMounts(both, root);
    ASSERT_TRUE(mounts.ok()) << mounts.status();
    EXPECT_EQ(mounts->memory, "/host/cgroup/memory");
    EXPECT_EQ(mounts->cpu, "/host/cgroup/cpu");
    EXPECT_EQ(mounts->unified, "");
  }
  EXPECT_EQ(ParseCgroupMounts(both, "/host/cgroups")->unified, "/host/cgroups") << "a mount itself";
  EXPECT_TRUE(ParseCgroupMounts(both, "/").ok());
  const auto none = ParseCgroupMounts(both, "/nowhere");
  EXPECT_TRUE(absl::IsNotFound(none.status()));
  EXPECT_THAT(std::string(Message(none.status())), HasSubstr("invalid cgroup_root \"/nowhere\""));
}

TEST(CgroupMounts, NonsenseIsPassedOver) {
  for (const std::string_view text :
       {"", "\n\n", "40 1 0:38 / /cg rw", "40 1 0:38 / /cg - cgroup2 cgroup2 rw", "- cgroup2 cgroup2 rw",
        "40 1 0:38 / /cg rw - cgroup2", "40 1 0:38 / /cg rw - cgroup cgroup rw,memory_x,name=memory"}) {
    EXPECT_THAT(Points(text), HasSubstr("no cgroup hierarchy")) << text;
  }
  EXPECT_EQ(Points(StrCat("what?\n", kV2)), "- - - /sys/fs/cgroup");
}

}  // namespace
}  // namespace taut::node
