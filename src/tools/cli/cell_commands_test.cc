// Tests of `taut compact` and `taut simulate`, on small cells of files and on generated ones.
#include <algorithm>

#include "common/testing/temp_dir.h"
#include "tools/cli/json_text.h"
#include "tools/cli/run_taut.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CellCommands : public testing::Test {
 protected:
  CellCommands() {
    std::string machines = "name,cpu_cores,memory_gib\n";
    for (int i = 0; i < 10; ++i) StrAppend(&machines, "m", i, ",16,64\n");
    machines_ = folder_.Write("machines.csv", machines);
    jobs_ = folder_.Write("jobs.csv",
                          "name,user,tier,tasks,cpu_limit,memory_limit,cpu_reservation\n"
                          "web,shop,production,12,2,4GiB,1\n"
                          "crawl,lab,batch,20,1,2GiB,0.5\n"
                          "bad,lab,batch,x,1,2GiB,0.5\n");
    // Two days of usage of both jobs, in windows of five minutes.
    std::string usage = "time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit\n";
    for (int window = 0; window < 2 * 288; ++window) {
      StrAppend(&usage, 300 * window, ",web,0,0.5,1073741824,2,4294967296\n");
      StrAppend(&usage, 300 * window, ",crawl,0,0.25,536870912,1,2147483648\n");
    }
    usage_ = folder_.Write("usage.csv", usage);
  }
  static void ExpectNarrow(const std::string& text) {
    for (const std::string_view line : Split(text, '\n')) {
      EXPECT_TRUE(DisplayWidth(line) <= kTextColumns || line.find('/') != std::string_view::npos) << line;
    }
  }

  TempDir folder_;
  std::string machines_, jobs_, usage_;
};

TEST_F(CellCommands, CompactFindsTheMachinesThatAreNeeded) {
  const std::string json = folder_.File("c.json"), placements = folder_.File("p.csv");
  const Ran ran = RunTaut(StrCat("compact ", machines_, " ", jobs_,
                                 " --trials 3 --experiments segregate --seed 5 --json ", json,
                                 " --placements ", placements));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("skipped 1 row: "), HasSubstr("10 machines, 2 jobs, 32 tasks\n"),
            HasSubstr("  cpu: limits 27.5 % of the capacity (production 15.0 %), reservations 13.8 %\n"),
            HasSubstr("machines needed: "), HasSubstr(" of 10 ("), HasSubstr("3 trials, "),
            HasSubstr("\nsegregate ")));
  ExpectNarrow(ran.out);
  const Json result = Json::parse(ReadWhole(json));
  EXPECT_EQ(result["jobs"], 2);
  EXPECT_EQ(result["experiments"][0]["trials"].size(), 3U);
  EXPECT_LE(result["experiments"][0]["min"], result["experiments"][0]["max"]);
  EXPECT_EQ(result["usage"], nullptr);
  EXPECT_THAT(ReadWhole(placements), StartsWith("experiment,trial,machine,machine_name,job,task\nbase,"));
  EXPECT_EQ(Json::parse(RunTaut(StrCat("compact ", machines_, " ", jobs_,
                                       " --trials 3 --experiments segregate --seed 5 -o json"))
                            .out)["experiments"],
            result["experiments"])
      << "the same seed";
}

TEST_F(CellCommands, CompactPacksByTheLimitsOfARecommender) {
  const std::string line =
      StrCat("compact ", machines_, " ", jobs_, " --trials 1 --recommender peak --usage ", usage_);
  const Ran ran = RunTaut(line);
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("usage: read 1,152 rows of 1 file"), HasSubstr("\nlimits:peak "),
            HasSubstr("limits, reserved: shares of the capacity; over: share of job-days"),
            HasSubstr("2 jobs from day 0 00:00 to day 2 00:00; what counts: 2 days before day 2 00:00\n")));
  ExpectNarrow(ran.out);
  const Json json = Json::parse(RunTaut(line + " -o json").out);
  EXPECT_EQ(json["usage"]["jobs"], 2);
  const auto& rows = json["experiments"];
  const auto peak =
      std::ranges::find_if(rows, [](const Json& row) { return row["experiment"] == "limits:peak"; });
  ASSERT_NE(peak, rows.end());
  EXPECT_EQ((*peak)["demand"]["kind"], "limits");
  EXPECT_EQ((*peak)["demand"]["jobs_kept"], 0);
  EXPECT_LE((*peak)["machines"], rows[0]["machines"]) << "the jobs use less than their limits";
}

TEST_F(CellCommands, JobsWithoutUsageKeepWhatTheirOwnerAsksFor) {
  const std::string other = folder_.Write("other.csv",
                                          "name,tier,tasks,cpu_limit,memory_limit\n"
                                          "web,production,2,2,4GiB\nquiet,batch,3,1,1GiB\n");
  const Ran ran =
      RunTaut(StrCat("compact ", machines_, " ", other, " --trials 1 --recommender peak --usage ", usage_));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(
      ran.out,
      HasSubstr("  in each of them 1 job of 3 tasks without usage until then keeps what the owner asks "
                "for: quiet\n"));
}

