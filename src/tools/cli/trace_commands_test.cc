// Tests of commands that read a trace: generate, replay, explain, tune, analyze and overcommit.
#include <algorithm>
#include <filesystem>

#include "common/testing/temp_dir.h"
#include "tools/cli/json_text.h"
#include "tools/cli/run_taut.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string TextOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A trace of twelve jobs over ten days, which all tests read.
class TraceCommands : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = new TempDir(TempDir::Where::kMemory);
    made_ = RunTaut(StrCat("trace generate ", Trace(), " --jobs 12 --days 10 --seed 3"));
  }
  static void TearDownTestSuite() {
    delete shared_;
    shared_ = nullptr;
  }
  static std::string Trace() { return shared_->File("cell.csv"); }
  // Runs "COMMAND TRACE OPTIONS".
  static Ran On(const std::string& command, const std::string& options) {
    return RunTaut(StrCat(command, " ", Trace(), options.empty() ? "" : " ", options));
  }
  // Expects lines that fit a terminal, except lines with names of files.
  static void ExpectNarrow(const Ran& ran) {
    for (const std::string_view line : Split(ran.out, '\n')) {
      EXPECT_TRUE(DisplayWidth(line) <= kTextColumns || line.find('/') != std::string_view::npos) << line;
    }
  }
  static void ExpectErrors(const std::string& command, std::initializer_list<BadLine> lines) {
    for (const BadLine& bad : lines) {
      const Ran ran = On(command, bad.line);
      EXPECT_EQ(ran.code, kExitUsage) << bad.line << ": " << ran.error;
      EXPECT_THAT(ran.error, HasSubstr(bad.named)) << bad.line;
      EXPECT_EQ(ran.out, "") << bad.line;
    }
  }

  static TempDir* shared_;
  static Ran made_;
  TempDir folder_;
};
TempDir* TraceCommands::shared_ = nullptr;
Ran TraceCommands::made_;

TEST_F(TraceCommands, AGeneratedTraceIsOfItsSeed) {
  EXPECT_EQ(made_.code, kExitOk) << made_.error;
  EXPECT_EQ(made_.out, StrCat(Trace(), ": 12 synthetic jobs over 10 days (seed 3)\n"));
  const std::string again = folder_.File("again.csv"), other = folder_.File("other.csv");
  EXPECT_EQ(RunTaut(StrCat("trace generate ", again, " --jobs 12 --days 10 --seed 3 -q")).out, "");
  RunTaut(StrCat("trace generate ", other, " --jobs 12 --days 10 --seed 4 -q"));
  EXPECT_EQ(TextOfFile(again), TextOfFile(Trace()));
  EXPECT_NE(TextOfFile(other), TextOfFile(Trace()));
  ExpectUsageErrors({{"trace generate a.txt", "\"a.txt\" should end in .csv or .csv.gz"},
                     {"trace generate a.csv --format xml", "--format: \"xml\": expected csv or google2019"},
                     {"trace generate a.csv --jobs 0", "a generated cell needs at least 1 job, 1 day"},
                     {"trace generate a.csv --days -1", "at least 1 job, 1 day and 1 task a job"}});
  EXPECT_EQ(RunTaut("trace generate /nonexistent/a.csv --jobs 1 --days 1").code, kExitFailed);
}

TEST_F(TraceCommands, AReplayShowsEachRecommender) {
  const Ran ran = On("replay", "--recommender moving_window,peak --resource memory -q");
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("12 jobs"), HasSubstr("after 7 days of warm-up; feedback none"),
                             HasSubstr("\nmoving_window "), HasSubstr("\npeak "), Not(HasSubstr("CPU\n"))));
  const Ran details = On("replay", "--recommender peak --details -q");
  ExpectNarrow(details);
  EXPECT_THAT(details.out,
              AllOf(HasSubstr("Memory, by job\n"), HasSubstr("CPU, by job\n"),
                    HasSubstr("slack < 0: the p95 of the day's usage is above the mean limit\n")));
}

