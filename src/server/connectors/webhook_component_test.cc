// Tests of the webhook as a component: an unreachable endpoint, an endpoint that recovers, and a stop.
#include "server/connectors/webhook_component.h"

#include <gmock/gmock.h>

#include <mutex>

#include "common/net/http_server.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::HasSubstr;

class WebhookComponentTest : public ComponentTest {
 protected:
  std::unique_ptr<Actuator> Open(WebhookComponent& run) {
    absl::StatusOr<std::unique_ptr<Actuator>> made = run.MakeActuator();
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *std::move(made) : nullptr;
  }
  static void Order(Actuator& actuator, uint64_t decision) {
    actuator.Apply(std::vector{TargetOrder{decision, "shop/web", Resource::kMemory, 1e8, {}}}, 1);
  }

  WebhookConfig hook_{.url = "http://127.0.0.1:1/hook", .secret_file = "", .ca_file = "", .jobs = "shop/*"};
};

TEST_F(WebhookComponentTest, ClaimsItsJobsAndRefusesWhatCannotBeUsed) {
  WebhookComponent run(hook_, &store_, context_);
  const auto actuator = Open(run);
  EXPECT_TRUE(run.ClaimsMemory("shop/web"));
  EXPECT_FALSE(run.ClaimsMemory("other"));
  hook_.secret_file = dir_.File("missing");
  EXPECT_THAT(Message(WebhookComponent(hook_, &store_, context_).MakeActuator().status()),
              HasSubstr("webhook.secret_file: "));
  EXPECT_EQ(Logged("plain http"), 0);
  WebhookComponent open_to_all({.url = "http://example.com/", .secret_file = "", .ca_file = "", .jobs = ""},
                               &store_, context_);
  EXPECT_NE(Open(open_to_all), nullptr);
  EXPECT_EQ(Logged("webhook.url is plain http"), 1);
}

TEST_F(WebhookComponentTest, AnEndpointThatIsAwayIsLoggedOnceAndItsReturnToo) {
  std::atomic<bool> away{true};
  const auto server = HttpServer::Start({}, [&](const HttpRequest&) {
    return away ? TextResponse(503, "later") : JsonResponse(200, R"({"result":"applied"})");
  });
  ASSERT_TRUE(server.ok()) << server.status();
  hook_.url = StrCat("http://127.0.0.1:", (*server)->port(), "/hook");
  WebhookComponent run(hook_, &store_, context_);
  const auto actuator = Open(run);
  ASSERT_EQ(run.Start(), absl::OkStatus());
  run.Tick(Turn(1));
  EXPECT_EQ(Logged("webhook_"), 0) << "nothing was sent yet";
  Order(*actuator, 5);
  ASSERT_TRUE(Eventually([&] {
    run.Tick(Turn(2));
    return Logged("webhook_failed") > 0;
  }));
  run.Tick(Turn(3));
  EXPECT_EQ(Logged("webhook_failed"), 1);
  EXPECT_THAT(MetricsOf(run), HasSubstr("tautd_webhook_orders_waiting 1\n"));
  away = false;
  ASSERT_TRUE(Eventually([&] {
    run.Tick(Turn(4));
    return Logged("webhook_recovered") > 0;
  }));
  EXPECT_THAT(MetricsOf(run), HasSubstr("tautd_webhook_requests_total{result=\"applied\"} 1\n"));
  EXPECT_THAT(MetricsOf(run), HasSubstr("tautd_webhook_orders_waiting 0\n"));
  run.Stop();
}

TEST_F(WebhookComponentTest, OrdersOfAfterAStopAreSaved) {
  WebhookComponent run(hook_, &store_, context_);
  run.Stop();  // a call before Start()
  const auto actuator = Open(run);
  ASSERT_EQ(run.Start(), absl::OkStatus());
  run.Stop();
  const std::string before = actuator->SaveState();
  Order(*actuator, 7);
  EXPECT_THAT(MetricsOf(run), HasSubstr("tautd_webhook_orders_waiting 1\n"));
  EXPECT_GT(actuator->SaveState().size(), before.size());
}

}  // namespace
}  // namespace taut::server
