// Tests the routes for the fleet, for its jobs as a list and in groups, and for its history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/cell_api_fixture.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class FleetHandlers : public CellApi {
 protected:
  std::vector<std::string> Names(std::string_view query, HttpRequest caller = Caller(Role::kReader)) const {
    const ApiAnswer answer = Get(StrCat("/api/v1/jobs", query), std::move(caller));
    EXPECT_EQ(answer.status, 200) << query << answer.body;
    return TextsIn(answer["jobs"], "name");
  }
};

TEST_F(FleetHandlers, AnEmptyFleetHasNoTimeAndNoAmounts) {
  const ApiAnswer jobs = Get("/api/v1/jobs?totals=true");
  EXPECT_EQ(jobs["total"].whole(), 0);
  EXPECT_THAT(ItemsIn(jobs["jobs"]), IsEmpty());
  EXPECT_EQ(jobs["totals"]["jobs"].whole(), 0);
  EXPECT_TRUE(jobs["totals"]["cpu"]["chance"].is_null()) << "no forecast is not 0";
  const ApiAnswer fleet = Get("/api/v1/fleet");
  EXPECT_EQ(fleet.status, 200);
  EXPECT_TRUE(fleet["time"].is_null());
  EXPECT_EQ(fleet["jobs"].whole(), 0);
  for (const std::string_view key : {"owner_limit", "limit", "would_be", "slack", "saved", "would_save"})
    EXPECT_TRUE(fleet["memory"][key].is_null()) << key;
  EXPECT_EQ(Get("/api/v1/totals?by=team").status, 200) << "no job yet: no label is wrong";
  EXPECT_THAT(ItemsIn(Get("/api/v1/fleet/history")["time"]), IsEmpty());
}

TEST_F(FleetHandlers, SumsAreOverAllTasksAndOnlyOverKnownLimits) {
  Close(TwoTeams());
  const ApiAnswer fleet = Get("/api/v1/fleet");
  EXPECT_EQ(fleet["time"].whole(), now_s_);
  EXPECT_EQ(fleet["jobs"].whole(), 3);
  EXPECT_EQ(fleet["tasks"].whole(), 5);
  EXPECT_EQ(fleet["machine"]["cores"].number(), 8);
  EXPECT_EQ(fleet["machine"]["bytes"].number(), 32e9);
  EXPECT_EQ(fleet["cpu"]["usage"].number(), 3 * 2 + 0.5 + 3);
  EXPECT_EQ(fleet["cpu"]["owner_limit"].number(), 3 * 4 + 4) << "shop/db has no CPU limit";
  EXPECT_EQ(fleet["cpu"]["usage_limited"].number(), 3 * 2 + 3);
  EXPECT_EQ(fleet["cpu"]["slack"].number(), 16 - 9);
  EXPECT_EQ(fleet["memory"]["usage"].number(), 3 * 4e9 + 1e9 + 1e9);
  EXPECT_EQ(fleet["memory"]["owner_limit"].number(), 10e9);
  EXPECT_EQ(fleet["memory"]["saved"].number(), 0);
  EXPECT_EQ(fleet["jobs_by_mode"]["observe"].whole(), 3);
  EXPECT_EQ(fleet["jobs_by_mode"]["auto"].whole(), 0);
  EXPECT_EQ(fleet["oom_kills_day"].whole(), 0);
  EXPECT_EQ(fleet["actuator"].text(), "dry_run");
  EXPECT_FALSE(fleet["saving_per_month"]) << "no prices";
  ExpectRefused(400, {"/api/v1/fleet?limit=1"});
}