TEST_F(CellCommands, CompactNamesWhatIsWrong) {
  const std::string files = StrCat("compact ", machines_, " ", jobs_, " ");
  ExpectUsageErrors(
      {{"compact --machines 0", "invalid --machines 0: expected 1 to 100000"},
       {"compact --tasks-per-machine 0.5", "invalid --tasks-per-machine 0.5: expected 1 to 100"},
       {"compact --trials 1001", "invalid --trials 1001: expected 1 to 1000"},
       {"compact --pending 100", "invalid --pending 100: expected 0 to less than 100"},
       {"compact --large-user 0", "invalid --large-user 0: expected more than 0, up to 100"},
       {"compact --stranded-weight -1", "invalid --stranded-weight -1: expected 0 to 1000"},
       {"compact --experiments none", "--experiments: "},
       {"compact --at 3d", "--at: expected with files; a generated cell is of one time"},
       {"compact --usage a.csv", "a generated cell has no usage; expected files of a cell"},
       {"compact --set peak.margin=1", "--settings and --set: expected together with --recommender"},
       {files + "--recommender peak",
        "files of machines and jobs have no usage; expected --usage with a trace"},
       {files + "--recommender peek", "peek"},
       {files + "--predictors best", "--predictors: "},
       {files + StrCat("--recommender peak --usage ", usage_, " --at soon"),
        "--at: invalid duration \"soon\""},
       {files + StrCat("--recommender peak --usage ", usage_, " --after 30m"), "--after"},
       {files + StrCat("--json ", jobs_), "is an input; it would be overwritten"}});
  const Ran early = RunTaut(files + StrCat("--recommender peak --usage ", usage_, " --at 0s"));
  EXPECT_EQ(early.code, kExitUsage);
  EXPECT_THAT(early.error, HasSubstr("expected a later --at"));
}

TEST_F(CellCommands, SimulateRunsAGeneratedCell) {
  const std::string json = folder_.File("s.json"), events = folder_.File("e.csv"),
                    html = folder_.File("s.html");
  const std::string made = "simulate --machines 10 --tasks-per-machine 4 --time 6h --seed 3 ";
  const Ran ran = RunTaut(StrCat(made, "--compare best-fit --json ", json, " --events ", events, " --report ",
                                 html, " --threads 1"));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("a generated cell (seed 3)\n"), HasSubstr("10 machines, "),
                             HasSubstr("; 6 h, the first 1.5 h not measured\n")));
  ExpectNarrow(ran.out);
  const Json result = Json::parse(ReadWhole(json));
  EXPECT_EQ(result["machines"], 10);
  EXPECT_EQ(result["end_s"], 21600.0);
  EXPECT_EQ(result["runs"].size(), 2U) << "the base and best-fit";
  EXPECT_THAT(ReadWhole(events), StartsWith("time_s,event,job,task,machine,cause\n"));
  EXPECT_THAT(ReadWhole(html), HasSubstr("A cell over time"));
  EXPECT_EQ(Json::parse(RunTaut(made + "--compare best-fit -o json").out)["runs"], result["runs"]);
}

TEST_F(CellCommands, SimulateReadsFiles) {
  const std::string events = folder_.Write("events.csv",
                                           "time_s,event,job,machine,value\n"
                                           "0,submit,web,,7200\n60,submit,crawl,,3600\n");
  const Ran ran = RunTaut(StrCat("simulate ", machines_, " ", jobs_, " ", events, " --until 3h"));
  EXPECT_THAT(ran.out + ran.error, Not(HasSubstr("generated")));
  ExpectNarrow(ran.out);
}

TEST_F(CellCommands, SimulateNamesWhatIsWrong) {
  ExpectUsageErrors(
      {{"simulate --failure-days 0.001", "--failure-days"},
       {"simulate --limit-changes 1001", "--limit-changes"},
       {"simulate --machines 0", "--machines"},
       {"simulate --machines 100000 --tasks-per-machine 100 --time 300d",
        "--machines, --tasks-per-machine and --time make about "},
       {"simulate --time 0s", "invalid --time 0: expected more than 0"},
       {"simulate --time soon", "--time: invalid duration \"soon\""},
       {"simulate --until 3h", "--until: of files only; see --time"},
       {"simulate --pass-every x", "--pass-every: invalid duration \"x\""},
       {"simulate --warmup 9d", "invalid --warmup 9d: expected less than the simulated time, 2 days"},
       {"simulate --compare none", "--compare: "}});
}

}  // namespace
}  // namespace taut::tools
