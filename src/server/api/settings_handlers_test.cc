// Tests the routes for settings: the table, rules, changes, and settings of many jobs at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/cell_api_fixture.h"

namespace taut::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SettingsHandlers : public CellApi {
 protected:
  SettingsHandlers() { Close(TwoTeams()); }
  ApiAnswer Patch(std::string_view target, std::string body,
                  HttpRequest caller = Caller(Role::kOperator)) const {
    return Ask(std::move(caller), "PATCH", target, std::move(body));
  }
  Mode ModeOf(std::string_view job) const {
    Mode out = Mode::kOff;
    EXPECT_TRUE(control_.Look(IdOf(job), [&](const brain::LiveJob& live) { out = live.policy->mode; }));
    return out;
  }
  // Returns the row of this key of a job.
  static JsonNode Row(const ApiAnswer& settings, std::string_view key) {
    for (const JsonNode row : ItemsIn(settings["values"])) {
      if (row.Text("key") == key) return row;
    }
    return {};
  }
};

TEST_F(SettingsHandlers, TheTableHasEachKeyWithItsDefault) {
  const ApiAnswer answer = Get("/api/v1/settings");
  ASSERT_EQ(answer.status, 200);
  EXPECT_THAT(ItemsIn(answer["table"]), SizeIs(brain::JobSettingsTable().size()));
  for (const JsonNode row : ItemsIn(answer["table"])) {
    if (row.Text("key") != "mode") continue;
    EXPECT_EQ(row["default"].text(), "observe");
    EXPECT_THAT(TextsIn(row["choices"]), ElementsAre("off", "observe", "canary", "auto"));
  }
  EXPECT_THAT(ItemsIn(answer["rules"]), IsEmpty());
  EXPECT_THAT(ItemsIn(answer["changes"]), IsEmpty());
  EXPECT_TRUE(answer["config_file"].is_null());
  ExpectRefused(400, {"/api/v1/settings?job=shop/web", "/api/v1/jobs/shop%2Fweb/settings?x=1",
                      "/api/v1/recommenders?x=1"});
}

TEST_F(SettingsHandlers, RulesSayHowManyJobsTheyFitAndAreHiddenFromGroups) {
  brain::LiveSettings settings;
  settings.rules = *brain::PolicyRules::Compile({{"shops", {{"job", "shop/*"}}, {{"mode", "canary"}}},
                                                 {"nobody", {{"team", "none"}}, {{"mode", "auto"}}}},
                                                {});
  control_.Reload(settings);
  parts_.about.config_file = "/etc/tautd.yaml";
  Serve();
  const ApiAnswer all = Get("/api/v1/settings", Caller(Role::kReader));
  const std::vector<JsonNode> rules = ItemsIn(all["rules"]);
  ASSERT_THAT(rules, SizeIs(2));
  EXPECT_EQ(rules[0]["name"].text(), "shops");
  EXPECT_EQ(rules[0]["jobs"].whole(), 2);
  EXPECT_EQ(rules[0]["match"]["job"].text(), "shop/*");
  EXPECT_EQ(rules[0]["set"]["mode"].text(), "canary");
  EXPECT_EQ(rules[1]["jobs"].whole(), 0);
  EXPECT_EQ(all["config_file"].text(), "/etc/tautd.yaml");
  const ApiAnswer some = Get("/api/v1/settings", In("media", GroupRole::kOwner));
  EXPECT_EQ(some.status, 200);
  EXPECT_THAT(ItemsIn(some["rules"]), IsEmpty());
  EXPECT_TRUE(some["config_file"].is_null());
  EXPECT_EQ(Row(Get("/api/v1/jobs/shop%2Fweb/settings"), "mode")["value"].text(), "canary");
}