TEST_F(TraceCommands, AReplayWritesItsFiles) {
  const std::string json = folder_.File("r.json"), csv = folder_.File("d.csv"), html = folder_.File("r.html");
  const Ran ran =
      On("replay", StrCat("--recommender peak -q --json ", json, " --decisions ", csv, " --report ", html));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  const Json result = Json::parse(TextOfFile(json));
  EXPECT_EQ(result["format"], "taut-replay/1");
  EXPECT_EQ(result["lanes"].size(), 2U);
  for (const Json& job : result["lanes"][0]["by_job"]) EXPECT_GT(job["job_days"], 0) << "only scored jobs";
  EXPECT_EQ(Json::parse(On("replay", "--recommender peak -q -o json").out)["lanes"][0]["recommender"],
            "peak");
  EXPECT_THAT(TextOfFile(csv), StartsWith("ts_s,job,resource,recommender,limit\n"));
  EXPECT_THAT(TextOfFile(html), HasSubstr("Replay of "));
}

TEST_F(TraceCommands, OutputsDoNotOverwriteInputsOrEachOther) {
  const std::string out = folder_.File("a.json"), link = folder_.File("link.csv");
  std::filesystem::create_symlink(Trace(), link);
  ExpectErrors(
      "replay",
      {{StrCat("--json ", Trace()), StrCat("--json ", Trace(), " is an input; it would be overwritten")},
       {StrCat("--decisions ", link), "is an input; it would be overwritten; choose another name"},
       {StrCat("--json ", out, " --decisions ", folder_.path(), "/./a.json"),
        "is the file of --json too; choose another name"}});
  const Ran missing = On("replay", "--json /nonexistent/r.json");
  EXPECT_EQ(missing.code, kExitFailed);
  EXPECT_THAT(missing.error, AllOf(HasSubstr("--json: "), HasSubstr("/nonexistent/r.json")));
  EXPECT_EQ(On("replay", "--recommender peak -q --json /dev/null --decisions /dev/null").code, kExitOk)
      << "a device may be named twice";
}

TEST_F(TraceCommands, ReplayNamesWhatIsWrong) {
  ExpectErrors("replay", {{"--recommender peek", "--recommender"},
                          {"--resource disk", "invalid --resource \"disk\": expected cpu"},
                          {"--warmup soon", "--warmup: invalid duration \"soon\""},
                          {"--restart-delay x", "--restart-delay: invalid duration \"x\""},
                          {"--feedback oom", "--feedback"},
                          {"--set peak.margn=1", "peak.margn"},
                          {"--set peak.margin", "peak.margin"},
                          {"--mode on", "--mode"},
                          {"--policy min_change=1", "--policy"},
                          {"--compatibility 99.0", "--compatibility"},
                          {"--settings /nonexistent.yaml", "/nonexistent.yaml"}});
  const Ran unscored = On("replay", "--warmup 30d -q");
  EXPECT_EQ(unscored.code, kExitUsage);
  EXPECT_THAT(unscored.error, HasSubstr("warm-up"));
  const Ran empty = On("replay", "--from 20d -q");
  EXPECT_EQ(empty.code, kExitUsage);
  EXPECT_EQ(empty.error, "taut: nothing to replay: the trace has no usage\n");
  EXPECT_THAT(empty.out, HasSubstr("rows: outside the requested time range\n"));
  const Ran story =
      On("replay", StrCat("--recommender peak -q --story nobody --report ", folder_.File("r.html")));
  EXPECT_NE(story.code, kExitOk);
  EXPECT_THAT(story.error, HasSubstr("no job \"nobody\" in the trace (12 jobs); the nearest names are \""));
  const Ran missing = RunTaut("replay /nonexistent.csv");
  EXPECT_NE(missing.code, kExitOk);
  EXPECT_THAT(missing.error, HasSubstr("/nonexistent.csv"));
}

TEST_F(TraceCommands, ARowThatIsBadIsCountedOrFatal) {
  const std::string path = folder_.Write("bad.csv", TextOfFile(Trace()) + "not,a,row\n");
  const Ran ran = RunTaut(StrCat("replay ", path, " --recommender peak -q"));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("skipped 1 row: "));
  const Ran strict = RunTaut(StrCat("replay ", path, " --recommender peak -q --strict"));
  EXPECT_NE(strict.code, kExitOk);
  EXPECT_THAT(strict.error, HasSubstr("bad.csv"));
}

