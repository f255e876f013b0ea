// Tests of commands that query a running tautd: requests, forms, exit codes and errors.
#include "common/net/event_stream.h"
#include "common/testing/temp_dir.h"
#include "tools/cli/fake_tautd.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Json kNotReady = {{"last_pass", nullptr}, {"ingest", {{"accepted", 0}, {"unmapped", 3}}}};
const char* const kNoSample =
    "no window has closed yet: no sample is one of a job; `taut status` counts them\n";

TEST(DaemonCommands, JobsAreAskedForAsTyped) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"total", 1}, {"jobs", {{{"name", "web"}}}}});
  const std::pair<const char*, const char*> cases[] = {
      {"get jobs", "limit=30&totals=true"},
      {"get jobs shop -n prod --mode auto --limit 5",
       "limit=5&search=shop%20namespace%3Dprod&mode=auto&totals=true"},
      {"get jobs -n prod", "limit=30&search=namespace%3Dprod&totals=true"},
      {"get jobs --sort name", "limit=30&sort=name&order=asc&totals=true"},
      {"get jobs --sort mode --order desc", "limit=30&sort=mode&order=desc&totals=true"},
      {"get jobs --sort tasks", "limit=30&sort=tasks&totals=true"},
      {"get jobs --names", "limit=30"}};
  for (const auto& [line, query] : cases) {
    EXPECT_EQ(tautd.Run(line).code, kExitOk) << line;
    EXPECT_EQ(tautd.LastRequest(), StrCat("GET /api/v1/jobs?", query)) << line;
  }
}

TEST(DaemonCommands, NamesOfJobsAreLines) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"total", 2}, {"jobs", {{{"name", "shop/web"}}, {{"name", "a\x1b[1m"}}}}});
  EXPECT_EQ(tautd.Run("get jobs --names").out, "shop/web\na\\x1b[1m\n");
}

TEST(DaemonCommands, WithoutJobsTheReasonIsShown) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"total", 0}, {"jobs", Json::array()}});
  EXPECT_EQ(tautd.Run("get jobs").out, "no job matches\n") << "tautd does not answer about its state";
  tautd.Set("GET /api/v1/status", {{"last_pass", {{"jobs", 3}}}});
  EXPECT_EQ(tautd.Run("get jobs nothing").out, "no job matches\n");
  tautd.Set("GET /api/v1/status", kNotReady);
  EXPECT_EQ(tautd.Run("get jobs").out, kNoSample);
  tautd.Set("GET /api/v1/totals", {{"total", 0}, {"groups", Json::array()}});
  EXPECT_EQ(tautd.Run("get jobs --group-by team").out, kNoSample);
  tautd.Set("GET /api/v1/decisions", {{"decisions", Json::array()}});
  EXPECT_EQ(tautd.Run("get decisions").out, StrCat("no decisions: ", kNoSample));
  const Ran exported = tautd.Run("export");
  EXPECT_EQ(exported.code, kExitFailed);
  EXPECT_EQ(exported.error, StrCat("taut: ", kNoSample));
  tautd.Set("GET /api/v1/status", Json::object());
}

TEST(DaemonCommands, ACsvOfPartOfTheJobsWarns) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"total", 9}, {"jobs", {{{"name", "web"}}}}});
  const Ran ran = tautd.Run("get jobs -o csv");
  EXPECT_EQ(ran.out, "name\nweb\n");
  EXPECT_EQ(ran.error, "taut: 1 of 9 jobs: --limit has the others\n");
  tautd.Set("GET /api/v1/jobs", {{"total", 1}, {"jobs", {{{"name", "web"}}}}});
  EXPECT_EQ(tautd.Run("get jobs -o csv").error, "");
}

TEST(DaemonCommands, TotalsAreByALabel) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/totals",
            {{"by", "team"}, {"total", 1}, {"groups", {{{"value", "red"}, {"jobs", 2}}}}});
  EXPECT_THAT(tautd.Run("get jobs web --group-by team --mode off").out, HasSubstr("red      2"));
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/totals?limit=30&search=web&mode=off&by=team");
}

