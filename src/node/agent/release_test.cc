#include "node/agent/release.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "common/base/byte_units.h"
#include "node/agent/in_memory_tasks.h"

namespace taut::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class ReleaseTest : public ::testing::Test {
 protected:
  // Adds a task that had `owner` before the agent set `set`.
  InMemoryTask& Changed(const std::string& name, std::optional<double> owner, double set) {
    InMemoryTask& task = tasks_.Add("shop/web", name);
    task.limits.memory_max_bytes = set;
    ledger_.Note(task.found, LimitKind::kMemoryMax, owner, set);
    return task;
  }
  std::vector<Released> Run() {
    std::vector<TaskFinder*> finders = {&other_, &tasks_};
    return Release(ledger_, finders, processes_);
  }

  InMemoryTasks tasks_, other_;
  InMemoryProcesses processes_;
  Ledger ledger_ = *Ledger::Open("");
};

TEST_F(ReleaseTest, GivesBackWhatTheOwnerHad) {
  InMemoryTask& a = Changed("a", std::nullopt, 64 * kMiB);
  InMemoryTask& b = Changed("b", 256 * kMiB, 64 * kMiB);
  b.limits.cpu_max_cores = 0.5;
  ledger_.Note(b.found, LimitKind::kCpuMax, 2.0, 0.5);
  const std::vector<Released> out = Run();
  ASSERT_EQ(out.size(), 3U);
  for (const Released& r : out) EXPECT_TRUE(r.ok) << r.text;
  EXPECT_EQ(out[0].text, "memory.max 67108864 -> none");
  EXPECT_EQ(out[0].task, "a");
  EXPECT_THAT(a.writes, ElementsAre(Pair(LimitKind::kMemoryMax, std::nullopt)));
  EXPECT_EQ(b.limits.memory_max_bytes, 256 * kMiB);
  EXPECT_EQ(b.limits.cpu_max_cores, 2.0);
  EXPECT_TRUE(ledger_.entries().empty());
}

TEST_F(ReleaseTest, WhatSomebodyElseSetSinceStays) {
  InMemoryTask& a = Changed("a", std::nullopt, 64 * kMiB);
  a.limits.memory_max_bytes = 128 * kMiB;
  const std::vector<Released> out = Run();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(out[0].ok);
  EXPECT_THAT(out[0].text, HasSubstr("another program"));
  EXPECT_TRUE(a.writes.empty());
  EXPECT_TRUE(ledger_.entries().empty());
}

TEST_F(ReleaseTest, WhatIsTheOwnersAlreadyNeedsNothing) {
  InMemoryTask& a = Changed("a", 64 * kMiB, 128 * kMiB);
  a.limits.memory_max_bytes = 64 * kMiB;
  EXPECT_TRUE(Run().empty());
  EXPECT_TRUE(a.writes.empty());
  EXPECT_TRUE(ledger_.entries().empty());
}

TEST_F(ReleaseTest, WhatIsNearlyTheOwnersIsGivenBackExactly) {
  InMemoryTask& a = Changed("a", 256 * kMiB, 256 * kMiB);
  a.limits.cpu_max_cores = 0.9975;
  ledger_.Note(a.found, LimitKind::kCpuMax, 1.0, 0.9975);
  const std::vector<Released> out = Run();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out[0].text, "cpu.max 0.9975 -> 1");
  EXPECT_THAT(a.writes, ElementsAre(Pair(LimitKind::kCpuMax, 1.0)));
}

TEST_F(ReleaseTest, WhatIsGoneNeedsNothing) {
  const std::string identity = Changed("a", std::nullopt, 64 * kMiB).found.identity;
  tasks_.Remove(identity);
  const std::vector<Released> out = Run();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(out[0].ok);
  EXPECT_EQ(out[0].text, "is gone");
  EXPECT_TRUE(ledger_.entries().empty());
}

TEST_F(ReleaseTest, WhatCannotBeWrittenStaysForAnotherTry) {
  InMemoryTask& a = Changed("a", std::nullopt, 64 * kMiB);
  InMemoryTask& b = Changed("b", std::nullopt, 64 * kMiB);
  a.set_error = absl::UnavailableError("the engine is away");
  std::vector<Released> out = Run();
  ASSERT_EQ(out.size(), 2U);
  EXPECT_FALSE(out[0].ok);
  EXPECT_THAT(out[0].text, HasSubstr("the engine is away"));
  EXPECT_TRUE(out[1].ok);
  EXPECT_EQ(b.limits.memory_max_bytes, std::nullopt);
  EXPECT_NE(ledger_.Find(a.found.identity), nullptr);
  EXPECT_EQ(ledger_.Find(b.found.identity), nullptr);
  a.set_error = absl::OkStatus();
  out = Run();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(out[0].ok);
  EXPECT_EQ(a.limits.memory_max_bytes, std::nullopt);
}

