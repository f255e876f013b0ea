#include "node/docker/limit_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/strings.h"
#include "node/docker/container_cgroup.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kCores = 2;
constexpr std::optional<double> kNoLimit;

std::string BodyOf(const ContainerLimits& now, LimitKind kind, std::optional<double> value,
                   CgroupVersion version = CgroupVersion::kV1) {
  const auto update = PlanLimitUpdate(now, kind, value, version, kCores);
  return update.ok() ? update->body : std::string(Message(update.status()));
}

TEST(LimitUpdate, MemoryTakesItsSwapAlong) {
  const auto body = [](ContainerLimits now) { return BodyOf(now, LimitKind::kMemoryMax, 100e6); };
  EXPECT_EQ(body({.memory_bytes = 50, .memory_swap_bytes = 50}),
            R"({"Memory":100000000,"MemorySwap":100000000})");
  EXPECT_EQ(body({.memory_bytes = 50, .memory_swap_bytes = 80}),
            R"({"Memory":100000000,"MemorySwap":100000030})");
  EXPECT_EQ(body({.memory_bytes = 50, .memory_swap_bytes = -1}), R"({"Memory":100000000,"MemorySwap":-1})");
  EXPECT_EQ(body({}), R"({"Memory":100000000,"MemorySwap":-1})");
}

TEST(LimitUpdate, NoMemoryLimitIsTheKernelsWordForIt) {
  const auto body = [](ContainerLimits now) { return BodyOf(now, LimitKind::kMemoryMax, kNoLimit); };
  EXPECT_EQ(body({.memory_bytes = 8192, .memory_swap_bytes = 8192}),
            R"({"Memory":9223372036854771712,"MemorySwap":9223372036854771712})");
  EXPECT_EQ(body({.memory_bytes = 8192, .memory_swap_bytes = -1}),
            R"({"Memory":9223372036854771712,"MemorySwap":-1})");
  EXPECT_EQ(body({}), "");
  EXPECT_EQ(body({.memory_bytes = kNoMemoryLimit, .memory_swap_bytes = kNoMemoryLimit}), "");
  EXPECT_EQ(BodyOf({.memory_bytes = 8192, .memory_swap_bytes = -1}, LimitKind::kMemoryMax, 8e18),
            R"({"Memory":9223372036854771712,"MemorySwap":-1})");
}

TEST(LimitUpdate, TheAllowanceOfSwapOutlivesNoLimit) {
  const ContainerLimits limited{.memory_bytes = 64 << 20, .memory_swap_bytes = 96 << 20};
  const auto lifted = PlanLimitUpdate(limited, LimitKind::kMemoryMax, kNoLimit, CgroupVersion::kV1, kCores);
  ASSERT_TRUE(lifted.ok());
  EXPECT_FALSE(ToTaskLimits(lifted->result, kCores).memory_max_bytes.has_value());
  EXPECT_EQ(BodyOf(lifted->result, LimitKind::kMemoryMax, 64 << 20),
            R"({"Memory":67108864,"MemorySwap":100663296})");
}

TEST(LimitUpdate, CpuStaysInTheFieldThatItsOwnerChose) {
  const ContainerLimits cpus{.nano_cpus = 500'000'000},
      quota{.cpu_quota_us = 25'000, .cpu_period_us = 50'000};
  EXPECT_EQ(BodyOf(cpus, LimitKind::kCpuMax, 0.75), R"({"NanoCpus":750000000})");
  EXPECT_EQ(BodyOf(quota, LimitKind::kCpuMax, 0.75), R"({"CpuPeriod":50000,"CpuQuota":37500})");
  EXPECT_EQ(BodyOf({}, LimitKind::kCpuMax, 0.75), R"({"CpuPeriod":100000,"CpuQuota":75000})");
  // The engine refuses --cpus above the CPUs of the machine.
  EXPECT_EQ(BodyOf(cpus, LimitKind::kCpuMax, 5), R"({"NanoCpus":2000000000})");
  EXPECT_EQ(BodyOf(cpus, LimitKind::kCpuMax, kNoLimit), R"({"NanoCpus":2000000000})");
  EXPECT_EQ(BodyOf(quota, LimitKind::kCpuMax, 5), R"({"CpuPeriod":50000,"CpuQuota":250000})");
  EXPECT_EQ(BodyOf(quota, LimitKind::kCpuMax, kNoLimit), R"({"CpuQuota":-1})");
  EXPECT_EQ(BodyOf({}, LimitKind::kCpuMax, kNoLimit), "");
  // The engine also refuses less than 1 ms a period, or 0.01 of --cpus.
  EXPECT_EQ(BodyOf({.cpu_quota_us = 5'000, .cpu_period_us = 10'000}, LimitKind::kCpuMax, 0.025),
            R"({"CpuPeriod":10000,"CpuQuota":1000})");
  EXPECT_EQ(BodyOf(cpus, LimitKind::kCpuMax, 0.001), R"({"NanoCpus":10000000})");
}