TEST_F(FleetHandlers, ACallerOfAGroupSeesItsJobsOnly) {
  Close(TwoTeams());
  const HttpRequest mia = In("shop", GroupRole::kMember);
  const ApiAnswer fleet = Get("/api/v1/fleet", mia);
  EXPECT_EQ(fleet["jobs"].whole(), 2);
  EXPECT_EQ(fleet["tasks"].whole(), 4);
  EXPECT_EQ(fleet["cpu"]["usage"].number(), 6.5);
  EXPECT_EQ(fleet["memory"]["owner_limit"].number(), 8e9);
  EXPECT_TRUE(fleet["oom_kills_day"].is_null()) << "counts of the whole fleet";
  EXPECT_TRUE(fleet["changes_day"].is_null());
  EXPECT_THAT(Names("?sort=name&order=asc", mia), ElementsAre("shop/db", "shop/web"));
  EXPECT_THAT(Names("?search=media", mia), IsEmpty());
  EXPECT_THAT(Names("", In("nowhere", GroupRole::kOwner)), IsEmpty());
  EXPECT_EQ(Get("/api/v1/jobs?search=encode", mia)["total"].whole(), 0);
  const ApiAnswer totals = Get("/api/v1/totals?by=team", mia);
  EXPECT_THAT(TextsIn(totals["groups"], "value"), ElementsAre("shop"));
  EXPECT_EQ(Get("/api/v1/fleet/history", mia).status, 403);
}

TEST_F(FleetHandlers, AJobOfItsFirstWindowHasUsageAndNoRecommendation) {
  Close(TwoTeams());
  const ApiAnswer answer = Get("/api/v1/jobs?search=shop/db");
  const std::vector<JsonNode> jobs = ItemsIn(answer["jobs"]);
  ASSERT_THAT(jobs, SizeIs(1));
  const JsonNode db = jobs[0];
  EXPECT_EQ(db["tasks"].whole(), 1);
  EXPECT_EQ(db["mode"].text(), "observe");
  EXPECT_EQ(db["last_seen"].whole(), now_s_);
  EXPECT_TRUE(db["last_change"].is_null());
  EXPECT_EQ(db["cpu"]["usage"].number(), 0.5);
  EXPECT_EQ(db["memory"]["owner_limit"].number(), 8e9);
  EXPECT_EQ(db["memory"]["limit"].number(), 8e9);
  for (const std::string_view key :
       {"owner_limit", "limit", "would_be", "saving", "ordered", "applied", "request"})
    EXPECT_TRUE(db["cpu"][key].is_null()) << key;
  EXPECT_TRUE(db["memory"]["would_be"].is_null());
  EXPECT_TRUE(db["tasks_would_be"].is_null());
  EXPECT_TRUE(db["throttled_share"].is_null());
  EXPECT_TRUE(db["workload"].is_null()) << "an agent's template made the name";
  EXPECT_FALSE(db["saving_per_month"]) << "no prices";
}

TEST_F(FleetHandlers, AListIsSearchedByNameAndLabelAndSorted) {
  Close(TwoTeams());
  EXPECT_THAT(Names("?sort=name&order=asc"), ElementsAre("media/encode", "shop/db", "shop/web"));
  EXPECT_THAT(Names("?sort=name"), ElementsAre("shop/web", "shop/db", "media/encode"));
  EXPECT_THAT(Names("?sort=tasks&order=desc&limit=1"), ElementsAre("shop/web"));
  EXPECT_THAT(Names("?sort=cpu_usage"), ElementsAre("shop/web", "media/encode", "shop/db"));
  EXPECT_THAT(Names("?sort=memory_owner_limit&order=asc"), ElementsAre("media/encode", "shop/db", "shop/web"))
      << "a job without a limit comes last";
  EXPECT_THAT(Names("?search=team%3Dmedia"), ElementsAre("media/encode"));
  EXPECT_THAT(Names("?search=SHOP%20db"), ElementsAre("shop/db"));
  EXPECT_THAT(Names("?search=%3Cscript%3E%22%00"), IsEmpty());
  EXPECT_THAT(Names("?mode=observe&search=web"), ElementsAre("shop/web"));
  EXPECT_THAT(Names("?mode=auto"), IsEmpty());
}

TEST_F(FleetHandlers, PagesAreCutFromTheWholeList) {
  Close(TwoTeams());
  const ApiAnswer second = Get("/api/v1/jobs?sort=name&order=asc&offset=1&limit=1&totals=true");
  EXPECT_EQ(second["total"].whole(), 3);
  EXPECT_EQ(second["offset"].whole(), 1);
  EXPECT_THAT(TextsIn(second["jobs"], "name"), ElementsAre("shop/db"));
  EXPECT_EQ(second["totals"]["jobs"].whole(), 3) << "totals are of all pages";
  EXPECT_EQ(second["totals"]["tasks"].whole(), 5);
  EXPECT_EQ(second["totals"]["cpu"]["usage"].number(), 9.5);
  EXPECT_EQ(second["totals"]["memory"]["owner_limit"].number(), 10e9);
  const ApiAnswer beyond = Get("/api/v1/jobs?offset=2147483647");
  EXPECT_EQ(beyond["total"].whole(), 3);
  EXPECT_THAT(ItemsIn(beyond["jobs"]), IsEmpty());
  EXPECT_FALSE(Get("/api/v1/jobs?totals=false")["totals"]);
}

