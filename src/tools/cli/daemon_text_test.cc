#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "tools/cli/job_text.h"
#include "tools/cli/jobs_text.h"
#include "tools/cli/settings_text.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Json JobRow(const std::string& name) {
  return Json::parse(R"({"mode":"canary","recommender":"analogs","tasks":12345,
    "cpu":{"usage":0.1234,"peak":1,"owner_limit":2,"limit":1.5,"would_be":null},
    "memory":{"usage":1073741824,"peak":2e9,"owner_limit":4e9,"limit":3221225472,"would_be":2e9,"saving":2e9},
    "ooms":3,"last_seen":1800000000,"last_change":null,"trial":true})")
      .patch(Json::array({{{"op", "add"}, {"path", "/name"}, {"value", name}}}));
}

TEST(DaemonTextTest, TheTableOfJobsFitsAHundredColumns) {
  const Json page = {{"total", 9000},
                     {"offset", 0},
                     {"jobs",
                      {JobRow(std::string(300, 'x')), JobRow("größe/web"), JobRow("shop/a\x1b[31m"),
                       JobRow("north/a-namespace/statefulset/session-agent")}}};
  const std::string text = JobsText(page);
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 100U) << line;
  EXPECT_THAT(text, AllOf(HasSubstr("größe/web"), HasSubstr("canary*"), HasSubstr("12,345"),
                          HasSubstr("1.00 GiB"), HasSubstr("4 of 9,000 jobs"), HasSubstr("…"),
                          HasSubstr("…ession-agent "), Not(HasSubstr("\x1b"))));
}

TEST(DaemonTextTest, NamesAreWholeWhereAPipeReadsThem) {
  const std::string name = "north/a-namespace/statefulset/session-agent";
  const Json page = {{"total", 1}, {"offset", 0}, {"jobs", {JobRow(name)}}};
  EXPECT_THAT(JobsText(page), Not(HasSubstr(name)));
  KeepNamesWhole(true);
  EXPECT_THAT(JobsText(page), HasSubstr(name));
  KeepNamesWhole(false);
}

TEST(DaemonTextTest, TablesAndSumsOfJobsHaveEachResource) {
  Json totals = Json::object();
  std::string usage;
  for (const Resource r : kResources) {
    const double one = UnitOf(r).large;
    totals[std::string(Name(r))] = {{"usage", 3 * one}, {"would_save", -one}};
    StrAppend(&usage, usage.empty() ? "" : " and ", FormatAmount(r, 3 * one));
  }
  const std::string text = JobsText({{"total", 1}, {"jobs", {JobRow("web")}}, {"totals", totals}});
  std::string line = text;
  std::ranges::replace(line, '\n', ' ');
  EXPECT_THAT(line, AllOf(HasSubstr(StrCat("all 1: usage ", usage, "; mode auto would save ")),
                          HasSubstr("(negative: more than the owners ask for)")));
  const std::string head = text.substr(0, text.find('\n'));
  for (const Resource r : kResources) EXPECT_THAT(head, HasSubstr(RowOf(r).word)) << text;
}