// A part of a name selects a job if the name of no other job contains this part.
TEST(DaemonCommands, APartOfANameIsFound) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"jobs", {{{"name", "shop/web"}}}}});
  tautd.Set("GET /api/v1/jobs/shop%2Fweb", {{"name", "shop/web"}, {"mode", "off"}});
  tautd.Set("GET /api/v1/decisions", {{"decisions", {{{"job", "shop/web"}, {"kind", "set"}}}}});
  const Ran ran = tautd.Run("get job web");
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, AllOf(StartsWith("job shop/web\noff with"), HasSubstr("\nlast decisions\n")));
  EXPECT_THAT(tautd.Requests(),
              ElementsAre("GET /api/v1/jobs/web", "GET /api/v1/jobs?search=web&sort=name&order=asc&limit=2",
                          "GET /api/v1/jobs/shop%2Fweb", "GET /api/v1/decisions?job=shop%2Fweb&limit=5"));
  const Json json = Json::parse(tautd.Run("get job web -o json").out);
  EXPECT_EQ(json["decisions"][0]["kind"], "set") << "the JSON has the decisions, too";
}

TEST(DaemonCommands, APartOfSeveralNamesIsNotFound) {
  FakeTautd tautd;
  const std::string error = "taut: nothing at /api/v1/jobs/web\n";
  const auto jobs_are = [&](const Json& jobs) {
    tautd.Set("GET /api/v1/jobs", {{"jobs", jobs}});
    const Ran ran = tautd.Run("get job web");
    EXPECT_EQ(ran.code, kExitFailed);
    EXPECT_EQ(ran.error, error) << jobs;
  };
  jobs_are({{{"name", "shop/web"}}, {{"name", "lab/web"}}});
  jobs_are(Json::array());
  jobs_are({{{"name", "other"}}});
  jobs_are({7});
  const size_t before = tautd.Requests().size();
  EXPECT_EQ(tautd.Run({"get", "job", "team=red"}).code, kExitFailed);
  EXPECT_EQ(tautd.Requests().size(), before + 1) << "an operator of the search is no part of a name";
}

TEST(DaemonCommands, SettingsAreShownAndChanged) {
  FakeTautd tautd;
  const Json values = {{"values",
                        {{{"key", "mode"}, {"value", "auto"}, {"source", "person"}},
                         {{"key", "risk"}, {"value", "0.01"}, {"source", "default"}}}}};
  tautd.Set("GET /api/v1/jobs/shop%2Fweb/settings", values);
  tautd.Set("PATCH /api/v1/jobs/shop%2Fweb/settings", values);
  tautd.Set("GET /api/v1/jobs", {{"jobs", {{{"name", "shop/web"}}}}});
  EXPECT_EQ(tautd.Run("set shop/web").out,
            "setting  value     from\nmode      auto   person\nrisk      0.01  default\n");
  const Ran changed = tautd.Run({"set", "shop/web", " mode = auto ", "memory.lower=", "--who", "anna"});
  EXPECT_EQ(changed.out, "setting  value    from\nmode      auto  person\n") << "only the changed keys";
  EXPECT_EQ(tautd.LastRequest(),
            R"(PATCH /api/v1/jobs/shop%2Fweb/settings?who=anna {"mode":"auto","memory.lower":""})");
  const Ran found = tautd.Run({"set", "web", "mode=auto", "--who", "anna"});
  EXPECT_EQ(found.code, kExitOk);
  EXPECT_EQ(found.error, "taut: job shop/web\n") << "a change names the job that was found";
  for (const auto& [word, error] : {std::pair{"mode", "\"mode\" is not key=value; `key=` removes a setting"},
                                    {"=auto", "\"=auto\" is not key=value"}}) {
    const Ran bad = tautd.Run({"set", "shop/web", word});
    EXPECT_EQ(bad.code, kExitUsage);
    EXPECT_THAT(bad.error, HasSubstr(error));
  }
  EXPECT_THAT(tautd.Run({"set", "shop/web", "mode=a", "mode=b"}).error, HasSubstr("\"mode\" is set twice"));
}

