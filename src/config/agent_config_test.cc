#include "config/agent_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace taut {
namespace {

using testing::HasSubstr;

TEST(AgentConfig, ReadsRulesAndSettings) {
  const absl::StatusOr<AgentConfig> config = ParseAgentConfig(R"(
observe: true
sample_ms: 500
daemon: {address: "127.0.0.1:7071", queue: 1MiB}
limits: {shrink_share: 0.5, margin: 8MiB}
tasks:
  - {name: apps, cgroup: "/apps/*", job: "apps/{1}", manage: true, cpu: hard, memory: soft, memory_upper: 1GiB}
  - {systemd: "*.service", cpu: none}
  - docker: "*"
    cpu_lower: 0.5
)",
                                                              "f");
  ASSERT_TRUE(config.ok()) << Message(config.status());
  EXPECT_TRUE(config->observe);
  EXPECT_EQ(config->sample_ms, 500);
  EXPECT_EQ(config->queue_bytes, size_t{1} << 20);
  EXPECT_EQ(config->moves.shrink_share, 0.5);
  EXPECT_EQ(config->moves.margin_bytes, 8.0 * (1 << 20));
  ASSERT_EQ(config->tasks.size(), 3U);
  const TaskRule& apps = config->tasks[0];
  EXPECT_EQ(apps.match, "/apps/*");
  EXPECT_EQ(apps.job, "apps/{1}");
  EXPECT_TRUE(apps.manage);
  EXPECT_EQ(apps.cpu, CpuStyle::kHard);
  EXPECT_EQ(apps.memory, MemoryStyle::kSoft);
  EXPECT_EQ(apps.memory_upper, 1024.0 * (1 << 20));
  EXPECT_EQ(config->tasks[1].source, TaskSource::kSystemd);
  EXPECT_EQ(config->tasks[1].cpu, CpuStyle::kNone);
  EXPECT_FALSE(config->tasks[1].manage) << "nothing is touched unless it is said";
  EXPECT_EQ(config->tasks[2].cpu_lower, 0.5);
}

TEST(AgentConfig, AnEmptyFileMeasuresNothingAndTouchesNothing) {
  const absl::StatusOr<AgentConfig> config = ParseAgentConfig("", "f");
  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(config->tasks.empty());
  EXPECT_EQ(config->daemon_address, "");
}

TEST(AgentConfig, RefusesNonsenseWithItsPlace) {
  const auto error = [](const char* yaml) {
    return std::string(Message(ParseAgentConfig(yaml, "f").status()));
  };
  EXPECT_EQ(error("observ: true"), "f:1: unknown key \"observ\"; did you mean \"observe\"?");
  EXPECT_THAT(error("sample_ms: 1"), HasSubstr("f:1: sample_ms: 1 is outside 10 .. 60000"));
  EXPECT_THAT(error("tasks:\n  - {cgroup: apps}"),
              HasSubstr("f:2: cgroup: must be a path that begins with /"));
  EXPECT_THAT(error("tasks:\n  - {cgroup: /a, docker: b}"), HasSubstr("one of cgroup, systemd and docker"));
  EXPECT_THAT(error("tasks:\n  - {job: x}"), HasSubstr("one of cgroup, systemd and docker"));
  EXPECT_THAT(error("tasks:\n  - {docker: x, cpu: loud}"),
              HasSubstr("\"loud\": expected none, soft or hard"));
  EXPECT_THAT(error("tasks:\n  - {docker: x, job: 'a{'}"), HasSubstr("a '{' without its '}'"));
  EXPECT_THAT(error("tasks:\n  - {docker: x, cpu_upper: -1}"), HasSubstr("is not a number of cores"));
  EXPECT_THAT(error("tasks:\n  - {docker: x, memory_lower: 2GiB, memory_upper: 1GiB}"),
              HasSubstr("memory_lower is above memory_upper"));
  EXPECT_THAT(error("tasks:\n  - {docker: x, jb: y}"),
              HasSubstr("unknown key \"jb\"; did you mean \"job\"?"));
  EXPECT_THAT(error("daemon: {certificate: a.pem}"), HasSubstr("must be set together"));
  EXPECT_THAT(error("state: ''"), HasSubstr("state is empty"));
  EXPECT_THAT(error("tasks: 3"), HasSubstr("tasks must be a list"));
}

}  // namespace
}  // namespace taut