TEST(DaemonTextTest, ARecommendedNumberOfTasksIsShownWhereItIsAnother) {
  Json job = JobRow("web");
  job["tasks"] = 31;
  job["tasks_would_be"] = 14;
  EXPECT_THAT(JobsText({{"total", 1}, {"jobs", {job}}}),
              AllOf(HasSubstr("31>14"), HasSubstr("6 run, 3 are recommended")));
  job["tasks_would_be"] = 31;
  EXPECT_THAT(JobsText({{"total", 1}, {"jobs", {job}}}), Not(HasSubstr("recommended")));
  Json detail = job;
  detail["replicas"] =
      Json::parse(R"({"policy":"hpa","tasks":31,"would_be":14,"ordered":14,"load_of":"cpu","load":9.5,
    "task_capacity":2,"utilization":0.1532,"hold":"last change 5 min ago","reason":{}})");
  const std::string text = JobText(detail, {{"decisions", Json::array()}});
  EXPECT_THAT(
      text, AllOf(HasSubstr("replicas (hpa): 31 tasks, would be 14 tasks, ordered 14 tasks; load 9.50 cores"),
                  HasSubstr("replicas wait: last change 5 min ago")));
  detail["replicas"]["held"] = {{"cause", "not_measured"}, {"since", 300}};
  detail["replicas"]["hold"] = "queue_length: not measured";
  EXPECT_THAT(JobText(detail, {{"decisions", Json::array()}}),
              AllOf(HasSubstr("replicas held since "), HasSubstr(": queue_length: not measured")));
  EXPECT_THAT(JobText(detail, {{"decisions", Json::array()}}), Not(HasSubstr("needed")));
  detail["memory_needed"] = {{"bytes", 104857600}, {"tasks", 2}, {"time", 1800000000}};
  EXPECT_THAT(JobText(detail, {{"decisions", Json::array()}}),
              HasSubstr("memory needed: 100 MiB (probed; the most of 2 tasks, 2027-01-15"));
  detail["replicas"] = nullptr;
  EXPECT_THAT(JobText(detail, {{"decisions", Json::array()}}), Not(HasSubstr("replicas")));
}

TEST(DaemonTextTest, WholeMachinesAreSaidToBeInNoSum) {
  Json totals = {{"jobs", 1}, {"tasks", 2}, {"whole_machines", 1}};
  const std::string text =
      JobsText({{"total", 2}, {"jobs", {JobRow("web"), JobRow("machine/node")}}, {"totals", totals}});
  EXPECT_THAT(text, AllOf(HasSubstr("all 1: usage"),
                          HasSubstr("1 more job is all that some machines use, and in no sum")));
  totals["not_measured"] = 2;
  EXPECT_THAT(JobsText({{"total", 3}, {"jobs", {JobRow("web")}}, {"totals", totals}}),
              HasSubstr("2 of them were not measured in the last window, and in no sum"));
  EXPECT_THAT(FleetText({{"whole_machines", 3}}), HasSubstr("3 more jobs are all that some machines use"));
  EXPECT_THAT(FleetText({{"whole_machines", 0}}), Not(HasSubstr("machines use")));
}

// A tilde marks a provisional recommendation in tables and sums. A note explains the tilde and states the time at
// which the recommendation becomes final.
TEST(DaemonTextTest, AProvisionalRecommendationIsMarkedEverywhere) {
  Json job = JobRow("web"), later = JobRow("later");
  for (const auto& [row, at] : {std::pair{&job, 1790000400}, {&later, 1790001000}}) {
    Json& cpu = (*row)["cpu"];
    cpu["would_be"] = cpu["saving"] = nullptr;
    cpu["provisional"] = true;
    cpu["provisional_limit"] = 1.75;
    cpu["first_recommendation_at"] = at;
  }
  EXPECT_THAT(JobsText({{"total", 1}, {"jobs", {job}}}),
              AllOf(HasSubstr("~1.75"), HasSubstr("~: provisional"),
                    HasSubstr("first recommendation\nat 2026-09-21 14:20 UTC\n")));
  EXPECT_THAT(JobsText({{"total", 2}, {"jobs", {later, job}}}),
              AllOf(HasSubstr("at 2026-09-21 14:20 UTC"), HasSubstr("14:30 UTC\n")));
  EXPECT_THAT(JobText(job, {}), AllOf(HasSubstr("~1.75 cores"),
                                      HasSubstr("cpu: provisionally 1.75 cores, set in no mode; first "
                                                "recommendation at 2026-09-21 14:20 UTC\n")));
  EXPECT_THAT(ExplanationsText({{"cpu", job["cpu"]}}, "web", "cpu"), HasSubstr("would be ~1.75 cores"));
}