// Every task with a limit of the agent is released, even if the rules have changed since the limit was set.
TEST_F(ReleaseTest, ATaskThatNoRuleFindsAnyMoreIsReleasedToo) {
  InMemoryTask& a = Changed("a", std::nullopt, 64 * kMiB);
  a.found_by_rule = false;
  const std::vector<Released> out = Run();
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(out[0].ok) << out[0].text;
  EXPECT_EQ(a.limits.memory_max_bytes, std::nullopt);
}

TEST_F(ReleaseTest, AFinderThatCannotLookDoesNotHinder) {
  InMemoryTask& a = Changed("a", std::nullopt, 64 * kMiB);
  tasks_.find_error = other_.find_error = absl::UnavailableError("not now");
  EXPECT_EQ(Run().size(), 1U);
  EXPECT_EQ(a.limits.memory_max_bytes, std::nullopt);
}

// A finder that recognises its identities, but cannot open the tasks now.
class AwayFinder final : public TaskFinder {
 public:
  std::string_view name() const override { return "docker"; }
  absl::StatusOr<std::vector<FoundTask>> Find() override { return std::vector<FoundTask>(); }
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) override {
    if (!task.identity.starts_with("docker:")) return absl::InvalidArgumentError("is no container");
    return absl::UnavailableError("the engine is away");
  }
};

TEST_F(ReleaseTest, NotKnownIsNotGone) {
  InMemoryTask& a = Changed("a", std::nullopt, 64 * kMiB);
  FoundTask container;
  container.identity = "docker:12";
  container.job = "shop/db";
  container.task = "db-0";
  ledger_.Note(container, LimitKind::kMemoryMax, std::nullopt, 1.0);
  AwayFinder docker;
  std::vector<TaskFinder*> finders = {&docker, &tasks_};
  const std::vector<Released> out = Release(ledger_, finders, processes_);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_FALSE(out[0].ok);
  EXPECT_EQ(out[0].task, "db-0");
  EXPECT_EQ(out[0].text, "the engine is away");
  EXPECT_NE(ledger_.Find("docker:12"), nullptr);
  EXPECT_EQ(a.limits.memory_max_bytes, std::nullopt);
}

// An agent without rules for containers has no finder that opens "docker:...".
class GroupsOnly final : public TaskFinder {
 public:
  std::string_view name() const override { return "cgroup"; }
  absl::StatusOr<std::vector<FoundTask>> Find() override { return std::vector<FoundTask>(); }
  absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& /*task*/) override {
    return absl::InvalidArgumentError("no cgroup");
  }
};

TEST_F(ReleaseTest, AContainerWithoutARuleForContainersIsNotGone) {
  FoundTask container;
  container.identity = "docker:12";
  container.job = "shop/db";
  container.task = "db-0";
  ledger_.Note(container, LimitKind::kMemoryMax, std::nullopt, 1.0);
  GroupsOnly groups;
  std::vector<TaskFinder*> finders = {&groups};
  EXPECT_EQ(WhereIs("docker:12", *ledger_.Find("docker:12"), finders), Whereabouts::kNotKnown);
  const std::vector<Released> out = Release(ledger_, finders, processes_);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_FALSE(out[0].ok);
  EXPECT_NE(ledger_.Find("docker:12"), nullptr);
}

TEST(ReleaseLedger, SaysIfWhatIsLeftCannotBeSaved) {
  InMemoryTasks tasks;
  InMemoryTask& a = tasks.Add("j", "a");
  a.limits.memory_max_bytes = 64 * kMiB;
  Ledger ledger = *Ledger::Open("/tmp/no-such-directory-of-tautlet/ledger");
  ledger.Note(a.found, LimitKind::kMemoryMax, std::nullopt, 64 * kMiB);
  std::vector<TaskFinder*> finders = {&tasks};
  InMemoryProcesses processes;
  const std::vector<Released> out = Release(ledger, finders, processes);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_TRUE(out[0].ok);
  EXPECT_FALSE(out[1].ok);
  EXPECT_THAT(out[1].text, HasSubstr("no-such-directory"));
}

}  // namespace
}  // namespace taut::node
