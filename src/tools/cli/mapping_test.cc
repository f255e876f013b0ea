// Tests of `taut mapping test` and `taut trace fetch`, with series from the command line and from a fake
// Prometheus.
#include "common/testing/temp_dir.h"
#include "tools/cli/fake_tautd.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kCpuSeries =
    R"(container_cpu_usage_seconds_total{namespace="shop",pod="web-7d9fd6bc4c-abcde",container="app"})";

TEST(MappingTest, NamesTheRuleTheJobAndTheTask) {
  const Ran ran = RunTaut({"mapping", "test", kCpuSeries});
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out,
              HasSubstr("\n  cadvisor-cpu: job shop/web-7d9fd6bc4c-abcde/app, task web-7d9fd6bc4c-abcde, "
                        "cpu_seconds_total\n"))
      << "the owner of the pod is unknown";
  const Json json = Json::parse(RunTaut({"mapping", "test", "-o", "json", kCpuSeries}).out);
  EXPECT_EQ(json[0]["job"], "shop/web-7d9fd6bc4c-abcde/app");
  EXPECT_EQ(json[0]["rule"], "cadvisor-cpu");
  EXPECT_EQ(json[0]["task"], "web-7d9fd6bc4c-abcde");
}

TEST(MappingTest, ASeriesWithoutARuleFails) {
  const Ran ran = RunTaut({"mapping", "test", R"(up{job="x"})", kCpuSeries});
  EXPECT_EQ(ran.code, kExitFailed);
  EXPECT_THAT(ran.out, HasSubstr("  no rule for this metric\n"));
  const Ran missed = RunTaut({"mapping", "test", "container_cpu_usage_seconds_total{id=\"/\"}"});
  EXPECT_EQ(missed.code, kExitFailed);
  EXPECT_THAT(missed.out, HasSubstr("\n  not "));
  const Json json = Json::parse(
      RunTaut({"mapping", "test", "container_cpu_usage_seconds_total{id=\"/\"}", "-o", "json"}).out);
  EXPECT_EQ(json[0]["rule"], nullptr);
  EXPECT_FALSE(json[0]["misses"].empty());
}

// Pods of a ReplicaSet belong to its Deployment, whose name is the ReplicaSet's name without the hash.
TEST(MappingTest, JobsAreATable) {
  const auto owned = [](const char* pod) {
    return StrCat(R"(kube_pod_owner{namespace="shop",pod=")", pod,
                  R"(",owner_kind="ReplicaSet",owner_name="web-7d9fd6bc4c"})");
  };
  const Ran ran = RunTaut(
      {"mapping", "test", "--jobs", kCpuSeries, owned("web-7d9fd6bc4c-abcde"), owned("web-7d9fd6bc4c-fghij"),
       R"(container_memory_working_set_bytes{namespace="shop",pod="web-7d9fd6bc4c-fghij",container="app"})",
       R"(up{job="x\x1b"})"});
  EXPECT_EQ(ran.code, kExitFailed) << "a named series has no rule";
  EXPECT_THAT(ran.out, testing::ContainsRegex("shop/deployment/web/app +2 +2 +yes +yes +- +- +-\n"));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("1 job of 2 series; 2 series about pods"),
                             EndsWith("1 series without a rule:\n  1 up\n")));
  const Json json = Json::parse(RunTaut({"mapping", "test", "--jobs", "-o", "json", kCpuSeries}).out);
  EXPECT_EQ(json[0]["oom_kills"], "no");
  EXPECT_EQ(json[0]["memory_limit"], false);
  EXPECT_THAT(RunTaut({"mapping", "test", "--verbose", kCpuSeries}).out,
              AllOf(StartsWith("container_cpu"), HasSubstr("\n\nJOB ")));
}

TEST(MappingTest, BadSeriesAndFilesAreNamed) {
  const Ran bad = RunTaut({"mapping", "test", kCpuSeries, "a{b"});
  EXPECT_EQ(bad.code, kExitUsage);
  EXPECT_THAT(bad.error, StartsWith("taut: series 2: "));
  EXPECT_EQ(RunTaut({"mapping", "test", "# a comment"}).error,
            "taut: no series: pass some as arguments, one per line on standard input, or --prometheus URL\n");
  EXPECT_EQ(RunTaut({"mapping", "test", "--config", "/nonexistent.yaml", kCpuSeries}).code, kExitUsage);
}

TEST(MappingTest, AsksAPrometheusForTheMetricsOfItsRules) {
  FakeTautd prometheus;
  const Json series = {{"__name__", "container_cpu_usage_seconds_total"},
                       {"namespace", "shop"},
                       {"pod", "db-0"},
                       {"container", "app"},
                       {"value", 7}};
  prometheus.Set("GET /api/v1/series", {{"status", "success"}, {"data", {series, 7, {{"__name__", "up"}}}}});
  const Ran ran = RunTaut({"mapping", "test", "--prometheus", prometheus.url()});
  EXPECT_EQ(ran.code, kExitOk) << "other series of a Prometheus need no rule: " << ran.error;
  EXPECT_THAT(ran.out, AllOf(StartsWith("JOB "), HasSubstr("\nshop/"), HasSubstr(" up\n")));
  EXPECT_THAT(prometheus.Requests(),
              Contains(AllOf(StartsWith("GET /api/v1/series?match%5B%5D="), HasSubstr("container_cpu"))));
  prometheus.Set("GET /api/v1/series", {{"status", "error"}});
  const Ran other = RunTaut({"mapping", "test", "--prometheus", prometheus.url()});
  EXPECT_EQ(other.code, kExitFailed);
  EXPECT_THAT(other.error, HasSubstr(": not a Prometheus: the response has no data"));
  const Ran away = RunTaut("mapping test --prometheus http://127.0.0.1:1");
  EXPECT_EQ(away.code, kExitFailed);
  EXPECT_THAT(away.error, HasSubstr("pass its URL with --prometheus"));
}