TEST(DaemonTextTest, TheTableOfAgentsFitsAHundredColumns) {
  Json agent = Json::parse(R"({"name":"n1","host":"node-1","version":"1","hands":"cgroup v2","connected":true,
    "observes":false,"cores":2,"memory_bytes":8e9,"tasks":1234,"managed_tasks":1200,"heard_seconds_ago":1.5,
    "queued_bytes":104857600,"dropped_messages":0,"cpu_share_cores":0.0123,"resident_bytes":12345678,
    "windows":12345,"oom_kills":3,"applied":4321,"failed":21})");
  Json away = agent;
  away["name"] = away["host"] = std::string(200, 'x');
  away["connected"] = false;
  away["observes"] = true;
  away["heard_seconds_ago"] = 86399;
  away["dropped_messages"] = 7;
  const std::string text = AgentsText({{"enabled", true}, {"agents", {agent, away}}});
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 100U) << line;
  EXPECT_THAT(text, AllOf(HasSubstr("1,234 (1,200)"), HasSubstr("11.8 MiB"), HasSubstr("4,321/21"),
                          HasSubstr("disconnected"), HasSubstr("1 of 2 agents connected; *: only measures"),
                          HasSubstr("1 dropped messages")));
  EXPECT_THAT(AgentsText(Json::parse(R"({"enabled":false,"agents":[]})")), HasSubstr("agents.listen"));
  EXPECT_THAT(AgentsText(Json::parse(R"({"enabled":true,"agents":[]})")), HasSubstr("tautlet --config"));
}

TEST(DaemonTextTest, StatusNamesTheCellAndItsAgents) {
  const Json status = {{"cell", {{"name", "north"}, {"links", Json::array()}}},
                       {"agents", {{"enabled", true}, {"connected", 2}, {"known", 3}}}};
  EXPECT_THAT(StatusText(status, 0),
              AllOf(HasSubstr("cell north\n"), HasSubstr("agents: 2 of 3 connected\n")));
}

TEST(DaemonTextTest, StatusShowsWarnings) {
  const Json status = {
      {"version", "1"}, {"started", 1}, {"ready", false}, {"warnings", {"not ready: disk full\x1b[1m"}}};
  EXPECT_THAT(StatusText(status, 100), HasSubstr("warning: not ready: disk full\\x1b[1m\n"));
}

// The texts of a job and of its explanation show the same risk with all of its parts.
TEST(DaemonTextTest, TheRiskOfALimitHasItsParts) {
  Json job = JobRow("web");
  Json explanations = Json::object();
  const auto expect = [&](const std::string& risk) {
    for (const Resource r : kResources) explanations[std::string(Name(r))] = job[std::string(Name(r))];
    std::string text = JobText(job, {{"decisions", Json::array()}});
    std::ranges::replace(text, '\n', ' ');
    EXPECT_THAT(text, HasSubstr(risk));
    std::string explained = ExplanationsText(explanations, "web", "");
    std::replace(explained.begin(), explained.end(), '\n', ' ');
    EXPECT_THAT(explained, HasSubstr("risk: "));
    EXPECT_THAT(explained, HasSubstr(risk.substr(0, 30)));
  };
  job["memory"].update(Json::parse(R"({"chance":0.069,"days":18,"days_over":1})"));
  expect("chance of a day above would be 6.9 %; 1 of its own last 18 days was above it");
  job["memory"].update(Json::parse(R"({"chance":null,"days":1,"days_over":0})"));
  expect("0 of its own last 1 day were above the limit of then");
  job["cpu"].update(
      Json::parse(R"({"chance":null,"days":19,"days_over":19,"work_over":0.0008,"work_ordered":0.001})"));
  expect(
      "0.08 % of its work throttled, risk target 0.1 % (19 of its own last 19 days were above the limit of then "
      "at times)");
  EXPECT_THAT(JobsText({{"total", 1}, {"jobs", {job}}}), Not(HasSubstr("19/19")));
}

