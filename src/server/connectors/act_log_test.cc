// Tests of log lines and notifications about the daemon's actions and observations, each of which appears once.
#include "server/connectors/act_log.h"

#include <gmock/gmock.h>

#include <mutex>

#include "common/net/http_server.h"
#include "server/control/component_fixture.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

AgentView AgentOf(std::string name, bool connected) {
  AgentView out;
  out.name = std::move(name);
  out.host = "host-7";
  out.connected = connected;
  return out;
}

class ActLogTest : public ComponentTest {
 protected:
  // Sends the log's notifications to a server of the test.
  void ServeNotifications() {
    auto server = HttpServer::Start({}, [this](const HttpRequest& request) {
      const std::lock_guard lock(mutex_);
      bodies_.push_back(request.body);
      return TextResponse(200, "");
    });
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    options_.config.url = StrCat("http://127.0.0.1:", server_->port(), "/notices");
  }
  std::vector<std::string> Bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

  ActLog::Options options_;
  std::mutex mutex_;
  std::vector<std::string> bodies_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(ActLogTest, AnEventThatIsNoneEndsTheStartWithTheNearestOne) {
  options_.config.events = {"oom_kil"};
  EXPECT_THAT(Message(ActLog(options_, context_).Start()),
              AllOf(HasSubstr("invalid notify.events \"oom_kil\""), HasSubstr("did you mean \"oom_kill\"?")));
  options_.config = {};
  options_.config.secret_file = dir_.File("missing");
  EXPECT_FALSE(ActLog(options_, context_).Start().ok());
}

TEST_F(ActLogTest, AStoreThatFailsIsToldOnceAndItsRecoveryToo) {
  ServeNotifications();
  options_.cell = "west";
  ActLog log(options_, context_);
  ASSERT_EQ(log.Start(), absl::OkStatus());
  log.Tick(Turn(1));
  log.Tick(Turn(2, absl::UnavailableError("the disk is full")));
  log.Tick(Turn(3, absl::UnavailableError("the disk is full")));
  log.Tick(Turn(4, absl::UnavailableError("the disk is gone")));
  log.Tick(Turn(5));
  EXPECT_THAT(log_.lines(), ElementsAre("store_not_ready error=\"the disk is full\"",
                                        "store_not_ready error=\"the disk is gone\"", "store_ready"));
  ASSERT_TRUE(Eventually([&] { return Bodies().size() == 2; })) << "another reason is no other event";
  EXPECT_THAT(Bodies()[0],
              AllOf(HasSubstr(R"("cell":"west","left_out":0)"), HasSubstr(R"("event":"store_not_ready")"),
                    HasSubstr("the store failed: the disk is full")));
  EXPECT_THAT(Bodies()[1], HasSubstr(R"("event":"store_ready")"));
  EXPECT_TRUE(Eventually(
      [&] { return MetricsOf(log).find("tautd_notifications_delivered_total 2\n") != std::string::npos; }));
}

TEST_F(ActLogTest, AgentsAreLookedAtEachSecondAndSaidWhenTheyComeAndGo) {
  std::vector<AgentView> agents = {AgentOf("a", true), AgentOf("b", false)};
  int asked = 0;
  options_.agents = [&] {
    ++asked;
    return agents;
  };
  ServeNotifications();
  ActLog log(options_, context_);
  ASSERT_EQ(log.Start(), absl::OkStatus());
  log.Tick(Turn(1));
  EXPECT_EQ(Logged("agent_connected agent=a host=host-7"), 1);
  EXPECT_EQ(Logged("agent=b"), 0) << "of before a restart";
  log.Tick(Turn(1.5));
  EXPECT_EQ(asked, 1);
  agents[0].connected = false;
  agents[1].connected = true;
  log.Tick(Turn(2.1));
  EXPECT_EQ(Logged("agent_disconnected agent=a"), 1);
  EXPECT_EQ(Logged("agent_connected agent=b"), 1);
  log.Tick(Turn(3.2));
  EXPECT_EQ(log_.lines().size(), 3U);
  // By default, agent_connected causes no notification.
  ASSERT_TRUE(Eventually([&] { return Bodies().size() == 1; }));
  EXPECT_THAT(Bodies()[0], HasSubstr("agent a on host-7 disconnected"));
}

TEST_F(ActLogTest, BudgetsAreAskedForEveryHour) {
  int asked = 0;
  options_.budgets = [&] {
    ++asked;
    BudgetNotice notice;
    notice.budget = "team=shop";
    notice.share = 0.8;
    notice.state.budget = 500;
    notice.state.currency = "EUR";
    notice.state.spent = 412.3;
    return std::vector{notice};
  };
  ActLog log(options_, context_);
  ASSERT_EQ(log.Start(), absl::OkStatus());
  log.Tick(Turn(1));
  EXPECT_EQ(asked, 0);
  LoopTurn hour = Turn(2);
  hour.new_hour = true;
  log.Tick(hour);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(Logged("budget_share budget=\"team=shop\""), 1);
  EXPECT_EQ(Logged("80 % of the month's budget of 500.00 EUR are spent (412.30 EUR)"), 1);
  EXPECT_THAT(MetricsOf(log), IsEmpty()) << "nothing is notified";
}

TEST_F(ActLogTest, AReceiverThatIsAwayHoldsNothingUp) {
  options_.config.url = "http://127.0.0.1:1/notices";
  ActLog log(options_, context_);
  ASSERT_EQ(log.Start(), absl::OkStatus());
  log.Tick(Turn(1, absl::UnavailableError("the disk is full")));
  EXPECT_TRUE(Eventually([&] {
    const std::string metrics = MetricsOf(log);
    return metrics.find("tautd_notification_retries_total 1\n") != std::string::npos &&
           metrics.find("tautd_notifications_queued 1\n") != std::string::npos;
  }));
}

TEST_F(ActLogTest, EachDecisionIsALine) {
  ControlCell cell(20);
  context_.control = &cell.control();
  options_.config.events = {"limit_lowered", "setting_changed"};
  ServeNotifications();
  ActLog log(options_, context_);
  ASSERT_EQ(log.Start(), absl::OkStatus());
  ASSERT_TRUE(cell.Live(0, 150).ok());
  size_t acted = 0;
  for (const Decision& d : cell.told()) acted += RowOf(d.kind).action.empty() ? 0 : 1;
  ASSERT_GT(acted, 0U);
  EXPECT_EQ(Logged("dry_run_limit_"), static_cast<int>(acted)) << "of a dry run, which applies nothing";
  EXPECT_EQ(Logged("actuator=dry_run"), static_cast<int>(acted));
  const std::optional<JobId> job = cell.told().front().job;
  ASSERT_TRUE(SetOne(cell.control(), *job, "mode", "off", "anna").ok());
  ASSERT_TRUE(cell.Live(150, 151).ok());
  EXPECT_EQ(Logged("setting_changed"), 1);
  EXPECT_EQ(Logged("key=mode from=auto to=off who=anna") + Logged("key=mode from=\"\" to=off who=anna"), 1);
  ASSERT_TRUE(Eventually(
      [&] { return !Bodies().empty() && Bodies().back().find("setting_changed") != std::string::npos; }));
}

}  // namespace
}  // namespace taut::server