TEST(FetchCommand, OptionsNameTheirRange) {
  const TempDir folder;
  const std::string fetch = StrCat("trace fetch http://127.0.0.1:1 --out ", folder.File("a.csv"), " ");
  ExpectUsageErrors({{fetch + "--last soon", "--last: invalid duration \"soon\""},
                     {fetch + "--last 1m", "--last: 1m: expected 5m to 1000d"},
                     {fetch + "--last 1001d", "--last: 1001d: expected 5m to 1000d"},
                     {fetch + "--until never", "--until: \"never\" is not a time"},
                     {fetch + "--token-file /nonexistent", "--token-file: "}});
  EXPECT_NE(RunTaut(fetch + "--config /nonexistent.yaml").code, kExitOk);
}

TEST(FetchCommand, AnUnreachableServerLeavesNoFile) {
  const TempDir folder;
  const std::string out = folder.File("a.csv");
  const Ran ran = RunTaut(StrCat("trace fetch http://127.0.0.1:1 --last 1h --out ", out));
  EXPECT_EQ(ran.code, kExitFailed);
  EXPECT_THAT(ran.error, HasSubstr("http://127.0.0.1:1"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

// Answers a query for the CPU seconds of one container, which uses half a core.
std::optional<HttpResponse> AnswerCpuSeconds(const HttpRequest& request) {
  std::string query, time;
  for (const QueryParameter& p : ParseQuery(request.body).value_or(request.query))
    (p.name == "query" ? query : time) = p.value;
  std::string values;
  if (query.find("container_cpu_usage_seconds_total") != std::string::npos && query.ends_with("s]")) {
    const int64_t end = std::stoll(time), begin = end - std::stoll(query.substr(query.rfind('[') + 1));
    for (int64_t t = (begin + 29) / 30 * 30; t <= end; t += 30)
      StrAppend(&values, values.empty() ? "" : ",", "[", t, ",\"", static_cast<double>(t % 1'000'000) / 2,
                "\"]");
  }
  const std::string series =
      R"({"metric":{"__name__":"container_cpu_usage_seconds_total","namespace":"shop","pod":"db-0",)"
      R"("container":"app"},"values":[)";
  return JsonResponse(200, StrCat(R"({"status":"success","data":{"resultType":"matrix","result":[)",
                                  values.empty() ? "" : StrCat(series, values, "]}"), "]}}"));
}

TEST(FetchCommand, WritesATraceAndTheNextCommand) {
  FakeTautd prometheus;
  prometheus.SetHandler(AnswerCpuSeconds);
  const TempDir folder;
  const std::string out = folder.File("a.csv");
  const std::string fetch =
      StrCat("trace fetch ", prometheus.url(), " --last 2h --until 2024-03-01 --out ", out);
  const Ran ran = RunTaut(fetch);
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(
      ran.out,
      AllOf(StartsWith(
                StrCat(out, ": 2 h of usage, 2024-02-29 22:00 to 2024-03-01 00:00 UTC: 1 job, 1 task, ")),
            HasSubstr("1 of 1 job have no limit and no request: their rows have none to compare with\n"),
            EndsWith(StrCat("next: taut replay ", out, " --warmup 0 --report report.html\n"))));
  std::ifstream file(out);
  const std::string rows(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(rows, AllOf(StartsWith("time,duration,job,task,cpu_cores"), HasSubstr(",0.5,")));
  EXPECT_EQ(RunTaut(StrCat(fetch, " -q")).out, "");
}

TEST(FetchCommand, NoUsageIsAnErrorWithTheWayOn) {
  FakeTautd prometheus;
  const TempDir folder;
  const std::string empty = R"({"status":"success","data":{"resultType":"matrix","result":[]}})";
  for (const char* method : {"GET", "POST"}) {
    for (const char* path : {"/api/v1/query", "/api/v1/query_range"})
      prometheus.Set(StrCat(method, " ", path), JsonResponse(200, empty));
    prometheus.Set(StrCat(method, " /api/v1/series"), JsonResponse(200, R"({"status":"success","data":[]})"));
  }
  const Ran ran = RunTaut(
      StrCat("trace fetch ", prometheus.url(), " --last 1h --until 2026-03-01 --out ", folder.File("a.csv")));
  EXPECT_EQ(ran.code, kExitFailed);
  EXPECT_THAT(ran.error, AllOf(HasSubstr("no usage in the last 60 min before 2026-03-01: of 0 samples"),
                               HasSubstr(StrCat("`taut mapping test --prometheus ", prometheus.url(), "`"))));
}

}  // namespace
}  // namespace taut::tools