TEST(DaemonTextTest, ListsOfJobsShowSavingsRiskAndMoney) {
  Json row = JobRow("shop/web");
  row["tasks"] = 2;
  row["cpu"]["chance"] = 0.031;
  row["memory"]["at_limit"] = true;
  Json page = {{"total", 1}, {"jobs", {row}}};
  page["totals"] = {{"cpu", {{"usage", 1.5}, {"would_save", 3}}},
                    {"memory", {{"usage", 1e9}, {"would_save", -1e9}}}};
  std::string text = JobsText(page);
  EXPECT_THAT(text, AllOf(HasSubstr("saves"), HasSubstr("3.1 %"), HasSubstr("!"),
                          HasSubstr("mode auto would save 3"), Not(HasSubstr("a month"))));
  page["currency"] = "EUR";
  page["jobs"][0]["saving_per_month"] = 12.345;
  page["totals"]["saving_per_month"] = 99.5;
  text = JobsText(page);
  EXPECT_THAT(text, AllOf(HasSubstr("a month"), HasSubstr("12.3"), HasSubstr("99.50 EUR a month")));
  Json& replicas = page["totals"]["replicas"];
  replicas = Json::parse(R"({"jobs": 0, "tasks": 0, "would_be": 0, "jobs_overloaded": 0, "windows_day": 0,
    "overloaded_windows_day": 0, "jobs_held": {"not_measured": 0, "no_number": 0}})");
  EXPECT_THAT(JobsText(page), Not(HasSubstr("replicas")));
  replicas["jobs"] = 3;
  replicas["tasks"] = 1400;
  replicas["would_be"] = 1200;
  EXPECT_THAT(JobsText(page),
              testing::EndsWith("\nreplicas of 3 jobs: 1,400 tasks run, 1,200 recommended\n"));
  replicas["windows_day"] = 800;
  replicas["overloaded_windows_day"] = 4;
  replicas["jobs_overloaded"] = 1;
  replicas["jobs_held"]["no_number"] = 2;
  EXPECT_THAT(JobsText(page),
              testing::EndsWith("\nreplicas of 3 jobs: 1,400 tasks run, 1,200 recommended; overloaded in 0.5 "
                                "% of the last day's\nwindows, 1 now; 2 held\n"));
}

TEST(DaemonTextTest, TotalsByALabelFitAHundredColumns) {
  Json group = Json::parse(R"({"value":"shop","jobs":12345,"tasks":123456,
    "cpu":{"usage":1234.5,"owner_limit":2345.6,"limit":1,"would_be":1500,"saved":0,"would_save":845.6},
    "memory":{"usage":1e12,"owner_limit":3e12,"limit":1,"would_be":2e12,"saved":0,"would_save":-1e12},
    "saving_per_month":12345.678})");
  Json none = group;
  none["value"] = nullptr;
  Json page = {{"by", "team"}, {"total", 3}, {"currency", "EUR"}, {"groups", {group, none}}};
  std::string text = TotalsText(page);
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 100U) << line;
  EXPECT_THAT(
      text, AllOf(HasSubstr("team"), HasSubstr("shop"), HasSubstr("(none)"), HasSubstr("12,345"),
                  HasSubstr("-931 GiB"), HasSubstr("12345.68"),
                  HasSubstr("2 of 3 values (--limit shows more); amounts are for all tasks, prices in EUR")));
  EXPECT_THAT(text, Not(HasSubstr("forecast"))) << "no job has a recommended limit";
  page["groups"][0]["memory"]["job_days"] = 1000;
  page["groups"][0]["memory"]["job_days_over"] = 26;
  page["groups"][0]["memory"]["chance"] = 0.031;
  text = TotalsText(page);
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 100U) << line;
  EXPECT_THAT(text, AllOf(HasSubstr("1,000"), HasSubstr("2.6 %"), HasSubstr("3.1 %")));
  page.erase("currency");
  EXPECT_THAT(TotalsText(page), Not(HasSubstr("month")));
  EXPECT_EQ(TotalsText({{"groups", Json::array()}}), "no job matches\n");
}

