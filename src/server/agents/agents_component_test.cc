// Tests the daemon's agents as a component: the port, other tokens after a reload, and a stop.
#include "server/agents/agents_component.h"

#include <gmock/gmock.h>

#include "server/agents/wire_fixture.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kToken = "token-of-agents-with-32-letters-1",
                           kOtherToken = "token-of-agents-with-32-letters-2";

class AgentsComponentTest : public ComponentTest {
 protected:
  AgentsComponentTest() {
    config_.agents.listen = {"127.0.0.1:0"};
    config_.agents.tokens_file = dir_.Write("tokens", StrCat(kToken, "\n"));
  }
  void Start() {
    run_ = std::make_unique<AgentsComponent>(
        AgentsComponent::Options{
            .config = config_.agents, .apply = true, .elsewhere = {}, .own_machine = "", .pods = {}},
        context_);
    absl::StatusOr<std::unique_ptr<Actuator>> hub = run_->MakeActuator();
    ASSERT_TRUE(hub.ok()) << hub.status();
    hub_ = *std::move(hub);
    ASSERT_EQ(run_->Start(), absl::OkStatus());
  }
  std::unique_ptr<node::Uplink> Connect(std::string_view token) {
    node::UplinkOptions options = To(LoggedPort());
    options.token = token;
    absl::StatusOr<std::unique_ptr<node::Uplink>> uplink = node::ConnectUplink(options);
    EXPECT_TRUE(uplink.ok()) << uplink.status();
    return uplink.ok() ? *std::move(uplink) : nullptr;
  }
  bool IsConnected() const {
    const std::vector<AgentView> agents = run_->hub()->Agents().known;
    return agents.size() == 1 && agents[0].connected;
  }
  // Runs one pass of the loop, which processes messages of agents.
  void Pass() {
    run_->BeforePass();
    run_->AfterPass(control_.Tick(now()).ok());
  }
  bool BecomesConnected() {
    return Eventually([&] {
      Pass();
      return IsConnected();
    });
  }

  std::unique_ptr<Actuator> hub_;
  std::unique_ptr<AgentsComponent> run_;
};

TEST_F(AgentsComponentTest, AnAgentConnectsAndAStopEndsItsStream) {
  Start();
  EXPECT_EQ(Logged("listening for agents on port "), 1);
  const auto uplink = Connect(kToken);
  ASSERT_TRUE(BecomesConnected());
  EXPECT_THAT(MetricsOf(*run_), HasSubstr("tautd_agents{state=\"connected\"} 1\n"));
  run_->Stop();
  EXPECT_TRUE(Eventually([&] { return !uplink->status().connected; }));
  EXPECT_THAT(MetricsOf(*run_), HasSubstr("tautd_agents{state=")) << "what is known outlives the port";
  run_->Stop();  // a second call of Stop
}

TEST_F(AgentsComponentTest, AReloadTakesOtherTokensAndOpensThePortAnew) {
  Start();
  const auto uplink = Connect(kToken);
  ASSERT_TRUE(BecomesConnected());
  EXPECT_THAT(Reload(*run_, config_), ElementsAre("tokens and certificates of agents"));
  EXPECT_EQ(Logged("agents_port_reopened"), 0) << "nothing has changed";
  dir_.Write("tokens", StrCat(kOtherToken, "\n"));
  EXPECT_THAT(Reload(*run_, config_), ElementsAre("tokens and certificates of agents"));
  EXPECT_EQ(Logged("agents_port_reopened"), 1);
  EXPECT_TRUE(Eventually([&] {
    const node::UplinkStatus status = uplink->status();
    return !status.connected && status.error.find("authentication required") != std::string::npos;
  })) << uplink->status().error;
  const auto other = Connect(kOtherToken);
  EXPECT_TRUE(BecomesConnected());
}

TEST_F(AgentsComponentTest, AFileThatIsMissingKeepsThePort) {
  Start();
  const auto uplink = Connect(kToken);
  ASSERT_TRUE(BecomesConnected());
  DaemonConfig next = config_;
  next.agents.tokens_file = dir_.File("missing");
  EXPECT_THAT(Reload(*run_, next), IsEmpty());
  EXPECT_EQ(Logged("reload_failed what=\"tokens and certificates of agents\""), 1);
  EXPECT_EQ(Logged("restart_needed"), 0) << "a reload of another file takes it";
  Pass();
  EXPECT_TRUE(IsConnected());
}

TEST_F(AgentsComponentTest, APortForStrangersIsRefused) {
  config_.agents = {};
  config_.agents.listen = {"0.0.0.0:0"};
  AgentsComponent run(
      {.config = config_.agents, .apply = false, .elsewhere = {}, .own_machine = "", .pods = {}}, context_);
  const auto hub = run.MakeActuator();
  EXPECT_TRUE(absl::IsInvalidArgument(run.Start()));
  run.Stop();  // a call without an open port
}

}  // namespace
}  // namespace taut::server