TEST(DaemonCommands, APatternIsPreviewedBeforeItIsApplied) {
  FakeTautd tautd;
  tautd.Set("PATCH /api/v1/settings",
            Json::parse(R"({"dry_run": true, "matched": 2, "changed": 1, "changes": [
              {"job": "shop/web", "key": "mode", "before": "observe", "after": "auto"}]})"));
  const Ran preview = tautd.Run({"set", "shop/*", "mode=auto", "--who", "anna"});
  EXPECT_EQ(preview.out,
            "job       setting      now  then\nshop/web     mode  observe  auto\n"
            "1 of 2 matching jobs would be changed; add --yes to apply\n");
  EXPECT_EQ(tautd.LastRequest(),
            R"(PATCH /api/v1/settings?who=anna&match=shop%2F%2A&dry_run=true {"mode":"auto"})");
  tautd.Run({"set", "a|b", "mode=auto", "--who", "anna", "--yes"});
  EXPECT_THAT(tautd.LastRequest(), HasSubstr("match=a%7Cb&dry_run=false"));
}

TEST(DaemonCommands, DecisionsAreListedAndFiltered) {
  FakeTautd tautd;
  const Json decision =
      Json::parse(R"({"time": 1790000400, "job": "shop/web", "target": "cpu", "kind": "would_set",
    "before": 2, "after": 1, "outcome": "dry_run", "sentence": "It uses less."})");
  tautd.Set("GET /api/v1/decisions", {{"decisions", {decision}}});
  EXPECT_EQ(
      tautd.Run("get decisions").out,
      "2026-09-21 14:20  shop/web  cpu would set: 2.00 cores -> 1.00 cores  (dry run)\n    It uses less.\n");
  tautd.Run("get decisions shop/web --kind would_set --limit 3");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/decisions?limit=3&job=shop%2Fweb&kind=would_set");
  tautd.Set("GET /api/v1/decisions", {{"decisions", Json::array()}});
  tautd.Set("GET /api/v1/status", {{"last_pass", {{"jobs", 3}}}});
  EXPECT_EQ(tautd.Run("get decisions").out, "no decisions\n");
  const Ran csv = tautd.Run("get decisions --follow -o csv");
  EXPECT_EQ(csv.code, kExitUsage);
  EXPECT_EQ(csv.error, "taut: --follow requires --output table, json or yaml\n");
}

TEST(DaemonCommands, NewDecisionsAreFollowedUntilTheStreamEnds) {
  FakeTautd tautd;
  const auto decision = [](const char* job, const char* kind) {
    return Json{{"job", job}, {"kind", kind}, {"resource", "cpu"}};
  };
  tautd.Set("GET /api/v1/decisions", {{"decisions", {decision("web", "set"), decision("old", "set")}}});
  // Return a new stream for each request, because a stream has one client.
  tautd.SetHandler([decision](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path != "/api/v1/events") return std::nullopt;
    HttpResponse response;
    response.stream = std::make_shared<EventStream>();
    response.stream->Publish("window", "{}", "1");
    response.stream->Publish("decision", decision("web", "release").dump(), "2");
    response.stream->Publish("decision", decision("other", "set").dump(), "3");
    response.stream->Publish("decision", "no JSON", "4");
    response.stream->Close();
    return response;
  });
  const Ran ran = tautd.Run("get decisions --follow -o json");
  EXPECT_EQ(ran.code, kExitFailed);
  EXPECT_EQ(ran.error, StrCat("taut: ", tautd.url(), ": tautd closed the stream\n"));
  EXPECT_EQ(ran.out,
            "{\"job\":\"old\",\"kind\":\"set\",\"resource\":\"cpu\"}\n"
            "{\"job\":\"web\",\"kind\":\"set\",\"resource\":\"cpu\"}\n"
            "{\"job\":\"web\",\"kind\":\"release\",\"resource\":\"cpu\"}\n"
            "{\"job\":\"other\",\"kind\":\"set\",\"resource\":\"cpu\"}\n")
      << "the newest decision is last";
  const Ran web = tautd.Run("get decisions web --kind release --follow -o yaml");
  EXPECT_THAT(web.out, EndsWith("---\njob: web\nkind: release\nresource: cpu\n"));
  EXPECT_THAT(web.out, Not(HasSubstr("other")));
}