TEST(DaemonTextTest, OneJobShowsItsChanceAndMoney) {
  Json job = JobRow("shop/web");
  job["memory"]["chance"] = 0.2;
  job["saving_per_month"] = 4.25;
  job["currency"] = "EUR";
  EXPECT_THAT(JobText(job, Json::object()),
              AllOf(HasSubstr("memory: chance of a day above would be 20 %"),
                    HasSubstr("in mode auto it saves 4.25 EUR a month"), Not(HasSubstr("own target"))));
  job["risk"] = 0.01;
  EXPECT_THAT(JobText(job, Json::object()), HasSubstr("20 %; 1 % is the job's own target (risk)"));
  EXPECT_THAT(JobText(job, Json::object()), HasSubstr("canary with analogs,"));
  job["cpu"]["recommender"] = "peak";
  EXPECT_THAT(JobText(job, Json::object()), testing::ContainsRegex("cpu .* peak\n"));
  job["throttled"] = 0.005;
  EXPECT_THAT(JobText(job, Json::object()),
              HasSubstr("cpu: 0.5 % of its work throttled is the job's own target (throttled)\n"));
}

// The limit in force differs from the ordered limit if an agent raised the limit. In a dry run the owner's limit
// is in force.
TEST(DaemonTextTest, TheLimitShownIsTheOneThatTasksRunAt) {
  const auto amounts = [](Json applied) {
    return Json{{"owner_limit", 4},  {"limit", 0.014}, {"ordered", 0.014}, {"applied", std::move(applied)},
                {"would_be", 0.014}, {"usage", 0.01}};
  };
  const auto text = [&](Json applied, bool enforced) {
    Json one = amounts(std::move(applied));
    one["enforced"] = enforced;
    return ExplanationsText({{"cpu", one}}, "j", "cpu");
  };
  EXPECT_THAT(text(0.034, true), HasSubstr("cpu: limit 34 mcores, would be 14 mcores, owner's limit 4.00 "
                                           "cores, ordered 14 mcores\n"));
  EXPECT_THAT(text(0.014, true), Not(HasSubstr("ordered")));
  EXPECT_THAT(text(nullptr, true), HasSubstr("cpu: limit 14 mcores, would be"));
  EXPECT_THAT(text(nullptr, false), AllOf(HasSubstr("cpu: limit 4.00 cores, would be"),
                                          HasSubstr(", ordered 14 mcores (not applied)")));
  Json job = JobRow("shop/web");
  job["cpu"] = amounts(nullptr);
  job["enforced"] = false;
  EXPECT_THAT(JobText(job, Json::object()), HasSubstr("cpu: ordered 14 mcores (not applied)"));
}

TEST(DaemonTextTest, ManySettingsSayWhatTheyWouldDo) {
  const Json done = {
      {"dry_run", true},
      {"matched", 3},
      {"changed", 1},
      {"left_out", 0},
      {"changes", {{{"job", "shop/web"}, {"key", "mode"}, {"before", "observe"}, {"after", "canary"}}}}};
  EXPECT_THAT(ManySettingsText(done),
              AllOf(HasSubstr("shop/web"), HasSubstr("canary"),
                    HasSubstr("1 of 3 matching jobs would be changed; add --yes to apply")));
}