TEST_F(SettingsHandlers, AChangeIsRememberedWithItsAuthorAndTakenBack) {
  const ApiAnswer set = Patch("/api/v1/jobs/shop%2Fweb/settings?who=max", R"({"mode": "auto"})");
  ASSERT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(Row(set, "mode")["value"].text(), "auto");
  EXPECT_EQ(Row(set, "mode")["by_rules"].text(), "observe");
  const std::vector<JsonNode> changes = ItemsIn(set["changes"]);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0]["who"].text(), "anna (says max)");
  EXPECT_EQ(changes[0]["job"].text(), "shop/web");
  EXPECT_EQ(changes[0]["value"].text(), "auto");
  const ApiAnswer back = Patch("/api/v1/jobs/shop%2Fweb/settings", R"({"mode": ""})");
  EXPECT_EQ(Row(back, "mode")["value"].text(), "observe");
  EXPECT_THAT(TextsIn(back["changes"], "value"), ElementsAre("", "auto")) << "the newest first";
  EXPECT_THAT(TextsIn(Get("/api/v1/settings", In("shop", GroupRole::kMember))["changes"], "job"), SizeIs(2));
  EXPECT_THAT(ItemsIn(Get("/api/v1/settings", In("media", GroupRole::kOwner))["changes"]), IsEmpty());
}

TEST_F(SettingsHandlers, ABodyThatIsNoObjectOfTextsChangesNothing) {
  const std::string path = "/api/v1/jobs/shop%2Fweb/settings";
  for (const char* body :
       {"", "[]", "null", "{", "\"auto\"", R"({"mode": null})", R"({"mode": ["auto"]})",
        R"({"mode": "auto", "mod": "auto"})", R"({"mode": "AUTO"})", R"({"risk": "NaN"})",
        R"({"risk": "-1%"})", R"({"": "1"})", R"({"memory.lower": "9GiB", "memory.upper": "1GiB"})"}) {
    const ApiAnswer answer = Patch(path, body);
    EXPECT_EQ(answer.status, 400) << body << answer.body;
    EXPECT_FALSE(answer["error"].text().value_or("").empty()) << body;
  }
  EXPECT_EQ(Patch(StrCat(path, "?who=", std::string(101, 'x')), R"({"mode": "auto"})").status, 400);
  EXPECT_EQ(Patch(StrCat(path, "?who=%E2%80%AEx"), R"({"mode": "auto"})").status, 400) << "turns the text";
  EXPECT_EQ(Patch(StrCat(path, "?dry_run=true"), R"({"mode": "auto"})").status, 400);
  EXPECT_EQ(ModeOf("shop/web"), Mode::kObserve);
  const ApiAnswer nearest = Patch(path, R"({"memory.uper": "4GiB"})");
  EXPECT_THAT(TextsIn(nearest["errors"], "key"), ElementsAre("memory.uper"));
  EXPECT_EQ(Patch("/api/v1/jobs/shop%2Fwep/settings", R"({"mode": "auto"})").status, 404);
}

TEST_F(SettingsHandlers, OnlyOperatorsAndOwnersOfTheGroupChangeAJob) {
  const std::string path = "/api/v1/jobs/shop%2Fweb/settings", body = R"({"mode": "auto"})";
  for (const Role role : {Role::kReader, Role::kPlatform, Role::kWriter})
    EXPECT_EQ(Patch(path, body, Caller(role)).status, 403) << Name(role);
  for (const GroupRole as : {GroupRole::kMember, GroupRole::kBudgetHolder})
    EXPECT_EQ(Patch(path, body, In("shop", as)).status, 403) << Name(as);
  EXPECT_EQ(Patch(path, body, In("media", GroupRole::kOwner)).status, 404) << "not a job of theirs";
  EXPECT_EQ(Patch(path, body, Caller(Role::kNone)).status, 401);
  EXPECT_EQ(ModeOf("shop/web"), Mode::kObserve);
  EXPECT_EQ(Patch(path, body, In("shop", GroupRole::kOwner)).status, 200);
  EXPECT_EQ(ModeOf("shop/web"), Mode::kAuto);
}