TEST(DaemonCommands, ATokenIsSentWithEachRequest) {
  FakeTautd tautd;
  const TempDir folder;
  tautd.SetHandler([](const HttpRequest& request) -> std::optional<HttpResponse> {
    const std::string* token = request.header("Authorization");
    return JsonResponse(200, Json{{"version", token == nullptr ? "none" : *token}}.dump());
  });
  EXPECT_EQ(Json::parse(tautd.Run("status -o json").out)["version"], "none");
  const std::string line = StrCat("status -o json --token-file ", folder.Write("token", "secret\n"));
  EXPECT_EQ(Json::parse(tautd.Run(line).out)["version"], "Bearer secret");
}

TEST(DaemonCommands, StatusIsAText) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/status", {{"version", "1"}, {"ready", true}});
  EXPECT_THAT(tautd.Run("status").out, StartsWith("tautd 1, ready\n"));
  EXPECT_EQ(Json::parse(tautd.Run("status -o json").out), (Json{{"version", "1"}, {"ready", true}}));
}

TEST(DaemonCommands, ProbesHaveExitCodes) {
  FakeTautd tautd;
  tautd.Set("GET /readyz", TextResponse(200, "ready\n"));
  const Ran ready = tautd.Run("status --ready");
  EXPECT_EQ(ready.code, kExitOk);
  EXPECT_EQ(ready.out, "ready\n");
  tautd.Set("GET /readyz", TextResponse(503, "disk is full\x1b\n"));
  const Ran unready = tautd.Run("status --ready");
  EXPECT_EQ(unready.code, kExitFailed);
  EXPECT_EQ(unready.error, "taut: tautd is not ready: disk is full\\x1b\n");
  tautd.Set("GET /healthz", TextResponse(200, "ok"));
  EXPECT_EQ(tautd.Run("status --alive").out, "tautd answers\n");
  tautd.Set("GET /healthz", TextResponse(500, "no"));
  const Ran dead = tautd.Run("status --alive");
  EXPECT_EQ(dead.code, kExitFailed);
  EXPECT_EQ(dead.error, "taut: tautd answers with 500\n");
}

TEST(DaemonCommands, WithoutATautdTheUrlIsNamed) {
  // Port 1 of the loopback interface has no listener.
  const Ran ran = RunTaut("get agents --server http://127.0.0.1:1");
  EXPECT_EQ(ran.code, kExitFailed);
  EXPECT_THAT(ran.error, AllOf(HasSubstr("http://127.0.0.1:1"), HasSubstr("--server")));
}

TEST(DaemonCommands, TheClockIsConfirmed) {
  FakeTautd tautd;
  tautd.Set("POST /api/v1/clock/confirm", {{"confirmed", true}});
  EXPECT_EQ(tautd.Run("confirm-clock").out, "the clock is confirmed\n");
  EXPECT_EQ(tautd.LastRequest(), "POST /api/v1/clock/confirm");
  tautd.Set("POST /api/v1/clock/confirm", ErrorResponse(403, "role operator is required"));
  EXPECT_EQ(tautd.Run("confirm-clock").code, kExitFailed);
}