// A daemon that has just started may have no pass, but still show the last window from before its restart.
TEST(DaemonTextTest, StatusSaysWhatIsSinceTheStart) {
  Json fresh = {
      {"last_pass", nullptr}, {"last_window_end", nullptr}, {"ingest", {{"accepted", 0}, {"unmapped", 0}}}};
  EXPECT_THAT(StatusText(fresh, 0), AllOf(HasSubstr("no window has closed yet: no sample has arrived"),
                                          HasSubstr("samples since the start: none\n")));
  fresh["ingest"]["unmapped"] = 7;
  EXPECT_THAT(StatusText(fresh, 0),
              AllOf(HasSubstr("no sample is one of a job"), HasSubstr("unmapped samples are normal"),
                    HasSubstr("taut mapping test --prometheus URL")));
  fresh["ingest"]["accepted"] = 130;
  fresh["clock"] = "wall";
  fresh["first_window_closes"] = 1790000520;
  EXPECT_EQ(NoWindowText(fresh), "no window has closed yet; the first closes at 2026-09-21 14:22 UTC\n");
  fresh["clock"] = "samples";
  EXPECT_EQ(NoWindowText(fresh),
            "no window has closed yet; the first closes at 2026-09-21 14:22 of the samples' time\n");
  fresh["last_window_end"] = 1790000400;
  EXPECT_EQ(NoWindowText(fresh), "");
  EXPECT_THAT(StatusText({{"last_pass", nullptr}, {"last_window_end", 1790000100}}, 0),
              HasSubstr("no window has closed since the start; the last one stored ended 2026-"));
  EXPECT_THAT(StatusText({{"backfill_error", "the server is away"}, {"ingest", {{"accepted", 3}}}}, 0),
              AllOf(HasSubstr("backfill: the server is away"), HasSubstr("samples since the start")));
}

TEST(DaemonTextTest, StatusCountsJobsThatWaitForTheirHistory) {
  Json late = {{"waiting", 3}, {"read", 2}, {"nothing", 9}, {"failed", 0}, {"error", ""}};
  EXPECT_THAT(StatusText({{"late_jobs", late}}, 0),
              HasSubstr("history of jobs that appeared later: 3 waiting, 2 read, 9 without, 0 failed\n"));
  late["failed"] = 1;
  late["error"] = "the server is unreachable";
  EXPECT_THAT(StatusText({{"late_jobs", late}}, 0), HasSubstr("appeared later: the server is unreachable\n"));
  late["failed"] = late["waiting"] = 0;
  EXPECT_THAT(StatusText({{"late_jobs", late}}, 0), Not(HasSubstr("appeared later")));
}

TEST(DaemonTextTest, OneJobShowsTrialsHoldsNoticesAndDecisions) {
  Json job = JobRow("shop/web");
  job["labels"] = {{"team", "shop"}};
  job["first_seen"] = 1790000000;
  job["trials"] = Json::parse(
      R"([{"resource":"memory","limit":2147483648,"old_limit":4294967296,"since":1800000000,"until":1800086400,
           "tasks":{"task_windows":10,"ooms":1,"over":2,"slack":null},"rest":{"task_windows":90,"ooms":0,"over":0,"slack":1},
           "sentence":"Too early to say."}])");
  job["holds"] = {{{"resource", "cpu"}, {"sentence", "the change is too small"}}};
  job["notices"] = {"ready for auto"};
  const Json decisions = Json::parse(
      R"({"decisions":[{"id":1,"time":1800000000,"job":"shop/web","resource":"cpu","kind":"roll_back","mode":"auto",
          "before":1,"after":2,"sentence":"Because.","outcome":"dry_run","outcome_text":"","outcome_time":null}],"next_before":null})");
  EXPECT_THAT(
      JobText(job, decisions),
      AllOf(HasSubstr("labels: team=shop"), HasSubstr("trial: memory 2.00 GiB instead of 4.00 GiB"),
            HasSubstr("10 task-windows, 1 OOM kill, 2 over"), HasSubstr("cpu waits: the change is too small"),
            HasSubstr("note: ready for auto"),
            HasSubstr("cpu roll back: 1.00 cores -> 2.00 cores  (dry run)"), HasSubstr("    Because.")));
}

TEST(DaemonTextTest, OneJobShowsTheTotalsOfAPodOfSeveralContainers) {
  Json job = JobRow("shop/deployment/web/app");
  job["pod"] = Json::parse(R"({"containers": 2, "recommended": 2, "cpu": {"request": 0.35, "limit": null},
                               "memory": {"request": 100663296, "limit": 201326592}})");
  EXPECT_THAT(JobText(job, {}),
              HasSubstr("a pod of 2 containers, all recommended: cpu request 0.35 cores, limit none; "
                        "memory request 96.0 MiB,\nlimit 192 MiB"));
  job["pod"]["recommended"] = 1;
  EXPECT_THAT(JobText(job, {}), HasSubstr("a pod of 2 containers, 1 of them recommended: "));
  job["pod"]["containers"] = 1;
  EXPECT_THAT(JobText(job, {}), Not(HasSubstr("a pod of")));
  job["pod"] = nullptr;
  EXPECT_THAT(JobText(job, {}), Not(HasSubstr("a pod of")));
}