TEST_F(SettingsHandlers, ManyJobsAreTriedFirstAndThenChanged) {
  const ApiAnswer dry =
      Patch("/api/v1/settings?match=shop/*&dry_run=true", R"({"mode": "auto", "risk": "2%"})");
  ASSERT_EQ(dry.status, 200) << dry.body;
  EXPECT_EQ(dry["dry_run"].flag(), true);
  EXPECT_EQ(dry["matched"].whole(), 2);
  EXPECT_EQ(dry["changed"].whole(), 2);
  EXPECT_EQ(dry["left_out"].whole(), 0);
  EXPECT_THAT(ItemsIn(dry["changes"]), SizeIs(4));
  EXPECT_EQ(ItemsIn(dry["changes"])[0]["before"].text(), "observe");
  EXPECT_EQ(ModeOf("shop/web"), Mode::kObserve);
  const ApiAnswer done = Patch("/api/v1/settings?match=shop/*", R"({"mode": "auto", "risk": "2%"})");
  EXPECT_EQ(done["dry_run"].flag(), false);
  EXPECT_EQ(ModeOf("shop/web"), Mode::kAuto);
  EXPECT_EQ(ModeOf("shop/db"), Mode::kAuto);
  EXPECT_EQ(ModeOf("media/encode"), Mode::kObserve);
  const ApiAnswer again = Patch("/api/v1/settings?match=shop/*&dry_run=false", R"({"mode": "auto"})");
  EXPECT_EQ(again["matched"].whole(), 2);
  EXPECT_EQ(again["changed"].whole(), 0) << "they have it";
  const ApiAnswer back = Patch("/api/v1/settings?match=*", R"({"mode": ""})");
  EXPECT_EQ(back["matched"].whole(), 3);
  EXPECT_EQ(back["changed"].whole(), 2) << "the third has no setting of its own";
  EXPECT_EQ(ModeOf("shop/web"), Mode::kObserve);
}

TEST_F(SettingsHandlers, ManyJobsAreRefusedTogether) {
  for (const char* target : {"/api/v1/settings", "/api/v1/settings?match=",
                             "/api/v1/settings?match=*&dry_run=1", "/api/v1/settings?job=*"})
    EXPECT_EQ(Patch(target, R"({"mode": "auto"})").status, 400) << target;
  for (const char* body : {"", "{}", "[]", R"({"mode": 1})", R"({"mode": "fast"})", R"({"colour": "red"})"})
    EXPECT_EQ(Patch("/api/v1/settings?match=none", body).status, 400) << body << " even if no job matches";
  const ApiAnswer none = Patch("/api/v1/settings?match=none", R"({"mode": "auto"})");
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(none["matched"].whole(), 0);
  // If the settings of one job would become inconsistent, the settings of all jobs stay unchanged.
  ASSERT_EQ(Patch("/api/v1/jobs/shop%2Fdb/settings", R"({"memory.upper": "1GiB"})").status, 200);
  const ApiAnswer clash =
      Patch("/api/v1/settings?match=shop/*", R"({"mode": "auto", "memory.lower": "2GiB"})");
  EXPECT_EQ(clash.status, 400) << clash.body;
  EXPECT_EQ(ModeOf("shop/web"), Mode::kObserve);
}

TEST_F(SettingsHandlers, AnOwnerChangesManyJobsOfTheGroupAlone) {
  const ApiAnswer done =
      Patch("/api/v1/settings?match=*", R"({"mode": "auto"})", In("media", GroupRole::kOwner));
  ASSERT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(done["matched"].whole(), 1);
  EXPECT_THAT(TextsIn(done["changes"], "job"), ElementsAre("media/encode"));
  EXPECT_EQ(ModeOf("media/encode"), Mode::kAuto);
  EXPECT_EQ(ModeOf("shop/web"), Mode::kObserve);
  EXPECT_EQ(Patch("/api/v1/settings?match=*", R"({"mode": "auto"})", In("media", GroupRole::kMember)).status,
            403);
  EXPECT_EQ(Patch("/api/v1/settings?match=*", R"({"mode": "auto"})", Caller(Role::kPlatform)).status, 403);
}

TEST_F(SettingsHandlers, RecommendersAreThoseThatAJobMayHave) {
  const ApiAnswer answer = Get("/api/v1/recommenders", In("shop", GroupRole::kMember));
  const std::vector<std::string> names = TextsIn(answer["recommenders"], "name");
  EXPECT_THAT(names, Contains("peak"));
  EXPECT_THAT(names, Not(Contains("krr"))) << "runs in a replay alone";
  for (const JsonNode one : ItemsIn(answer["recommenders"])) {
    for (const JsonNode knob : ItemsIn(one["knobs"])) {
      EXPECT_LE(*knob["low"].number(), *knob["initial"].number()) << knob.Text("key");
      EXPECT_LE(*knob["initial"].number(), *knob["high"].number()) << knob.Text("key");
      EXPECT_FALSE(knob.Text("name").empty());
    }
  }
}

}  // namespace
}  // namespace taut::server