TEST(DaemonCommands, AgentsMachinesAndPromisesAreShown) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/agents", {{"agents", {{{"name", "n1"}}}}});
  EXPECT_THAT(tautd.Run("get agents").out, EndsWith("0 of 1 agents connected\n"));
  tautd.Set("GET /api/v1/promises", {{"totals", Json::array()}});
  EXPECT_THAT(tautd.Run("get promises").out, StartsWith("no day is over yet"));
  tautd.Set("GET /api/v1/machines", {{"total", 1}, {"machines", {{{"name", "n1"}}}}});
  EXPECT_THAT(tautd.Run("get machines --source agents --search n --sort name --order asc --limit 3").out,
              HasSubstr("\nn1!"));
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/machines?source=agents&search=n&sort=name&order=asc&limit=3");
  tautd.Set("GET /api/v1/machines/rack%2Fn1", {{"name", "rack/n1"}, {"source", "agents"}});
  EXPECT_EQ(tautd.Run("get machines rack/n1 --source agents").out, "machine rack/n1 of agents\n");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/machines/rack%2Fn1?source=agents");
}

TEST(DaemonCommands, EventsOfAMachineAreActsOnly) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/ooms",
            {{"ooms", {{{"time", 1790000400}, {"job", "web"}, {"task", 1}, {"kills", 1}}}}});
  tautd.Set("GET /api/v1/tier_acts", {{"acts", Json::array()}});
  EXPECT_EQ(tautd.Run("get events --job web --limit 3").out, "2026-09-21 14:20  1 OOM kill of web, task 1\n");
  EXPECT_THAT(tautd.Requests(),
              ElementsAre("GET /api/v1/ooms?limit=3&job=web", "GET /api/v1/tier_acts?limit=3&job=web"));
  EXPECT_EQ(tautd.Run("get events --machine n1").out, "no OOM kills, and no acts of guards of memory\n");
  EXPECT_EQ(tautd.LastRequest(), "GET /api/v1/tier_acts?limit=20&machine=n1");
  EXPECT_EQ(tautd.Requests().size(), 3U) << "OOM kills have no machine";
  EXPECT_EQ(Json::parse(tautd.Run("get events -o json").out)["ooms"][0]["job"], "web");
}

TEST(DaemonCommands, CapacityHasLinesOverTime) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/capacity", {{"window_end", 1790000400},
                                     {"time", {1789996800}},
                                     {"cpu", {{"capacity", {16}}}},
                                     {"promises", {{{"tier", "batch"}, {"resource", "cpu"}}}}});
  const auto asked = [&](const char* options) {
    tautd.Run(StrCat("get capacity --over ", options));
    return tautd.LastRequest();
  };
  const std::string path = "GET /api/v1/capacity?from=";
  EXPECT_EQ(asked("40h"), path + "1789856400&to=1790000400&resolution=3600");
  EXPECT_EQ(asked("41h"), path + "1789852800&to=1790000400&resolution=7200");
  EXPECT_EQ(asked("7d"), path + "1789395600&to=1790000400&resolution=86400") << "more than 3 hours are days";
  EXPECT_EQ(asked("30d --step 6h"), path + "1787408400&to=1790000400&resolution=21600");
  const std::string text = tautd.Run("get capacity --over 1h --promises").out;
  EXPECT_THAT(text, AllOf(HasSubstr("sold as of 2026-09-21 14:20;"), HasSubstr("\ntier          for"),
                          HasSubstr("cores, from")));
  EXPECT_LT(text.find("missed"), text.find("cores, from")) << "promises before lines";
  EXPECT_THAT(tautd.Run("get capacity").out, Not(HasSubstr("cores, from")));
  const Json json = Json::parse(tautd.Run("get capacity --over 1h -o json").out);
  EXPECT_EQ(json["time"], Json({1789996800}));
}

TEST(DaemonCommands, TimesOfCapacityAreChecked) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/capacity", {{"window_end", 1790000400}});
  for (const auto& [options, error] :
       {std::pair{"--step 1h", "--step requires --over DURATION"},
        {"--over 5m", "--over: 5m: expected an hour or more"},
        {"--over soon", "--over: invalid duration \"soon\": expected 90s"},
        {"--over 7d --step 30m", "--step: 30m: expected an hour or more"},
        {"--over 7d --step x", "--step: invalid duration \"x\": expected 90s"}}) {
    const Ran ran = tautd.Run(StrCat("get capacity ", options));
    EXPECT_EQ(ran.code, kExitUsage) << options;
    EXPECT_THAT(ran.error, HasSubstr(error));
  }
}

