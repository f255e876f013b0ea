#include "server/agents/agent_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(AgentMetrics, CountsAreMetricsWithUnits) {
  AgentHubCounts counts;
  counts.agents = 3;
  counts.connected = 2;
  counts.failed = 4;
  counts.slowest_order_ms = 1500;
  MetricsText out;
  PutAgentMetrics(counts, out);
  EXPECT_THAT(out.Take(), AllOf(HasSubstr("tautd_agents{state=\"connected\"} 2\n"),
                                HasSubstr("tautd_agents{state=\"disconnected\"} 1\n"),
                                HasSubstr("tautd_agent_outcomes_total{result=\"failed\"} 4\n"),
                                HasSubstr("tautd_order_seconds{statistic=\"slowest\"} 1.5\n")));
  MetricsText none;
  PutAgentMetrics(AgentHubCounts(), none);
  EXPECT_THAT(none.Take(), Not(HasSubstr("tautd_order_seconds"))) << "no answer took no time";
}

TEST(AgentMetrics, ThePortSaysWhatItRefused) {
  AgentServerCounts counts;
  counts.connections = 9;
  counts.rejected_connections = 2;
  counts.accepted = 5;
  counts.refused = 3;
  counts.cut_off = 1;
  MetricsText out;
  PutAgentPortMetrics(counts, out);
  EXPECT_THAT(out.Take(), AllOf(HasSubstr("tautd_agent_connections_total 9\n"),
                                HasSubstr("tautd_agent_connections_refused_total 2\n"),
                                HasSubstr("tautd_agent_streams_total{result=\"accepted\"} 5\n"),
                                HasSubstr("tautd_agent_streams_total{result=\"refused\"} 3\n"),
                                HasSubstr("tautd_agent_streams_cut_off_total 1\n")));
}

}  // namespace
}  // namespace taut::server
