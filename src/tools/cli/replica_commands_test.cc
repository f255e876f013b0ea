// Tests of `taut replay --replicas` and `taut tune --replicas` on a load series.
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

class ReplicaCommands : public testing::Test {
 protected:
  // Writes four days of two jobs: one with a load that doubles in the second half of each day, one without load.
  ReplicaCommands() {
    std::string csv = "time,job,load\n";
    for (int minute = 0; minute < 4 * 1440; minute += 5) {
      StrAppend(&csv, 60 * minute, ",web,", minute % 1440 < 720 ? 100 : 200, "\n");
      StrAppend(&csv, 60 * minute, ",idle,0\n");
    }
    load_ = folder_.Write("load.csv", csv);
  }
  Ran Replay(const std::string& options) const {
    return RunTaut(StrCat("replay --replicas ", load_, " -q --warmup 1d ", options));
  }
  Ran Tune(const std::string& options) const {
    return RunTaut(StrCat("tune --replicas ", load_, " -q --warmup 1d ", options));
  }
  static void ExpectNarrow(const std::string& text) {
    for (const std::string_view line : Split(text, '\n')) {
      EXPECT_TRUE(DisplayWidth(line) <= kTextColumns || line.find('/') != std::string_view::npos) << line;
    }
  }
  static std::string Written(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempDir folder_;
  std::string load_;
};

TEST_F(ReplicaCommands, PoliciesAreComparedWithTheTasksThatAreNeeded) {
  const std::string json = folder_.File("r.json"), csv = folder_.File("d.csv"), html = folder_.File("r.html");
  const Ran ran = Replay(
      StrCat("--policies static,hpa,clairvoyant --json ", json, " --decisions ", csv, " --report ", html));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("load scaled to a mean of 12 busy tasks; a task is ready 2 min after its start;\n"),
            HasSubstr("the first 1 days are not measured;\n"), HasSubstr("\nhpa "),
            HasSubstr("job \"idle\" is not replayed: its load is always 0"),
            HasSubstr("tasks: task-time, starting tasks included, over that of exactly the tasks")));
  ExpectNarrow(ran.out);
  const Json result = Json::parse(Written(json));
  const Json& policies = result["policies"];
  ASSERT_EQ(policies.size(), 3U);
  EXPECT_EQ(policies[2]["policy"], "clairvoyant");
  EXPECT_NEAR(policies[2]["by_job"][0]["overloaded_share"].get<double>(), 0, 1e-9);
  EXPECT_THAT(Written(csv), StartsWith("time_s,job,policy,load,capacity,ready,starting,decided,reason\n"));
  EXPECT_THAT(Written(html), HasSubstr("Replicas of web"));
  EXPECT_EQ(Json::parse(Replay("--policies static,hpa,clairvoyant -o json").out), result);
}

TEST_F(ReplicaCommands, ACapacityNeedsNoScale) {
  EXPECT_THAT(Replay("--policies hpa --capacity 25").out, HasSubstr("one task processes 25; "));
  EXPECT_THAT(Replay("--policies hpa --mean-tasks 3").out,
              HasSubstr("load scaled to a mean of 3 busy tasks; "));
  const std::string idle = folder_.Write("idle.csv", "time,value\n0,0\n300,0\n600,0\n");
  const Ran ran = RunTaut(StrCat("replay --replicas -q --warmup 0d ", idle));
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_THAT(ran.error, HasSubstr("nothing to replay: job "));
}

TEST_F(ReplicaCommands, TuneWritesJobSettingsThatReplayReads) {
  const std::string settings = folder_.File("s.yaml");
  const std::string sweep = "--policies hpa --sweep hpa.target=0.5,0.7 --capacity 25 ";
  const Ran ran = Tune(StrCat(sweep, "--overloaded 0.5 --out ", settings));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  ExpectNarrow(ran.out);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("<- chosen"),
                             HasSubstr(StrCat("\nsettings: ", settings, "\nreplay: taut replay --replicas ")),
                             HasSubstr("note: tautd decides every 5 min")));
  EXPECT_THAT(Written(settings),
              AllOf(StartsWith("# by taut tune --replicas; job settings of tautd"),
                    HasSubstr("\nreplicas.policy: hpa\n"), HasSubstr("\nreplicas.task_capacity: \"25\"\n"),
                    HasSubstr("\nreplicas.hpa.target: ")));
  const Ran replayed = Replay(StrCat("--settings ", settings));
  EXPECT_EQ(replayed.code, kExitOk) << replayed.error;
  EXPECT_THAT(replayed.out,
              AllOf(HasSubstr("one task processes 25; "), HasSubstr("\nhpa "), Not(HasSubstr("\nstatic "))))
      << "policy and capacity are those of the file";
  EXPECT_TRUE(Json::parse(Tune(sweep + "--overloaded 0.5 -o json").out).is_object());
  EXPECT_THAT(
      Tune(StrCat("--policies hpa --sweep hpa.target=0.5 --overloaded 0.9 --out ", settings)).out,
      HasSubstr("note: loads were scaled; in tautd replicas.task_capacity is the load of a fully used "
                "task\n"));
}

TEST_F(ReplicaCommands, TuneWritesNothingWhereNothingIsWithin) {
  const std::string settings = folder_.File("s.yaml");
  const Ran ran = Tune(StrCat(
      "--policies hpa --sweep hpa.target=0.9 --overloaded 0.0001 --replica-changes 0 --out ", settings));
  EXPECT_EQ(ran.code, kExitFailed);
  EXPECT_THAT(
      ran.error,
      AllOf(HasSubstr("no settings tried are overloaded at most 0.01 % of the time (--overloaded) with 0 "
                      "changes a day (--replica-changes); the least were "),
            HasSubstr(StrCat(settings, " was not written. Allow more"))));
  EXPECT_EQ(Written(settings), "");
}

TEST_F(ReplicaCommands, TuneNamesWhatIsWrong) {
  const std::string tune = StrCat("tune --replicas ", load_, " -q ");
  std::string many = "--sweep hpa.target=0.1";
  for (int i = 0; i <= 2000; ++i) StrAppend(&many, ",0.", 1000 + i);
  ExpectUsageErrors(
      {{tune + "--holdout 1", "invalid --holdout 1: expected 0 to 0.9"},
       {tune + "--replica-changes -1", "invalid --replica-changes -1: expected 0 to 1000000"},
       {tune + "--overloaded 0", "invalid --overloaded 0: expected above 0 and below 1"},
       {tune + "--policies best", "--policies: "},
       {tune + "--policies hpa --sweep hpa.target", "--sweep: expected key=value,value, not \"hpa.target\""},
       {tune + "--policies hpa --sweep hpa.target=high", "--sweep: "},
       {tune + "--policies hpa " + many, "--sweep: more than 2000 combinations; sweep fewer values"},
       {tune + "--warmup 30d", "nothing to replay: "}});
}

}  // namespace
}  // namespace taut::tools
