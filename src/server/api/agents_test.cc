#include "server/api/agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(AgentsTest, EveryFieldOfAnAgentIsTold) {
  AgentView a;
  a.name = "n1";
  a.host = "host-1";
  a.version = "1.0";
  a.hands = "cgroup v2";
  a.connected = a.observes = true;
  a.cores = 2;
  a.memory_bytes = 16810848256;
  a.tasks = 3;
  a.managed_tasks = 1;
  a.heard_s = 1.25;
  a.queued_bytes = 4096;
  a.dropped = 5;
  a.cpu_share = 0.0125;
  a.resident_bytes = 12345678;
  a.windows = 6;
  a.ooms = 7;
  a.applied = 8;
  a.failed = 9;
  a.not_believed = 10;
  a.failures = {{1700000000, 77, "shop/web", "web-1", Resource::kMemory, "below the minimum"}};
  const RefusedAgent refused{1700000001, "n1", "host-2", "another machine"};
  JsonWriter json;
  PutAgents({.known = {a}, .refused = {refused}}, true, json);
  EXPECT_EQ(json.Take(),
            R"({"enabled":true,"agents":[{"name":"n1","host":"host-1","version":"1.0","hands":"cgroup v2",)"
            R"("connected":true,"observes":true,"cores":2,"memory_bytes":16810848256,"tasks":3,)"
            R"("managed_tasks":1,"heard_seconds_ago":1.25,"queued_bytes":4096,"dropped_messages":5,)"
            R"("cpu_share_cores":0.0125,"resident_bytes":12345678,"windows":6,"oom_kills":7,"applied":8,)"
            R"("failed":9,"not_believed":10,"failures":[{"time":1700000000,"decision":77,"job":"shop/web",)"
            R"("task":"web-1","resource":"memory","text":"below the minimum"}]}],)"
            R"("refused":[{"time":1700000001,"name":"n1","host":"host-2","why":"another machine"}]})");
}

TEST(AgentsTest, NoAgentsAreAnEmptyList) {
  JsonWriter json;
  PutAgents({}, false, json);
  EXPECT_EQ(json.Take(), R"({"enabled":false,"agents":[],"refused":[]})");
}

}  // namespace
}  // namespace taut::server