TEST_F(FleetHandlers, WhatAListCannotDoIsRefused) {
  Close(TwoTeams());
  ExpectRefused(400,
                {"/api/v1/jobs?sort=color", "/api/v1/jobs?sort=usage", "/api/v1/jobs?order=up",
                 "/api/v1/jobs?mode=AUTO", "/api/v1/jobs?limit=0", "/api/v1/jobs?limit=-1",
                 "/api/v1/jobs?limit=NaN", "/api/v1/jobs?limit=1001", "/api/v1/jobs?offset=-1",
                 "/api/v1/jobs?totals=maybe", "/api/v1/jobs?page=2", "/api/v1/jobs?sort=saving_per_month",
                 "/api/v1/totals", "/api/v1/totals?by=", "/api/v1/totals?by=team&mode=fast",
                 "/api/v1/totals?by=team&limit=0", "/api/v1/totals?by=team&sort=name"});
  ExpectRefused(404, {"/api/v1/totals?by=planet", "/api/v1/totals?by=%3Csvg%3E"});
}

TEST_F(FleetHandlers, AHostileNameIsTextOfTheAnswer) {
  const std::string name = R"(x"></script><b onload='a()'>\ünïcode)";
  Close({{.name = name, .team = R"(a"b<i>)"}});
  const ApiAnswer jobs = Get("/api/v1/jobs");
  EXPECT_THAT(TextsIn(jobs["jobs"], "name"), ElementsAre(name));
  EXPECT_THAT(TextsIn(Get("/api/v1/totals?by=team")["groups"], "value"), ElementsAre(R"(a"b<i>)"));
  const ApiAnswer one = Get(StrCat("/api/v1/jobs/", PercentEncode(name)));
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one["labels"]["team"].text(), R"(a"b<i>)");
  HttpRequest controls = Caller(Role::kReader);
  controls.method = "GET";
  controls.path = "/api/v1/jobs/x";
  controls.segments = {"api", "v1", "jobs", "x\x1b\"\n"};
  const ApiAnswer none = AnswerIn(router_->Handle(controls));
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(std::string(none["error"].text().value_or("\n")),
              AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\n"))));
}

TEST_F(FleetHandlers, MoneyIsForThoseWhoMaySeeIt) {
  prices_ = {{0.04, 0.005}, "EUR"};
  Serve();
  Close(TwoTeams());
  for (const HttpRequest& rich : {Caller(Role::kReader), In("shop", GroupRole::kOwner)}) {
    const ApiAnswer jobs = Get("/api/v1/jobs?sort=saving_per_month", rich);
    EXPECT_EQ(jobs["currency"].text(), "EUR");
    EXPECT_TRUE(ItemsIn(jobs["jobs"])[0]["saving_per_month"].is_null()) << "unknown, not 0";
    EXPECT_EQ(Get("/api/v1/fleet", rich)["saving_per_month"]["currency"].text(), "EUR");
    EXPECT_EQ(Get("/api/v1/totals?by=team", rich)["currency"].text(), "EUR");
  }
  const HttpRequest member = In("shop", GroupRole::kMember);
  EXPECT_EQ(Get("/api/v1/jobs?sort=saving_per_month", member).status, 400);
  for (const std::string_view path : {"/api/v1/jobs", "/api/v1/fleet", "/api/v1/totals?by=team"}) {
    const ApiAnswer answer = Get(path, member);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_THAT(answer.body, AllOf(Not(HasSubstr("EUR")), Not(HasSubstr("saving_per_month")))) << path;
  }
}

TEST_F(FleetHandlers, GroupsOfAPropertyAreInItsOrderAndTheUnknownOneIsLast) {
  Close(TwoTeams());
  const ApiAnswer sizes = Get("/api/v1/totals?by=:cpu_size");
  const std::vector<JsonNode> groups = ItemsIn(sizes["groups"]);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(sizes["total"].whole(), 2);
  EXPECT_EQ(groups[0]["value"].text(), "4 to 16 cores");
  EXPECT_EQ(groups[0]["jobs"].whole(), 2);
  EXPECT_EQ(groups[0]["cpu"]["owner_limit"].number(), 16);
  EXPECT_TRUE(groups[1]["value"].is_null()) << "neither a limit nor a recommendation";
  EXPECT_EQ(groups[1]["cpu"]["usage"].number(), 0.5);
  const ApiAnswer cut = Get("/api/v1/totals?by=team&limit=1&search=shop");
  EXPECT_EQ(cut["total"].whole(), 1);
  EXPECT_EQ(ItemsIn(cut["groups"])[0]["tasks"].whole(), 4);
  EXPECT_THAT(TextsIn(Get("/api/v1/totals?by=:tasks")["groups"], "value"),
              ElementsAre("1 task", "2 to 9 tasks"));
}

TEST_F(FleetHandlers, AJobThatIsGoneIsNotMeasured) {
  Close(TwoTeams());
  std::vector<Job> left = TwoTeams();
  left.pop_back();
  Close(left);
  const ApiAnswer jobs = Get("/api/v1/jobs?totals=true");
  EXPECT_EQ(jobs["total"].whole(), 3);
  EXPECT_EQ(jobs["totals"]["not_measured"].whole(), 1);
  EXPECT_EQ(jobs["totals"]["cpu"]["usage"].number(), 6.5);
  EXPECT_EQ(Get("/api/v1/fleet")["jobs"].whole(), 2);
}

TEST_F(FleetHandlers, HistoryIsThinnedAndKeepsItsEvents) {
  const WindowId first = WindowId::Of(now());
  for (int w = 0; w < 10; ++w) {
    OwnedPass pass;
    pass.fleet.emplace();
    pass.fleet->window = WindowId{first.index + w};
    pass.fleet->jobs = static_cast<uint32_t>(w);
    pass.fleet->oom_kills = 1;
    pass.fleet->changes = 2;
    pass.fleet->amounts[0] = {.usage = 1.0 + w, .jobs = 1};
    EXPECT_TRUE(store_.Commit(pass.View()).ok());
  }
  const std::string span = StrCat("from=", first.start_s(), "&to=", first.start_s() + 10 * kWindowSeconds);
  const auto column = [&](const ApiAnswer& answer, std::string_view key) {
    std::vector<double> out;
    for (const JsonNode n : ItemsIn(answer[key])) out.push_back(n.number().value_or(-1));
    return out;
  };
  const ApiAnswer all = Get(StrCat("/api/v1/fleet/history?", span));
  EXPECT_EQ(column(all, "time").size(), 10U);
  EXPECT_EQ(column(all, "time").front(), first.next().start_s()) << "the end of the window";
  const ApiAnswer thin = Get(StrCat("/api/v1/fleet/history?points=3&", span));
  EXPECT_THAT(column(thin, "jobs"), ElementsAre(3, 7, 9));
  EXPECT_THAT(column(thin, "oom_kills"), ElementsAre(4, 4, 2)) << "no event is lost";
  EXPECT_THAT(column(thin, "changes"), ElementsAre(8, 8, 4));
  EXPECT_EQ(ItemsIn(thin["cpu"]["usage"])[2].number(), 10);
  EXPECT_TRUE(ItemsIn(thin["memory"]["usage"])[0].is_null());
  EXPECT_TRUE(ItemsIn(thin["cpu"]["owner_limit"])[0].is_null());
  const ApiAnswer none = Get(StrCat("/api/v1/fleet/history?from=5&to=10"));
  EXPECT_THAT(ItemsIn(none["time"]), IsEmpty());
  ExpectRefused(400, {"/api/v1/fleet/history?points=0", "/api/v1/fleet/history?points=5001",
                      "/api/v1/fleet/history?from=2&to=1", "/api/v1/fleet/history?to=soon",
                      "/api/v1/fleet/history?limit=3"});
}

}  // namespace
}  // namespace taut::server
