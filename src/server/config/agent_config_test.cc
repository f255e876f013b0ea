#include "server/config/agent_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

TEST(AgentConfig, ReadsRulesAndSettings) {
  const absl::StatusOr<AgentConfig> config = ParseAgentConfig(R"(
observe: true
sample: 500ms
daemon: {address: "127.0.0.1:7071", queue: 1MiB}
limits: {shrink_share: 0.5, margin: 8MiB}
tasks:
  - {name: apps, cgroup: "/apps/*", job: "apps/{1}", manage: true, cpu: hard, memory: soft, memory_upper: 1GiB}
  - {systemd: "*.service", cpu: none, pods: true}
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
  const node::TaskRule& apps = config->tasks[0];
  EXPECT_EQ(apps.match, "/apps/*");
  EXPECT_EQ(apps.job, "apps/{1}");
  EXPECT_TRUE(apps.manage);
  EXPECT_EQ(apps.cpu, node::CpuStyle::kHard);
  EXPECT_EQ(apps.memory, node::MemoryStyle::kSoft);
  EXPECT_EQ(apps.memory_upper, 1024.0 * (1 << 20));
  EXPECT_EQ(config->tasks[1].source, node::TaskSource::kSystemd);
  EXPECT_EQ(config->tasks[1].cpu, node::CpuStyle::kNone);
  EXPECT_TRUE(config->tasks[1].pods);
  EXPECT_FALSE(apps.pods);
  EXPECT_FALSE(config->tasks[1].manage) << "nothing is touched unless it is said";
  EXPECT_EQ(config->tasks[2].cpu_lower, 0.5);
}

TEST(AgentConfig, ReadsTiers) {
  const absl::StatusOr<AgentConfig> config = ParseAgentConfig(R"(
tiers:
  default: mid
  cpu_weight: {production: 500, batch: 20}
  protect: {production: low}
  guard: {throttle: true, kill: true, of: /batch.slice, kill_share: 0.08, after: 3s, pressure_full: 0}
  rules:
    - {job: "batch/*", tier: batch, memory_request: 64MiB}
    - {label: "app=crawl*", tier: free}
tasks:
  - {cgroup: "/a/*", job: "batch/{1}", tier: production, memory_request: 1GiB}
)",
                                                              "f");
  ASSERT_TRUE(config.ok()) << Message(config.status());
  const node::TierOptions& tiers = config->tiers;
  EXPECT_EQ(tiers.cpu_weight, (node::ByTier<int>{0, 20, 0, 500, 0}));
  EXPECT_EQ(tiers.protect[3], node::MemoryProtection::kLow);
  EXPECT_TRUE(tiers.guard.throttle && tiers.guard.kill);
  EXPECT_EQ(tiers.guard_of, "/batch.slice");
  EXPECT_EQ(tiers.guard.kill_below.share, 0.08);
  EXPECT_EQ(tiers.guard.after_us, 3'000'000);
  EXPECT_EQ(tiers.guard.ahead_us, 1'000'000);
  EXPECT_TRUE(tiers.scores());
  EXPECT_EQ(tiers.oom_score_adj, (node::ByTier<int>{1000, 800, 300, -800, -900}));
  node::FoundTask task;
  task.job = "batch/x";
  EXPECT_EQ(TierOf(tiers, task, config->tasks[0]).tier, Tier::kBatch) << "before the task's own rule";
  EXPECT_EQ(TierOf(tiers, task, config->tasks[0]).memory_request, 64.0 * (1 << 20));
  task.job = "web";
  EXPECT_EQ(TierOf(tiers, task, config->tasks[0]).tier, Tier::kProduction);
  EXPECT_EQ(TierOf(tiers, task, config->tasks[0]).memory_request, 1024.0 * (1 << 20));
  EXPECT_EQ(TierOf(tiers, task, {}).tier, Tier::kMid);
  task.labels = {{"app", "crawler"}};
  EXPECT_EQ(TierOf(tiers, task, config->tasks[0]).tier, Tier::kFree);
  EXPECT_EQ(TierOf(tiers, task, config->tasks[0]).memory_request, 1024.0 * (1 << 20)) << "it says none";
}