TEST(DaemonTextTest, AnswersOfAnotherFormAreShownAsFarAsTheyGo) {
  for (const Json& odd :
       {Json(), Json("text"), Json(3), Json::array({1, 2}), Json{{"jobs", 5}, {"cpu", "x"}},
        Json{{"jobs", {1, "a", nullptr}}, {"decisions", "no"}, {"values", 1}, {"ingest", {}}}}) {
    EXPECT_FALSE(JobsText(odd).empty());
    EXPECT_FALSE(TotalsText(odd).empty());
    EXPECT_FALSE(JobText(odd, odd).empty());
    EXPECT_FALSE(ExplanationsText(odd, "j", "").empty());
    EXPECT_FALSE(DecisionText(odd).empty());
    EXPECT_FALSE(StatusText(odd, 0).empty());
    EXPECT_FALSE(AgentsText(odd).empty());
    EXPECT_FALSE(FleetText(odd).empty());
    EXPECT_FALSE(SettingsText(odd, {}).empty());
  }
}

TEST(JsonTextTest, YamlQuotesWhatCouldBeSomethingElse) {
  const Json value = {{"name", "shop/web"},
                      {"mode", "off"},
                      {"off", 1},
                      {"n", nullptr},
                      {"empty", Json::array()},
                      {"text", "a: b"},
                      {"list", {1, 2.5}},
                      {"rows", {{{"a", 1}, {"b", {{"c", true}}}}, {{"a", 2}}}}};
  EXPECT_EQ(YamlText(value),
            "name: shop/web\n"
            "mode: \"off\"\n"
            "\"off\": 1\n"
            "\"n\": null\n"
            "empty: []\n"
            "text: \"a: b\"\n"
            "list: [1,2.5]\n"
            "rows:\n"
            "- a: 1\n"
            "  b:\n"
            "    c: true\n"
            "- a: 2\n");
}

// A cluster bills requests, so the text states the savings of requests, and the change of limits as a detail.
TEST(DaemonText, SavingsOfRequestsAreNamed) {
  const Json requests = {{"jobs", 2}, {"owner", 4}, {"now", 4}, {"would_be", 1.5}, {"limit_would_save", 6}};
  Json page = Json::parse(R"({"total": 1, "jobs": [{"name": "web", "mode": "observe", "tasks": 2, "ooms": 0,
      "cpu": {"usage": 1, "owner_limit": 8, "limit": 8, "would_be": 5, "saving": 1.25, "limit_saving": 3}}]})");
  page["totals"] = {{"jobs", 1}, {"cpu", {{"usage", 1.5}, {"would_save", 2.5}, {"requests", requests}}}};
  const std::string text = JobsText(page);
  EXPECT_THAT(text, HasSubstr(" 2.5 ")) << "1.25 for each of two tasks, and not the limit's 6: " << text;
  EXPECT_THAT(
      text, HasSubstr("savings are of requests, which a cluster bills, where a job has one: cpu of 2 jobs "));
  EXPECT_THAT(text, HasSubstr("1.5"));
  Json fleet = {{"cpu", {{"requests", requests}}}, {"jobs_by_mode", Json::object()}};
  EXPECT_THAT(FleetText(fleet), HasSubstr("savings are of requests"));
  const Json job = Json::parse(R"({"name": "web", "cpu": {"owner_request": 2, "would_be_request": 0.5}})");
  EXPECT_THAT(JobText(job, Json::object()),
              HasSubstr("cpu: request 2.00 cores, 0.50 cores would be; savings are of it"));
}

}  // namespace
}  // namespace taut::tools
