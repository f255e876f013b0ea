// Tests the control of throttling by the agent: when it moves a limit, and what restores the ordered limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/agent/agent_fixture.h"

namespace taut::node {
namespace {

namespace pb = taut::agent::v1;
using ::testing::HasSubstr;

class AgentThrottle : public ::testing::Test {
 protected:
  void SetUp() override {
    cell_.uplink.said.connected = true;
    cell_.Start();
    task_ = &cell_.Add("shop/web", "a", 50 * kMiB, 0.3);
    task_->limits.cpu_max_cores = 4;
    Control();
    cell_.Run(10);
    cell_.Order(*task_, Resource::kCpu, 1.0, 7);
    cell_.Run(1);
    ASSERT_EQ(task_->limits.cpu_max_cores, 1.0);
  }
  pb::Terms& Control() {
    pb::Terms& terms = cell_.Terms("shop/web", true);
    terms.mutable_throttle_control()->set_target(0.05);
    terms.mutable_throttle_control()->set_low(0.7);
    terms.mutable_throttle_control()->set_high(2);
    return terms;
  }
  // Runs `seconds` in which 4 of 10 periods are throttled.
  void Throttled(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      *task_->reading.cpu_throttled_periods += 4;
      cell_.Run(1);
    }
  }
  // Brings the limit above the ordered one.
  void Raise() {
    cell_.Run(12);  // the first full reading begins the control
    Throttled(4);
    ASSERT_GT(*task_->limits.cpu_max_cores, 1.3);
  }
  double limit() const { return task_->limits.cpu_max_cores.value_or(0); }

  AgentCell cell_;
  InMemoryTask* task_ = nullptr;
};

TEST_F(AgentThrottle, ALimitRisesWithinSecondsAndStaysBelowItsUpperBound) {
  Raise();
  Throttled(60);
  EXPECT_EQ(limit(), 2);
  EXPECT_EQ(cell_.agent->counts().local_raises, 0U)
      << "the raise by a quarter is not made beside the control";
  task_->limits.cpu_max_cores = 2;
  cell_.Run(3600);
  EXPECT_NEAR(limit(), 0.7, 1e-9) << "and falls to its lower bound without throttling";
}

TEST_F(AgentThrottle, TheOwnersAndTheJobsBoundsApply) {
  pb::Terms& terms = Control();
  terms.set_cpu_upper_cores(1.5);
  terms.mutable_throttle_control()->set_lower_cores(0.9);
  cell_.Run(12);
  Throttled(60);
  EXPECT_EQ(limit(), 1.5);
  cell_.Run(3600);
  EXPECT_NEAR(limit(), 0.9, 1e-9);
}

TEST_F(AgentThrottle, ANewOrderIsInForceAtOnceAndItsRangeFollows) {
  Raise();
  cell_.Order(*task_, Resource::kCpu, 0.5, 8);
  cell_.Run(1);
  EXPECT_EQ(limit(), 0.5);
  EXPECT_EQ(cell_.LastOutcome(8)->result(), pb::Outcome::APPLIED);
  EXPECT_EQ(cell_.LastOutcome(8)->limit(), 0.5);
  Throttled(60);
  EXPECT_EQ(limit(), 1) << "twice the new order";
}

TEST_F(AgentThrottle, ARepeatedOrderReportsTheLimitInForce) {
  Raise();
  const double raised = limit();
  cell_.Order(*task_, Resource::kCpu, 1.0, 9);
  cell_.Run(1);
  EXPECT_EQ(limit(), raised);
  EXPECT_EQ(cell_.LastOutcome(9)->limit(), raised);
  EXPECT_THAT(cell_.LastOutcome(9)->text(), HasSubstr("cpu.throttle_target"));
}

TEST_F(AgentThrottle, WindowsReportTheLimitInForceAsNotSteady) {
  Raise();
  const double raised = limit();
  Throttled(1);
  cell_.Run(29);
  for (int i = 0; i < 300 && cell_.uplink.Windows().empty(); ++i) cell_.Run(1);
  ASSERT_FALSE(cell_.uplink.Windows().empty());
  const pb::TaskWindow window = cell_.uplink.Windows().back().tasks(0);
  EXPECT_FALSE(window.cpu_limit_steady());
  EXPECT_NE(window.cpu_limit_cores(), static_cast<float>(raised));
  EXPECT_GT(window.cpu_limit_cores(), 0.69F);
}

TEST_F(AgentThrottle, TheOrderedLimitReturnsWhenTheControlEnds) {
  const auto ends = [&](const std::string& by, const std::function<void()>& end) {
    Raise();
    end();
    cell_.Run(1);
    EXPECT_EQ(limit(), 1) << by;
    cell_.uplink.said.connected = true;
    Control();
    cell_.Run(1);
  };
  ends("lost connection", [&] { cell_.uplink.said.connected = false; });
  ends("setting off", [&] {
    cell_.Terms("shop/web", true);
    cell_.Run(1);
  });
  ends("mode off", [&] {
    cell_.Terms("shop/web", false);
    cell_.Run(1);
  });
  ends("no periods", [&] {
    task_->reading.cpu_periods.reset();
    cell_.agent->Sample(cell_.now);
    task_->reading.cpu_periods = 0;
    cell_.Terms("shop/web", true);
    cell_.Run(1);
  });
  Raise();
  cell_.agent->Stop(cell_.now);
  EXPECT_EQ(limit(), 1) << "stop";
}

TEST_F(AgentThrottle, AnotherProgramsLimitStays) {
  Raise();
  task_->limits.cpu_max_cores = 1.2;
  Throttled(60);
  EXPECT_EQ(limit(), 1.2);
  EXPECT_EQ(cell_.agent->counts().foreign_changes, 1U);
}

TEST_F(AgentThrottle, TheOwnersLimitReturnsByAnOrder) {
  Raise();
  cell_.Order(*task_, Resource::kCpu, std::nullopt, 8);
  cell_.Run(1);
  EXPECT_EQ(limit(), 4);
  Throttled(60);
  EXPECT_EQ(limit(), 4);
}

TEST_F(AgentThrottle, ARestartedTaskBeginsAtTheOrderedLimit) {
  Raise();
  cell_.Remove(*task_);
  cell_.Run(1);
  task_ = &cell_.Add("shop/web", "a", 50 * kMiB, 0.3, "second run");
  task_->limits.cpu_max_cores = 4;
  cell_.Run(6);
  EXPECT_EQ(limit(), 1);
}

TEST_F(AgentThrottle, ARestartedAgentKeepsTheLimitAndFollowsTheNextOrder) {
  Raise();
  const double raised = limit();
  cell_.Start();
  cell_.Run(10);
  EXPECT_EQ(limit(), raised) << "not taken for the owner's";
  cell_.Order(*task_, Resource::kCpu, 1.0, 7);
  cell_.Run(1);
  EXPECT_EQ(limit(), 1);
  cell_.Order(*task_, Resource::kCpu, std::nullopt, 8);
  cell_.Run(1);
  EXPECT_EQ(limit(), 4);
}

}  // namespace
}  // namespace taut::node
