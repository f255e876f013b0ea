// Tests the finder and limits with services of this machine's systemd, if systemd runs.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/cgroup/cgroup_finder.h"
#include "node/cgroup/cgroup_fixture.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;

// A transient service, which the destructor always stops. No command waits for systemd's signal that the unit
// has started or stopped: on a slow machine that had just started, one such wait never ended.
class Service {
 public:
  Service(std::string unit, std::string_view properties) : unit_(std::move(unit)) {
    started_ =
        Run(StrCat("systemd-run --no-block --quiet --unit='", unit_, "' ", properties, " sleep 600")) &&
        Eventually([this] { return Run(StrCat("systemctl --quiet is-active '", unit_, "'")); });
  }
  ~Service() { Stop(); }
  Service(const Service&) = delete;

  bool started() const { return started_; }
  void Stop() const { Run(StrCat("systemctl --no-block stop '", unit_, "' 2>/dev/null")); }
  static bool Run(const std::string& command) { return std::system(command.c_str()) == 0; }

 private:
  std::string unit_;
  bool started_ = false;
};

TEST(KernelSystemd, FindsAndLimitsServices) {
  if (!std::filesystem::exists("/run/systemd/system")) GTEST_SKIP() << "systemd does not run this machine";
  if (geteuid() != 0) GTEST_SKIP() << "not root: no services can be started";
  const absl::StatusOr<CgroupMounts> mounts = ReadCgroupMounts();
  ASSERT_TRUE(mounts.ok());
  const std::string prefix = StrCat("tauttest", getpid());
  const Service service(StrCat(prefix, "@blue\\x2dgreen.service"),
                        StrCat("--slice=", prefix, "-deep.slice -p MemoryMax=256M -p CPUWeight=200"));
  ASSERT_TRUE(service.started());

  TaskRule rule;
  rule.source = TaskSource::kSystemd;
  rule.match = StrCat(prefix, "@*.service");
  rule.job = "{slice}/{prefix}";
  rule.task = "{host}/{instance}";
  const std::unique_ptr<CgroupFinder> finder = *CgroupFinder::Create(*mounts, "n1", {rule});
  const absl::StatusOr<std::vector<FoundTask>> found = finder->Find();
  ASSERT_TRUE(found.ok()) << Message(found.status());
  ASSERT_THAT(*found, SizeIs(1));
  const FoundTask& task = found->front();
  EXPECT_EQ(task.job, StrCat(prefix, "-deep/", prefix));
  EXPECT_EQ(task.task, "n1/blue-green");
  EXPECT_THAT(task.identity, HasSubstr(StrCat("/", prefix, ".slice/", prefix, "-deep.slice/", prefix, "@")));
  EXPECT_THAT(task.labels,
              ElementsAre(Pair("instance", "blue-green"), Pair("path", testing::_), Pair("prefix", prefix),
                          Pair("slice", prefix + "-deep"), Pair("unit", prefix + "@blue-green")));

  absl::StatusOr<std::unique_ptr<TaskGroup>> group = finder->Open(task);
  ASSERT_TRUE(group.ok()) << Message(group.status());
  TaskReading reading;
  EXPECT_TRUE((*group)->Read(ReadDepth::kAll, reading).ok());
  EXPECT_TRUE(reading.cpu_usage_us.has_value());
  EXPECT_TRUE(reading.memory_working_set_bytes.has_value());
  EXPECT_THAT((*group)->ReadLimits()->memory_max_bytes, Optional(256 * kMiB));
  EXPECT_THAT((*group)->SetLimit(LimitKind::kMemoryMax, 128 * kMiB).code(), absl::StatusCode::kOk);
  EXPECT_THAT((*group)->SetLimit(LimitKind::kCpuMax, 0.5).code(), absl::StatusCode::kOk);
  EXPECT_THAT((*group)->SetLimit(LimitKind::kCpuWeight, 300).code(), absl::StatusCode::kOk);
  EXPECT_THAT((*group)->ReadLimits()->cpu_max_cores, Optional(0.5));

  // The owner may still set another limit.
  EXPECT_TRUE(Service::Run(
      StrCat("systemctl set-property --runtime '", prefix, "@blue\\x2dgreen.service' MemoryMax=192M")));
  EXPECT_THAT((*group)->ReadLimits()->memory_max_bytes, Optional(192 * kMiB));

  // A reload of the units keeps limits that systemd knows, and resets others to the unit's own values.
  EXPECT_EQ((*group)->SetLimit(LimitKind::kMemoryMax, 128 * kMiB), absl::OkStatus());
  EXPECT_TRUE(Service::Run("systemctl daemon-reload"));
  EXPECT_THAT((*group)->ReadLimits()->memory_max_bytes, Optional(192 * kMiB));
  finder->UseSystemd(ConnectToSystemd());
  group = finder->Open(task);
  ASSERT_TRUE(group.ok()) << Message(group.status());
  for (const auto& [kind, value] : {std::pair(LimitKind::kMemoryMax, 128.0 * kMiB),
                                    {LimitKind::kCpuMax, 0.5},
                                    {LimitKind::kCpuWeight, 300.0},
                                    {LimitKind::kMemoryLow, 1.0 * kMiB}}) {
    EXPECT_EQ((*group)->SetLimit(kind, value), absl::OkStatus());
    EXPECT_FALSE((*group)->MayBeReset(kind)) << Name(kind) << ": systemd accepts the property";
  }
  EXPECT_TRUE(Service::Run("systemctl daemon-reload"));
  EXPECT_THAT((*group)->ReadLimits()->memory_max_bytes, Optional(128 * kMiB));
  EXPECT_THAT((*group)->ReadLimits()->cpu_max_cores, Optional(0.5));
  EXPECT_THAT((*group)->ReadLimits()->cpu_weight, Optional(300));
  EXPECT_THAT((*group)->ReadLimits()->memory_low_bytes, Optional(1 * kMiB));
  EXPECT_EQ((*group)->SetLimit(LimitKind::kCpuMax, std::nullopt), absl::OkStatus());
  EXPECT_TRUE(Service::Run("systemctl daemon-reload"));
  EXPECT_EQ((*group)->ReadLimits()->cpu_max_cores, std::nullopt);

  EXPECT_EQ(ConnectToSystemd()->Set("systemd-journald.service", LimitKind::kCpuWeight, 100).code(),
            absl::StatusCode::kFailedPrecondition)
      << "a unit with a file keeps its properties";

  service.Stop();
  EXPECT_TRUE(Eventually([&] { return absl::IsNotFound((*group)->Read(ReadDepth::kUsage, reading)); }));
  const absl::StatusOr<std::vector<FoundTask>> after = finder->Find();
  ASSERT_TRUE(after.ok());
  EXPECT_THAT(*after, SizeIs(0));
}

}  // namespace
}  // namespace taut::node
