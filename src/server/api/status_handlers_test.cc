// Tests the routes for the daemon's own state: status, health, agents and metrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/cell_api_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class StatusHandlers : public CellApi {
 protected:
  StatusHandlers() {
    parts_.about = {.version = "1.2.3",
                    .store_text = "SQLite, /secret/path",
                    .config_file = "",
                    .cell_name = "west <1>",
                    .cell_links = {{"east", "https://east/?a=\"b\""}},
                    .started_s = 1'700'000'000};
    Serve();
  }
};

TEST_F(StatusHandlers, BeforeTheFirstWindowThereAreNoTimes) {
  const ApiAnswer status = Get("/api/v1/status");
  ASSERT_EQ(status.status, 200);
  EXPECT_EQ(status["version"].text(), "1.2.3");
  EXPECT_EQ(status["started"].whole(), 1'700'000'000);
  EXPECT_EQ(status["store"].text(), "SQLite, /secret/path");
  EXPECT_EQ(status["cell"]["name"].text(), "west <1>");
  EXPECT_EQ(ItemsIn(status["cell"]["links"])[0]["url"].text(), "https://east/?a=\"b\"");
  for (const std::string_view key :
       {"last_window_end", "first_window_closes", "last_pass", "nodes", "backfill", "backfill_error"})
    EXPECT_TRUE(status[key].is_null()) << key;
  for (const std::string_view key : {"quota", "bills", "businesses"})
    EXPECT_EQ(status[key].flag(), false) << key;
  EXPECT_EQ(status["agents"]["enabled"].flag(), false);
  EXPECT_EQ(status["jobs"]["known"].whole(), 0);
  EXPECT_FALSE(status["late_jobs"]) << "no history is read late";
  EXPECT_EQ(status["clock"].text(), "wall");
  EXPECT_EQ(status["actuator"].text(), "dry_run");
}

TEST_F(StatusHandlers, AfterAWindowThePassIsTimed) {
  Close(TwoTeams());
  const ApiAnswer status = Get("/api/v1/status");
  EXPECT_EQ(status["last_window_end"].whole(), now_s_);
  EXPECT_EQ(status["last_pass"]["window_end"].whole(), now_s_);
  EXPECT_EQ(status["last_pass"]["jobs"].whole(), 3);
  EXPECT_EQ(status["jobs"]["known"].whole(), 3);
  EXPECT_EQ(status["ready"].flag(), true);
  EXPECT_THAT(ItemsIn(status["warnings"]), IsEmpty());
  ExpectRefused(400, {"/api/v1/status?x=1", "/api/v1/agents?limit=1"});
}

TEST_F(StatusHandlers, ACallerOfAGroupLearnsNothingOfTheMachine) {
  Close(TwoTeams());
  const ApiAnswer status = Get("/api/v1/status", In("shop", GroupRole::kMember));
  ASSERT_EQ(status.status, 200);
  EXPECT_EQ(status["version"].text(), "1.2.3");
  EXPECT_EQ(status["last_window_end"].whole(), now_s_);
  EXPECT_THAT(status.body, AllOf(Not(HasSubstr("secret")), Not(HasSubstr("https://east"))));
  EXPECT_EQ(status["store"].text(), "");
  EXPECT_THAT(ItemsIn(status["warnings"]), IsEmpty());
  for (const std::string_view key : {"nodes", "last_pass", "backfill", "backfill_error"})
    EXPECT_TRUE(status[key].is_null()) << key;
  EXPECT_EQ(status["caller"]["role"].text(), "group");
  EXPECT_EQ(ItemsIn(status["caller"]["groups"])[0]["group"].text(), "shop");
  EXPECT_EQ(ItemsIn(status["caller"]["groups"])[0]["as"].text(), "member");
}

TEST_F(StatusHandlers, ACallerIsToldWhatItMayDo) {
  const auto may = [&](HttpRequest caller) {
    return TextsIn(Get("/api/v1/status", std::move(caller))["caller"]["may"]);
  };
  EXPECT_THAT(may(Caller(Role::kReader)),
              ElementsAre("look", "see_jobs", "see_quota", "see_money", "see_platform"));
  EXPECT_EQ(may(Caller(Role::kOperator)).size(), static_cast<size_t>(kNumActs));
  EXPECT_THAT(may(Caller(Role::kPlatform)), AllOf(Contains("grant_money"), Not(Contains("set_jobs"))));
  EXPECT_THAT(may(In("shop", GroupRole::kMember)),
              ElementsAre("look", "see_jobs", "see_quota", "make_requests"));
  EXPECT_THAT(may(In("shop", GroupRole::kBudgetHolder)), Contains("move_money"));
  EXPECT_THAT(may(Caller(Role::kGroup)), ElementsAre("look"));
  HttpRequest session = Caller(Role::kReader, "<b>\"anna\"");
  session.by_session = true;
  session.valid_until_s = 1'800'000'000;
  const ApiAnswer of_session = Get("/api/v1/status", session);
  const JsonNode caller = of_session["caller"];
  EXPECT_EQ(caller["user"].text(), "<b>\"anna\"");
  EXPECT_EQ(caller["session"].flag(), true);
  EXPECT_EQ(caller["valid_until"].whole(), 1'800'000'000);
  EXPECT_TRUE(Get("/api/v1/status")["caller"]["valid_until"].is_null());
}

TEST_F(StatusHandlers, HealthNeedsNoRoleAndReadinessNoMore) {
  const HttpRequest nobody = Caller(Role::kNone);
  EXPECT_EQ(Handle(nobody, "GET", "/healthz").body, "ok\n");
  const HttpResponse ready = Handle(nobody, "GET", "/readyz");
  EXPECT_EQ(ready.status, control_.status().ready().ok() ? 200 : 503);
  Close(TwoTeams());
  EXPECT_EQ(Handle(nobody, "GET", "/readyz").status, 200);
  EXPECT_THAT(Handle(nobody, "GET", "/readyz").body, Not(HasSubstr("secret")));
}

TEST_F(StatusHandlers, WithoutAgentsTheListIsEmptyAndDisabled) {
  const ApiAnswer agents = Get("/api/v1/agents", Caller(Role::kReader));
  EXPECT_EQ(agents["enabled"].flag(), false);
  EXPECT_THAT(ItemsIn(agents["agents"]), IsEmpty());
  EXPECT_EQ(Get("/api/v1/agents", In("shop", GroupRole::kOwner)).status, 403);
}

TEST_F(StatusHandlers, AClockThatDoesNotWaitIsNotConfirmed) {
  EXPECT_EQ(Ask(Caller(Role::kOperator), "POST", "/api/v1/clock/confirm").status, 409);
  EXPECT_EQ(Ask(Caller(Role::kOperator), "POST", "/api/v1/clock/confirm?force=true").status, 400);
  EXPECT_EQ(Ask(Caller(Role::kPlatform), "POST", "/api/v1/clock/confirm").status, 403);
  EXPECT_EQ(Get("/api/v1/clock/confirm").status, 405);
}

TEST_F(StatusHandlers, MetricsAreTextOfTheComponents) {
  const HttpResponse none = Handle(Caller(Role::kReader), "GET", "/metrics");
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(none.body, "");
  EXPECT_THAT(none.content_type, HasSubstr("version=0.0.4"));
  EXPECT_EQ(Get("/metrics", In("shop", GroupRole::kOwner)).status, 403);
}

TEST_F(StatusHandlers, PartsThatAreNotConfiguredSaySo) {
  for (const char* path : {"/api/v1/quota", "/api/v1/requests", "/api/v1/requests/1",
                           "/api/v1/admission?group=a", "/api/v1/capacity", "/api/v1/businesses",
                           "/api/v1/budget-ledger", "/api/v1/bills", "/api/v1/machines/m1"}) {
    const ApiAnswer answer = Get(path);
    EXPECT_EQ(answer.status, 404) << path;
    EXPECT_THAT(std::string(answer["error"].text().value_or("")), Not(IsEmpty())) << path;
  }
  EXPECT_EQ(Ask(Caller(Role::kOperator), "POST", "/api/v1/requests", "{}").status, 404);
  EXPECT_EQ(Ask(Caller(Role::kOperator), "DELETE", "/api/v1/requests/1").status, 404);
  EXPECT_EQ(Ask(Caller(Role::kOperator), "POST", "/api/v1/budget-ledger", "{}").status, 404);
  const ApiAnswer machines = Get("/api/v1/machines");
  EXPECT_EQ(machines.status, 200) << "a list is empty rather than missing";
  EXPECT_EQ(machines["enabled"].flag(), false);
  EXPECT_EQ(machines["total"].whole(), 0);
  EXPECT_TRUE(machines["window_end"].is_null());
}

TEST_F(StatusHandlers, PromisesBeforeAnyWindowHaveNoEnd) {
  EXPECT_TRUE(Get("/api/v1/promises")["window_end"].is_null());
  Close(TwoTeams());
  EXPECT_EQ(Get("/api/v1/promises")["window_end"].whole(), now_s_);
  EXPECT_EQ(Get("/api/v1/promises?days=3").status, 400);
  EXPECT_EQ(Get("/api/v1/promises", In("shop", GroupRole::kOwner)).status, 403);
}

}  // namespace
}  // namespace taut::server