TEST_F(TraceCommands, AnExplanationIsOfOneJobAtATime) {
  const std::string json = folder_.File("r.json");
  On("replay", StrCat("--recommender peak -q --json ", json));
  const Json jobs = Json::parse(TextOfFile(json))["lanes"][0]["by_job"];
  const auto& longest =
      *std::ranges::max_element(jobs, {}, [](const Json& one) { return one["job_days"].get<int64_t>(); });
  const auto job = longest["job"].get<std::string>();
  const Ran ran = On("explain", StrCat("--recommender peak -q --job ", job));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(job), HasSubstr("peak · memory: "), HasSubstr("peak · cpu: ")));
  const Ran early = On("explain", StrCat("--recommender peak -q --at 9d --job ", job));
  EXPECT_EQ(early.code, kExitOk) << early.error;
  EXPECT_NE(early.out, ran.out);
  EXPECT_THAT(On("explain", StrCat("--all -q --resource memory --job ", job)).out,
              AllOf(HasSubstr("moving_window · memory"), HasSubstr("vpa · memory"), Not(HasSubstr("· cpu"))));
  const Json explained = Json::parse(On("explain", StrCat("--recommender peak -q -o json --job ", job)).out);
  EXPECT_FALSE(explained.empty());
  ExpectErrors("explain", {{StrCat("-q --job ", job, " --at 90d"), "--at"},
                           {StrCat("-q --job ", job, " --at 0s"), "--at"}});
  const Ran unknown = On("explain", "-q --job nobody");
  EXPECT_EQ(unknown.code, kExitFailed);
  EXPECT_THAT(unknown.error, HasSubstr("no job \"nobody\" in the trace"));
}

TEST_F(TraceCommands, TuneWritesSettingsThatReplayReads) {
  const std::string settings = folder_.File("s.yaml");
  const std::string sweep = "--recommender peak --sweep peak.margin=0.05,0.5 --warmup 5d -q ";
  const Ran ran = On("tune", StrCat(sweep, "--oom-days 1 --changes 100 --out ", settings));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out,
              AllOf(StartsWith("Frontier over 3 trials (memory; footprint as a share of the owner's"),
                    HasSubstr("\nmargin    footprint  OOM-days  changes\n"), HasSubstr("<- chosen\n"),
                    HasSubstr("\ncpu: tune it by itself, with --resource cpu\n"),
                    EndsWith(StrCat("\nsettings: ", settings, "\n"))));
  EXPECT_THAT(TextOfFile(settings), HasSubstr("0.05")) << "the cheapest trial within the targets";
  EXPECT_EQ(On("replay", StrCat("--recommender peak -q --settings ", settings)).code, kExitOk);
  const Json json = Json::parse(On("tune", StrCat(sweep, "--resource cpu -o json")).out);
  EXPECT_EQ(json["format"], "taut-tune/1");
  EXPECT_EQ(json["trials"].size(), 3U) << "the settings as given are a trial";
  EXPECT_EQ(json["trials"][1]["settings"]["peak.margin"], "0.05");
  EXPECT_TRUE(json["trials"][1].contains("cpu"));
}

TEST_F(TraceCommands, TuneTakesTheNearestWhereNothingIsWithin) {
  const Ran ran = On("tune", "--recommender peak --sweep peak.margin=0.05,0.5 --warmup 5d -q --changes 0");
  EXPECT_EQ(ran.code, kExitOk);
  EXPECT_THAT(ran.error,
              AllOf(StartsWith("taut: no settings tried are within 3 % of OOM-days (--oom-days) and 0 "
                               "changes per job-day (--changes); the nearest"),
                    HasSubstr("Allow more, or try other settings with --sweep\n")));
  EXPECT_THAT(ran.out, HasSubstr("<- chosen"));
}

