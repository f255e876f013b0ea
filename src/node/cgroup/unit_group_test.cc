// Tests that limits of units are set in the kernel and as properties.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "node/agent/in_memory_tasks.h"
#include "node/cgroup/unit_properties.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::Optional;

class ScriptedProperties final : public UnitProperties {
 public:
  absl::Status Set(const std::string& unit, LimitKind kind, std::optional<double> value) override {
    if (error.ok()) calls.emplace_back(unit, kind, value);
    return error;
  }
  absl::Status error;
  std::vector<std::tuple<std::string, LimitKind, std::optional<double>>> calls;
};

TEST(SystemUnit, IsTheLastDirectoryOfThePath) {
  EXPECT_THAT(SystemUnitAt("/system.slice/web.service"), Optional(std::string("web.service")));
  EXPECT_THAT(SystemUnitAt("/a.slice/_cpu.service"), Optional(std::string("cpu.service")));
  EXPECT_EQ(SystemUnitAt("/system.slice/web.service/worker"), std::nullopt);
  EXPECT_EQ(SystemUnitAt("/user.slice/user-7.slice/user@7.service/app.slice/x.service"), std::nullopt);
}

class UnitGroupTest : public ::testing::Test {
 protected:
  std::unique_ptr<TaskGroup> Open(std::optional<std::string> unit) {
    return WithProperties(*tasks_.Open(task_.found), std::move(unit), systemd_);
  }

  InMemoryTasks tasks_;
  InMemoryTask& task_ = tasks_.Add("a", "b");
  std::shared_ptr<ScriptedProperties> systemd_ = std::make_shared<ScriptedProperties>();
};

TEST_F(UnitGroupTest, TellsSystemdTheKernelsValue) {
  task_.least_cores = 0.1;
  const auto group = Open("web.service");
  EXPECT_TRUE(group->MayBeReset(LimitKind::kCpuMax));
  EXPECT_TRUE(group->SetLimit(LimitKind::kCpuMax, 0.01).ok());
  EXPECT_THAT(systemd_->calls, ElementsAre(FieldsAre("web.service", LimitKind::kCpuMax, Optional(0.1))));
  EXPECT_FALSE(group->MayBeReset(LimitKind::kCpuMax));
  EXPECT_TRUE(group->MayBeReset(LimitKind::kMemoryMax));
}

TEST_F(UnitGroupTest, WhatTheKernelRefusesIsNotTold) {
  task_.set_error = absl::ResourceExhaustedError("in use");
  const auto group = Open("web.service");
  EXPECT_EQ(group->SetLimit(LimitKind::kMemoryMax, 1e6).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(systemd_->calls.empty());
}

TEST_F(UnitGroupTest, AnErrorOfSystemdLeavesTheKernelsLimit) {
  systemd_->error = absl::UnavailableError("away");
  const auto group = Open("web.service");
  EXPECT_TRUE(group->SetLimit(LimitKind::kCpuMax, 0.5).ok());
  EXPECT_EQ(task_.limits.cpu_max_cores, 0.5);
  EXPECT_TRUE(group->MayBeReset(LimitKind::kCpuMax));
  systemd_->error = absl::OkStatus();
  EXPECT_TRUE(group->SetLimit(LimitKind::kCpuMax, 0.6).ok());
  EXPECT_FALSE(group->MayBeReset(LimitKind::kCpuMax));
}

TEST_F(UnitGroupTest, AUsersUnitHasNoProperties) {
  const auto group = Open(std::nullopt);
  EXPECT_TRUE(group->SetLimit(LimitKind::kCpuMax, 0.5).ok());
  EXPECT_TRUE(group->MayBeReset(LimitKind::kCpuMax));
  EXPECT_TRUE(systemd_->calls.empty());
}

}  // namespace
}  // namespace taut::node