TEST(AgentConfig, RefusesNonsenseOfTiers) {
  const auto error = [](const char* yaml) {
    return std::string(Message(ParseAgentConfig(yaml, "f").status()));
  };
  EXPECT_THAT(
      error("tiers: {default: gold}"),
      HasSubstr("f:1: tiers.default: \"gold\": expected one of free, batch, mid, production, monitor"));
  EXPECT_THAT(error("tiers: {guard: {of: batch}}"), HasSubstr("expected a path of a cgroup below /"));
  EXPECT_THAT(error("tiers: {guard: {of: /}}"), HasSubstr("expected a path of a cgroup below /"));
  EXPECT_THAT(error("tiers: {oom_score_adj: {production: 400}}"),
              HasSubstr("expected monitoring <= production <= mid <= batch <= free"));
  EXPECT_THAT(error("tiers: {oom_score_adj: {production: -1000}}"),
              HasSubstr("tiers.oom_score_adj.production"));
  EXPECT_THAT(error("tiers: {guard: {kill_share: 0.5}}"), HasSubstr("expected throttle_share >= kill_share"));
  EXPECT_THAT(error("tiers: {rules: [{tier: batch}]}"), HasSubstr("f:1: expected job or label"));
  EXPECT_THAT(error("tiers: {rules: [{job: a}]}"), HasSubstr("expected tier or memory_request"));
  EXPECT_THAT(error("tiers: {rules: [{label: a, tier: mid}]}"), HasSubstr("expected KEY=PATTERN"));
  EXPECT_THAT(error("tiers: {rules: [{job: a, teer: mid}]}"), HasSubstr("did you mean \"tier\"?"));
  EXPECT_THAT(error("tasks: [{cgroup: /a, tier: low}]"), HasSubstr("\"low\": expected one of"));
  EXPECT_FALSE(ParseAgentConfig("", "f")->tiers.guards()) << "off unless configured";
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
  EXPECT_THAT(error("sample: 1ms"), HasSubstr("f:1: sample: 1ms is outside 10ms .. 1m"));
  EXPECT_THAT(error("tasks:\n  - {cgroup: apps}"),
              HasSubstr("f:2: cgroup: must be a path that begins with /"));
  EXPECT_THAT(error("tasks:\n  - {cgroup: /a, docker: b}"), HasSubstr("one of cgroup, systemd and docker"));
  EXPECT_THAT(error("tasks:\n  - {job: x}"), HasSubstr("one of cgroup, systemd and docker"));
  EXPECT_THAT(error("tasks:\n  - {docker: x, pods: true}"), HasSubstr("pods: expected a rule with cgroup"));
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

TEST(AgentConfig, TheProbeHasSenpaisFiguresUnlessItSaysOthers) {
  const auto off = ParseAgentConfig("", "f");
  ASSERT_TRUE(off.ok());
  EXPECT_FALSE(off->probe.is_on());
  const auto config = ParseAgentConfig(R"(
probe:
  tiers: [batch, free]
  jobs: "shop/*"
  interval: 12s
  min: 50MiB
)",
                                       "f");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->probe.is_on());
  EXPECT_EQ(config->probe.tiers, (std::array<bool, kTiers>{true, true, false, false, false}));
  EXPECT_EQ(config->probe.jobs, "shop/*");
  const node::ProbeOptions& probe = config->probe.options;
  EXPECT_EQ(probe.interval_us, 12'000'000);
  EXPECT_EQ(probe.target_us, 10'000);
  EXPECT_EQ(probe.max_probe, 0.01);
  EXPECT_EQ(probe.max_backoff, 1);
  EXPECT_EQ(probe.coeff_probe, 10);
  EXPECT_EQ(probe.coeff_backoff, 20);
  EXPECT_EQ(probe.min_bytes, 50 * (1 << 20));
  EXPECT_EQ(probe.max_bytes, 100.0 * (1 << 30));
}

TEST(AgentConfig, AProbeThatCannotBeIsNamed) {
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"probe: {tiers: [prod]}", "probe.tiers: \"prod\": expected free, batch"},
           {"probe: {jobs: x, min: 2GiB, max: 1GiB}", "probe.min is above probe.max"},
           {"sample: 10s\nprobe: {jobs: x}", "expected an interval of at least two samples"},
           {"probe: {jobs: x, max_probe: 0.9}", "probe.max_probe"},
           {"probe: {job: x}", "probe.jobs"}}) {
    const auto config = ParseAgentConfig(text, "f");
    ASSERT_FALSE(config.ok()) << text;
    EXPECT_THAT(std::string(config.status().message()), ::testing::HasSubstr(says));
  }
}

// Parses a file of an earlier version, with units in keys.
TEST(AgentSettings, OldKeysAreReadWithANoticeEach) {
  const absl::StatusOr<AgentConfig> config =
      ParseAgentConfig("sample_ms: 200\ntiers: {guard: {ahead_ms: 500}}\nprobe: {target_us: 30000}\n", "f");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->sample_ms, 200);
  EXPECT_EQ(config->guard_ahead_ms, 500);
  EXPECT_EQ(config->probe.options.target_us, 30'000);
  EXPECT_THAT(config->notices,
              testing::ElementsAre(
                  "f:1: sample_ms is now sample; write sample: 200ms",
                  "f:2: tiers.guard.ahead_ms is now tiers.guard.ahead; write tiers.guard.ahead: 500ms",
                  "f:3: probe.target_us is now probe.target; write probe.target: 30ms"));
}

}  // namespace
}  // namespace taut::server