TEST_F(TraceCommands, TuneNamesWhatIsWrong) {
  const std::string weights = folder_.Write("w.csv", "job,weight\n# a comment\nnobody,3\n"),
                    negative = folder_.Write("n.csv", "a,-1\n");
  std::string many = "--recommender peak --sweep peak.margin=0";
  for (int i = 1; i <= 10'000; ++i) StrAppend(&many, ",0.", i);
  ExpectErrors("tune", {{"--recommender peak,vpa -q", "tune needs one --recommender: ensemble"},
                        {"--recommender peak --sweep peak.margin",
                         "--sweep: expected key=value,value, not peak.margin"},
                        {"--recommender peak --sweep peak.margn=1", "--sweep: "},
                        {many, "10001 combinations are more than 10000"},
                        {StrCat("--recommender peak -q --weights ", weights), "w.csv:3: no job \"nobody\""},
                        {StrCat("--recommender peak -q --weights ", negative),
                         "n.csv:1: expected job,weight with a weight of 0 or more"}});
  const Ran missing = On("tune", "--recommender peak -q --weights /nonexistent.csv");
  EXPECT_EQ(missing.code, kExitFailed);
  EXPECT_THAT(missing.error, HasSubstr("cannot read the weights file /nonexistent.csv"));
}

TEST_F(TraceCommands, WeightsChangeWhatIsMeasured) {
  const std::string json = folder_.File("r.json");
  On("replay", StrCat("--recommender peak -q --json ", json));
  const Json jobs = Json::parse(TextOfFile(json))["lanes"][0]["by_job"];
  std::string rows = "job,weight\n";
  for (size_t i = 1; i < jobs.size(); ++i) StrAppend(&rows, jobs[i]["job"].get<std::string>(), ", 0\n");
  const std::string tune = "--recommender peak --sweep peak.margin=0.05 --warmup 5d -q -o json";
  const auto footprint = [&](const std::string& options) {
    return Json::parse(On("tune", StrCat(tune, options)).out)["trials"][0]["memory"]["footprint"]
        .get<double>();
  };
  EXPECT_NE(footprint(StrCat(" --weights ", folder_.Write("w.csv", rows))), footprint(""));
}

TEST_F(TraceCommands, AnAnalysisHasItsParts) {
  const Ran ran = On("analyze", "-q");
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, HasSubstr("12 jobs"));
  const Ran json = On("analyze", "-q -o json");
  EXPECT_TRUE(Json::parse(json.out).is_object());
  ExpectNarrow(ran);
}

TEST_F(TraceCommands, PeaksOfMachinesArePredicted) {
  const std::string kills = folder_.File("p.csv");
  const Ran ran =
      On("overcommit", StrCat("-q --resource memory --machine-tasks 2 --placements 1 --warmup-days 2 "
                              "--predictors machine-max,oracle --decisions ",
                              kills));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("machine-max"), HasSubstr("oracle")));
  ExpectNarrow(ran);
  EXPECT_THAT(TextOfFile(kills),
              StartsWith("time_s,resource,placement,machine,predictor,limit,predicted,oracle,reason\n"));
  ExpectErrors("overcommit", {{"--predictors best", "--predictors"},
                              {"--every 1m", "--every"},
                              {"--horizon x", "--horizon: invalid duration \"x\""},
                              {"--machines recorded --machine-tasks 3",
                               "--machine-tasks, --placements and --seed: expected with --machines made"},
                              {"--kills k.csv", "--kills"},
                              {"--set n=1", "--set"}});
}

TEST_F(TraceCommands, SoftMemoryIsComparedWithHardLimits) {
  const std::string kills = folder_.File("k.csv"), json = folder_.File("s.json");
  const std::string soft =
      "-q --soft --machine-tasks 2 --placements 1 --warmup-days 2 --predictors machine-max ";
  const Ran ran = On("overcommit", StrCat(soft, "--requests peak --kills ", kills, " --json ", json));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("hard limits: peak"), HasSubstr("machine-max"),
                             HasSubstr("tiers drawn), 3 machines of 2 tasks\n"),
                             HasSubstr("footprint: memory of the machines over the owners' limits;"),
                             EndsWith(StrCat("results: ", json, "\nkills: ", kills, "\n"))));
  EXPECT_THAT(
      TextOfFile(kills),
      StartsWith("time_s,world,placement,machine,task,tier,usage,request,machine_usage,machine_memory\n"));
  ExpectNarrow(ran);
  const Json result = Json::parse(TextOfFile(json));
  EXPECT_EQ(result["requests"], "peak");
  EXPECT_EQ(result["drawn_tiers"], true) << "the trace has no priorities";
  EXPECT_EQ(result["worlds"][0]["world"], "hard");
  EXPECT_EQ(result["worlds"][0]["total"]["kills_a_task_day"].is_number(), true);
  const Json drawn =
      Json::parse(On("overcommit", StrCat(soft, "--tiers production=0.6,batch=0.4 -o json")).out);
  EXPECT_EQ(drawn["drawn_tiers"], true);
  EXPECT_TRUE(drawn["worlds"][0]["tiers"].contains("batch"));
}

TEST_F(TraceCommands, SoftMemoryNamesWhatHasNoEffect) {
  ExpectErrors(
      "overcommit",
      {{"--soft --resource cpu", "--soft: has no effect on cpu, which kills no task: expected --resource"},
       {"--soft --decisions d.csv", "--decisions: has no effect with --soft: expected --kills"},
       {"--soft --html p.html", "--html: has a page of predictions, and none of --soft"},
       {"--soft --requests best", "--requests: "},
       {"--soft --tiers production", "--tiers: \"production\": expected NAME=SHARE with one of free, batch"},
       {"--soft --tiers gold=0.5", "--tiers: \"gold=0.5\": expected NAME=SHARE"},
       {"--soft --tiers batch=half", "--tiers: \"batch=half\": expected NAME=SHARE"},
       {"--soft --compatibility 99", "--compatibility"},
       {StrCat("--soft --kills ", Trace()), "is an input; it would be overwritten"}});
}

