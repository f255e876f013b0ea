// Tests of commands about taut itself, of backups, and of the choice of stories for a report.
#include <filesystem>

#include "common/base/version.h"
#include "common/testing/temp_dir.h"
#include "tools/cli/run_taut.h"
#include "tools/cli/stories.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(OwnCommands, ManPagesAreWrittenForEachCommand) {
  const TempDir folder;
  const Ran ran = RunTaut(StrCat("man ", folder.path()));
  EXPECT_EQ(ran.code, kExitOk) << ran.error;
  for (const char* page : {"taut", "taut-get", "taut-get-jobs", "taut-trace-fetch", "taut-replay"}) {
    const std::string path = folder.File(StrCat(page, ".1"));
    ASSERT_TRUE(std::filesystem::exists(path)) << page;
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(text, AllOf(StartsWith(".TH TAUT"), HasSubstr(StrCat("\"taut ", kVersion, "\"")))) << page;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("taut-man.1"))) << "a command of package builds";
  const Ran refused = RunTaut("man /nonexistent");
  EXPECT_EQ(refused.code, kExitFailed);
  EXPECT_THAT(refused.error, StartsWith("taut: cannot write /nonexistent/taut-"));
}

TEST(OwnCommands, HelpIsThatOfTheCommand) {
  EXPECT_EQ(RunTaut("help get jobs").out, RunTaut("get jobs --help").out);
  EXPECT_THAT(RunTaut("help").out, HasSubstr("Exit codes: 0 success"));
  const Ran unknown = RunTaut("help get jbos\x1b");
  EXPECT_EQ(unknown.code, kExitUsage);
  EXPECT_THAT(unknown.error, StartsWith("taut: unknown command \"jbos\\x1b\""));
}

TEST(Backup, NamesWhatCannotBeCopied) {
  const TempDir folder;
  for (const char* command : {"backup", "restore"}) {
    const Ran missing =
        RunTaut(StrCat(command, " ", folder.File("copy"), " --store ", folder.File("none.db")));
    EXPECT_NE(missing.code, kExitOk) << command;
    EXPECT_THAT(missing.error, HasSubstr(folder.path())) << command;
    const Ran config =
        RunTaut(StrCat(command, " ", folder.File("copy"), " --config ", folder.File("none.yaml")));
    EXPECT_NE(config.code, kExitOk) << command;
    EXPECT_THAT(config.error, HasSubstr("none.yaml")) << command;
  }
  const std::string memory = folder.Write("tautd.yaml", "store: {path: memory}\n");
  const Ran ran = RunTaut(StrCat("backup ", folder.File("copy"), " --config ", memory));
  EXPECT_EQ(ran.code, kExitUsage);
  EXPECT_EQ(ran.error, StrCat("taut: ", memory, ": store.path is memory: nothing is stored\n"));
}

// Returns a lane of six jobs. Each of the first five jobs is the largest by a different criterion of
// ChooseStories().
LaneResult LaneOfStories(Resource resource) {
  LaneResult lane;
  lane.policy = brain::Policy::kPeak;
  lane.resource = resource;
  lane.per_job.resize(6);
  for (Totals& t : lane.per_job) {
    t.job_days = 2;
    t.limit_seconds = t.limit_seconds_owned = t.owner_limit_seconds = 10;
  }
  lane.per_job[0].owner_limit_seconds = 1000;
  lane.per_job[1].oom_days = 2;
  lane.per_job[2].changes = 9;
  lane.per_job[3].limit_seconds = 500;
  lane.per_job[4].limit_seconds_owned = 100;
  lane.per_job[5] = Totals();  // a job without a scored day
  return lane;
}

std::string Chosen(const std::vector<StoryChoice>& choices) {
  std::string out;
  for (const StoryChoice& c : choices) StrAppend(&out, c.job.value, " ", Name(c.resource), ": ", c.why, "\n");
  return out;
}

TEST(Stories, ChooseTheFirstOfEachKind) {
  ReplayResult result;
  result.lanes = {LaneOfStories(Resource::kMemory)};
  EXPECT_EQ(Chosen(ChooseStories(result, brain::Policy::kPeak, {}, 10)),
            "0 memory: a large saving\n1 memory: many OOM-days\n2 memory: many limit changes\n"
            "3 memory: a large footprint\n4 memory: more than its owner asked for\n");
  EXPECT_EQ(Chosen(ChooseStories(result, brain::Policy::kPeak, {}, 2)),
            "0 memory: a large saving\n1 memory: many OOM-days\n");
  EXPECT_EQ(Chosen(ChooseStories(result, brain::Policy::kVpa, {}, 10)), "") << "no lane of this recommender";
}

TEST(Stories, JobsThatAreAskedForComeFirstWithEachResource) {
  ReplayResult result;
  result.lanes = {LaneOfStories(Resource::kCpu), LaneOfStories(Resource::kMemory)};
  EXPECT_EQ(Chosen(ChooseStories(result, brain::Policy::kPeak, {JobId{5}, JobId{0}}, 1)),
            "5 memory: asked for\n5 cpu: asked for\n0 memory: asked for\n0 cpu: asked for\n")
      << "even if they are more than the count";
  EXPECT_EQ(Chosen(ChooseStories(result, brain::Policy::kPeak, {JobId{0}}, 4)),
            "0 memory: asked for\n0 cpu: asked for\n1 memory: many OOM-days\n2 memory: many limit changes\n");
}

}  // namespace
}  // namespace taut::tools