TEST(DaemonCommands, TopPrintsOnceIntoAPipe) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/fleet", {{"time", 1790000400}, {"jobs", 1}});
  tautd.Set("GET /api/v1/jobs", {{"total", 1}, {"jobs", {{{"name", "web"}}}}});
  const Ran ran = tautd.Run("top --search shop -n prod --sort cpu_usage");
  EXPECT_THAT(ran.out, AllOf(StartsWith("2026-09-21 14:20  1 job, - tasks"), HasSubstr("\nweb "),
                             EndsWith("(of CPU, explain shows the throttled work)\n")));
  EXPECT_THAT(tautd.Requests(),
              ElementsAre("GET /api/v1/fleet",
                          "GET /api/v1/jobs?limit=20&totals=true&sort=cpu_usage&search=shop%20"
                          "namespace%3Dprod"));
  EXPECT_EQ(Json::parse(tautd.Run("top -o json").out)["fleet"]["jobs"], 1);
  tautd.Set("GET /api/v1/fleet", {{"time", nullptr}});
  tautd.Set("GET /api/v1/status", kNotReady);
  EXPECT_EQ(tautd.Run("top").out, kNoSample);
  tautd.Set("GET /api/v1/jobs", ErrorResponse(400, "sort: unknown"));
  const Ran bad = tautd.Run("top");
  EXPECT_EQ(bad.code, kExitUsage);
  EXPECT_EQ(bad.error, "taut: sort: unknown\n");
}

TEST(DaemonCommands, ExplanationsAreOfTheLimitsOfNow) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs/web-7/explain", {{"cpu", {{"would_be", 1.5}}}, {"memory", Json::object()}});
  EXPECT_THAT(
      tautd.Run("explain web-7").out,
      AllOf(StartsWith("job web-7\ncpu: limit -, would be 1.50 cores"), HasSubstr("\nmemory: limit -")));
  EXPECT_THAT(tautd.Run("explain web-7 --resource cpu").out, Not(HasSubstr("memory")));
  for (const auto& [options, error] :
       {std::pair{"--at 3d", "--at: tautd explains the current limits; another time needs a trace"},
        {"--recommender peak", "--recommender: tautd explains the job's own; others need a trace"},
        {"--resource disk", "invalid --resource \"disk\": expected cpu"}}) {
    const Ran ran = tautd.Run(StrCat("explain web-7 ", options));
    EXPECT_EQ(ran.code, kExitUsage) << options;
    EXPECT_THAT(ran.error, HasSubstr(error));
  }
}

// Answers for one job that is a container of a Deployment.
void SetExported(FakeTautd& tautd, const std::string& name, const Json& cluster) {
  const Json workload = {{"source", "kubernetes"}, {"cluster", cluster}, {"namespace", "shop"},
                         {"kind", "deployment"},   {"name", "web"},      {"container", "app"}};
  const std::string path = StrCat("GET /api/v1/jobs/", PercentEncode(name));
  tautd.Set(path, {{"name", name},
                   {"workload", workload},
                   {"cpu", {{"owner_limit", 2}, {"would_be", 0.5}}},
                   {"memory", Json::object()}});
  tautd.Set(path + "/explain", {{"cpu", {{"reason", {{"sentence", "It uses less."}}}}}});
  tautd.Set(path + "/usage", Json::parse(R"({"edges": [0, 1], "counts": []})"));
}