constexpr const char* kPricesYaml = R"(
currency: EUR
tiers:
  - {name: production, rule: max_request_usage, availability: 0.999, prices: [{core_hour: 0.03, gib_hour: 0.004}]}
  - {name: batch, rule: usage, prices: [{core_hour: 0.01, gib_hour: 0.001}]}
jobs:
  - {match: "*0", tier: batch}
  - {match: "*5", tier: batch}
groups:
  - {match: "job-0000*", group: retail}
pool: {cores: 40, memory: 160GiB, core_hour: 0.02, gib_hour: 0.003, idle: proportional}
)";

TEST_F(TraceCommands, BillsOfATraceAreByGroupTierOrJob) {
  const std::string prices = StrCat("--prices ", folder_.Write("p.yaml", kPricesYaml), " -q");
  const Ran groups = On("get bills", prices);
  EXPECT_EQ(groups.code, kExitOk) << groups.error;
  EXPECT_THAT(groups.out, AllOf(HasSubstr("\nretail "), HasSubstr("\nall "), HasSubstr("the pool costs "),
                                HasSubstr(" EUR; the platform ")));
  ExpectNarrow(groups);
  const Ran tiers = On("get bills", prices + " --by tier --recommender peak");
  EXPECT_THAT(tiers.out, AllOf(HasSubstr("\nbatch "), HasSubstr("\nproduction "), HasSubstr("charged by"),
                               HasSubstr("with the limits of peak, ")));
  const Ran jobs = On("get bills", prices + " --by job --limit 2");
  EXPECT_THAT(jobs.out, HasSubstr("the first 2 of 12 rows; --limit shows more\n"));
  const Json json = Json::parse(On("get bills", prices + " --by tier -o json").out);
  EXPECT_EQ(json["currency"], "EUR");
  const std::string focus = folder_.File("bill.csv");
  EXPECT_EQ(On("get bills", StrCat(prices, " --focus ", focus)).code, kExitOk);
  EXPECT_THAT(TextOfFile(focus), HasSubstr("BilledCost"));
}

TEST_F(TraceCommands, BillsOfATraceNameWhatIsWrong) {
  const std::string prices = StrCat("--prices ", folder_.Write("p.yaml", kPricesYaml), " -q ");
  ExpectErrors("get bills",
               {{prices + "--by team", "--by: \"team\": expected group, tier or job"},
                {prices + "--job a", "--job and --what-if belong together: one of them is missing"},
                {prices + "--what-if tier=batch", "--job and --what-if belong together"},
                {prices + "--recommender best", "best"},
                {"--prices /nonexistent.yaml", "/nonexistent.yaml"},
                {StrCat("--prices ", folder_.Write("bad.yaml", "tiers: 7\n")), "bad.yaml"}});
  const Ran unknown = On("get bills", prices + "--job nobody --what-if tier=batch");
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_THAT(unknown.error, HasSubstr("--job: no job \"nobody\" in the trace (12 jobs)"));
}

TEST_F(TraceCommands, AnEconomyComparesPolicies) {
  const std::string prices = StrCat("--prices ", folder_.Write("p.yaml", kPricesYaml), " -q --warmup 7d ");
  const std::string bills = folder_.File("b.csv"), lines = folder_.File("l.csv"),
                    decisions = folder_.File("d.csv");
  const Ran ran = On("economy", StrCat(prices, "--policies none,unreserved --horizon 1h --bills ", bills,
                                       " --lines ", lines, " --decisions ", decisions));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("\nunreserved "), HasSubstr("\nbills, EUR\n"),
            EndsWith(StrCat("bills: ", bills, "\nlines: ", lines, "\ndecisions: ", decisions, "\n"))));
  ExpectNarrow(ran);
  for (const std::string& file : {bills, lines, decisions}) EXPECT_GT(TextOfFile(file).size(), 50U) << file;
  const Json json = Json::parse(On("economy", prices + "--policies none -o json").out);
  EXPECT_TRUE(json.is_object());
}