TEST(LimitUpdate, WeightIsShares) {
  EXPECT_EQ(BodyOf({}, LimitKind::kCpuWeight, 1), R"({"CpuShares":2})");
  EXPECT_EQ(BodyOf({}, LimitKind::kCpuWeight, 10'000), R"({"CpuShares":262144})");
  EXPECT_EQ(BodyOf({}, LimitKind::kCpuWeight, 100), R"({"CpuShares":2598})");
  EXPECT_EQ(BodyOf({}, LimitKind::kCpuWeight, kNoLimit), "");
  EXPECT_EQ(BodyOf({.cpu_shares = 10}, LimitKind::kCpuWeight, kNoLimit), R"({"CpuShares":1024})");
  EXPECT_EQ(BodyOf({.cpu_shares = 10}, LimitKind::kCpuWeight, kNoLimit, CgroupVersion::kV2),
            R"({"CpuShares":2598})");
}

TEST(LimitUpdate, WhatIsNoLimitIsRefused) {
  for (const double value : {0.0, -1.0, std::nan(""), double{INFINITY}}) {
    for (const LimitKind kind : {LimitKind::kMemoryMax, LimitKind::kCpuMax, LimitKind::kCpuWeight}) {
      EXPECT_TRUE(
          absl::IsInvalidArgument(PlanLimitUpdate({}, kind, value, CgroupVersion::kV1, kCores).status()));
    }
  }
  const auto high = PlanLimitUpdate({}, LimitKind::kMemoryHigh, 1e9, CgroupVersion::kV2, kCores);
  EXPECT_TRUE(absl::IsUnimplemented(high.status()));
  EXPECT_THAT(std::string(Message(high.status())), HasSubstr("Docker does not support memory.high"));
}

TEST(LimitUpdate, LimitsAreReadAsPlainNumbers) {
  const TaskLimits none = ToTaskLimits({}, kCores);
  EXPECT_FALSE(none.memory_max_bytes.has_value());
  EXPECT_FALSE(none.cpu_max_cores.has_value());
  EXPECT_FALSE(none.cpu_weight.has_value());
  EXPECT_FALSE(ToTaskLimits({.nano_cpus = 2'000'000'000}, kCores).cpu_max_cores.has_value());
  EXPECT_EQ(ToTaskLimits({.nano_cpus = 1'500'000'000}, kCores).cpu_max_cores, 1.5);
  EXPECT_EQ(ToTaskLimits({.cpu_quota_us = 25'000}, kCores).cpu_max_cores, 0.25);
  EXPECT_FALSE(ToTaskLimits({.cpu_quota_us = -1}, kCores).cpu_max_cores.has_value());
  EXPECT_EQ(ToTaskLimits({.memory_bytes = 100'000'001}, kCores).memory_max_bytes, 100'000'001.0);
}

constexpr char kV1[] =
    "9:name=systemd:/docker/c8a8\n4:memory:/docker/c8a8\n2:cpu,cpuacct:/docker/c8a8\n0::/docker/c8a8\n";

TEST(ContainerCgroup, IsWhereMemoryIsCounted) {
  const auto v1 = ParseContainerCgroup(kV1, "c8a8");
  ASSERT_TRUE(v1.ok()) << v1.status();
  EXPECT_EQ(v1->path, "/docker/c8a8");
  EXPECT_EQ(v1->version, CgroupVersion::kV1);
  const auto v2 = ParseContainerCgroup("0::/system.slice/docker-c8a8.scope\n", "c8a8");
  ASSERT_TRUE(v2.ok()) << v2.status();
  EXPECT_EQ(v2->path, "/system.slice/docker-c8a8.scope");
  EXPECT_EQ(v2->version, CgroupVersion::kV2);
  // systemd inside the container has moved its process to another group.
  EXPECT_EQ(ParseContainerCgroup("0::/system.slice/docker-c8a8.scope/init.scope\n", "c8a8")->path,
            "/system.slice/docker-c8a8.scope");
  // An engine that runs inside a container.
  EXPECT_EQ(ParseContainerCgroup("0::/docker/ffff/docker/c8a8", "c8a8")->path, "/docker/ffff/docker/c8a8");
}

TEST(ContainerCgroup, OfAnotherProcessIsNotTaken) {
  for (const char* text : {"", "0::/\n", "0::/user.slice\n", "4:memory:/docker/ffff\n0::/docker/c8a8\n",
                           "nonsense", "4:memory", ":::"}) {
    EXPECT_TRUE(absl::IsNotFound(ParseContainerCgroup(text, "c8a8").status())) << text;
  }
  EXPECT_TRUE(absl::IsNotFound(ParseContainerCgroup(kV1, "").status()));
}

}  // namespace
}  // namespace taut::node