TEST(DaemonCommands, AnExportAsksForEachJob) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"jobs", {{{"name", "shop/web"}}, {{"name", "gone"}}}}});
  SetExported(tautd, "shop/web", nullptr);
  const Ran patch = tautd.Run("export --format patch -n shop");
  EXPECT_EQ(patch.code, kExitOk) << patch.error;
  EXPECT_THAT(patch.out, AllOf(HasSubstr("metadata: {name: \"web\", namespace: \"shop\"}"),
                               HasSubstr("requests: {cpu: 500m}"), HasSubstr("(It uses less.)")));
  EXPECT_THAT(
      tautd.Requests(),
      ElementsAre("GET /api/v1/jobs?sort=name&order=asc&limit=1000&offset=0&search=namespace%3Dshop",
                  "GET /api/v1/jobs/shop%2Fweb", "GET /api/v1/jobs/shop%2Fweb/explain",
                  "GET /api/v1/jobs/shop%2Fweb/usage?resource=cpu&columns=7", "GET /api/v1/jobs/gone"));
  EXPECT_THAT(tautd.Run("export --format report").out, HasSubstr("jobs with a recommendation (1 of 1)"));
  EXPECT_THAT(tautd.Requests(), Not(Contains(HasSubstr("memory"))));
  EXPECT_THAT(tautd.Run("export").out, HasSubstr("\"shop/web\":\n  resources:\n"));
  EXPECT_THAT(tautd.Run("export --format docker").out, HasSubstr("docker update --cpus 0.500 -- app\n"));
  EXPECT_THAT(tautd.Run("export --format csv").out, HasSubstr("\nshop/web,"));
  EXPECT_THAT(tautd.Run("export --format helm").out, HasSubstr("\"web\":\n  \"app\":\n    \"resources\":\n"));
}

TEST(DaemonCommands, AnExportOfSeveralClustersIsRefused) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"jobs", {{{"name", "east/web"}}, {{"name", "west/web"}}}}});
  SetExported(tautd, "east/web", "east");
  SetExported(tautd, "west/web", "west");
  for (const char* form : {"patch", "kustomize"}) {
    const Ran ran = tautd.Run(StrCat("export --format ", form));
    EXPECT_EQ(ran.code, kExitFailed) << form;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.error, HasSubstr("the jobs are of several clusters (\"east\", \"west\")"));
  }
  EXPECT_EQ(tautd.Run("export --format yaml").code, kExitOk);
}

TEST(DaemonCommands, AnExportThatCannotBeIsRefusedBeforeAnyRequest) {
  FakeTautd tautd;
  for (const auto& [options, error] :
       {std::pair{"patch", "\"patch\" is a form: write --format patch"},
        {"--output json", "--output requires --format report"},
        {"--format helm --values-path {image}", "--values-path: invalid path \"{image}\""},
        {"--format report --by team,team", "--by: \"team,team\": expected labels of jobs, each once"},
        {"--format report --by ,", "--by: \",\": expected labels"}}) {
    const Ran ran = tautd.Run(StrCat("export ", options));
    EXPECT_EQ(ran.code, kExitUsage) << options;
    EXPECT_THAT(ran.error, HasSubstr(error)) << options;
  }
  EXPECT_TRUE(tautd.Requests().empty());
  tautd.Set("GET /api/v1/jobs", {{"jobs", Json::array()}});
  const Ran none = tautd.Run("export shop");
  EXPECT_EQ(none.code, kExitFailed);
  EXPECT_EQ(none.error, "taut: no job matches \"shop\"\n");
}

TEST(DaemonCommands, JobsWithoutARecommendationLeaveNothingToWrite) {
  FakeTautd tautd;
  tautd.Set("GET /api/v1/jobs", {{"jobs", {{{"name", "web"}}}}});
  SetExported(tautd, "web", nullptr);
  tautd.Set("GET /api/v1/jobs/web", {{"name", "web"}, {"cpu", {{"owner_limit", 2}}}});
  for (const char* form : {"yaml", "docker"}) {
    const Ran ran = tautd.Run(StrCat("export --format ", form));
    EXPECT_EQ(ran.code, kExitFailed) << form;
    EXPECT_EQ(ran.error, "taut: nothing to write: 1 job: no recommendation yet\n");
  }
  EXPECT_THAT(
      tautd.Run("export --format patch").error,
      HasSubstr("nothing to write: 1 job of no workload of Kubernetes whose template can be changed"));
  EXPECT_EQ(tautd.Run("export --format csv").code, kExitOk) << "a table without rows is a table";
}

}  // namespace
}  // namespace taut::tools