TEST_F(TraceCommands, AnEconomyNamesWhatIsWrong) {
  const std::string prices = StrCat("--prices ", folder_.Write("p.yaml", kPricesYaml), " -q ");
  ExpectErrors("economy",
               {{prices + "--tiers gold=slack", "--tiers: the price file has no tier \"gold\"; did you mean"},
                {prices + "--tiers batch=sold", "--tiers: batch="},
                {prices + "--policies best", "--policies: "},
                {prices + "--capacity gpu=3", "--capacity: \"gpu=3\": expected cpu=CORES and memory=BYTES"},
                {prices + "--capacity cpu=many,memory=1TiB", "--capacity: cpu: "},
                {prices + "--capacity cpu=3", "--capacity: the memory is missing or 0; expected both"},
                {prices + "--capacity-share 0", "invalid --capacity-share 0: expected more than 0, to 100"},
                {prices + "--penalty 2", "--penalty: \"2\": expected a share from 0 to 1, such as 0.1"},
                {prices + "--warmup 1m", "invalid --warmup \"1m\": expected"},
                {prices + "--horizon 200d", "invalid --horizon \"200d\": expected"},
                {prices + "--reclaim soon", "--reclaim: invalid duration \"soon\""},
                {prices + "--quota /nonexistent.yaml", "--quota: "},
                {prices + StrCat("--bills ", Trace()), "is an input; it would be overwritten"}});
}

TEST_F(TraceCommands, AnEconomyOfOneTierHasNothingToSell) {
  const std::string prices = folder_.Write("one.yaml", R"(
currency: EUR
tiers: [{name: production, rule: usage, availability: 0.999, prices: [{core_hour: 0.03, gib_hour: 0.004}]}]
)");
  const Ran ran = On("economy", StrCat("--prices ", prices, " -q --policies none"));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out,
              HasSubstr("all 12 jobs of the trace are of tier \"production\": no other tier asks for what"));
}

TEST_F(TraceCommands, ReplicasFollowTheCpuOfATrace) {
  const std::string replicas = "--replicas --usage -q --policies hpa,clairvoyant --warmup 2d";
  const Ran ran = On("replay", replicas);
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("one task processes its CPU limit; a task is ready "), HasSubstr("\nhpa"),
                    HasSubstr("\nclairvoyant"), HasSubstr("load above the capacity is lost\n")));
  ExpectNarrow(ran);
  EXPECT_THAT(On("replay", replicas + " --overload queue --capacity 0.5 --startup-sigma 0.4").out,
              AllOf(HasSubstr("one task processes 0.5; "), HasSubstr("(log-normal, sigma 0.4)"),
                    HasSubstr("load above the capacity waits\n")));
  EXPECT_THAT(On("replay", replicas + " --mode auto --policy replicas.settle=5m").out,
              HasSubstr("orders as by tautd in mode auto: a lower number waits "));
  EXPECT_TRUE(Json::parse(On("replay", replicas + " -o json").out).is_object());
}

TEST_F(TraceCommands, OptionsOfReplicasNameTheirRange) {
  const std::string replicas = "--replicas --usage -q ";
  ExpectErrors(
      "replay",
      {{replicas + "--policies best", "--policies: "},
       {replicas + "--target-utilization 2", "invalid --target-utilization 2: expected 0.01 to 1"},
       {replicas + "--startup-sigma -1", "invalid --startup-sigma -1: expected 0 to 3"},
       {replicas + "--capacity 0", "invalid --capacity 0: expected more than 0, at most 1e+30"},
       {replicas + "--startup soon", "--startup: invalid duration \"soon\""},
       {replicas + "--decide-every 0s", "invalid --decide-every \"0s\": expected 1s to 3650d"},
       {replicas + "--warmup 4000d", "invalid --warmup \"4000d\": expected 0s to 3650d"},
       {replicas + "--policy maintenance=x", "--policy: has no effect with --mode recommend"},
       {replicas + "--mode observe", "--mode: \"observe\": expected recommend, auto or canary"},
       {replicas + "--mode auto --policy maintenance", "--policy: expected key=value, not \"maintenance\""},
       {replicas + "--mode auto --policy min_change=1", "--policy: \"min_change\": expected one of"},
       {replicas + "--mode auto --policy replicas.settle=x", "--policy: "},
       {replicas + "--set no_such=1", "--set: "},
       {replicas + "--settings /nonexistent.yaml", "/nonexistent.yaml"},
       {replicas + "--compatibility 99", "--compatibility: "}});
}

}  // namespace
}  // namespace taut::tools
