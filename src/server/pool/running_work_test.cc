#include "server/pool/running_work.h"

#include <string>
#include <vector>

#include "common/base/strings.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using Answer = RunningWork::Answer;
using Task = RunningWork::Task;

class RunningWorkTest : public ::testing::Test {
 protected:
  void List(const std::vector<Task>& tasks) { work_.Replace(tasks); }

  double now_s_ = 1000;
  RunningWork work_{[this] { return now_s_; }, 3600};
};

// Adds and removes tasks of "web" in order, and checks after each event whether the next task is new work.
TEST_F(RunningWorkTest, DistinguishesWhatReplacesATaskFromNewWork) {
  struct Step {
    const char* what;
    double after_s;
    std::vector<Task> put;
    std::vector<std::string> remove;
    Answer next;
  };
  List({});
  const Step steps[] = {
      {"no task was ever there", 0, {}, {}, Answer::kIsNew},
      {"a task of another workload", 0, {{"tool-1", "tool"}}, {}, Answer::kIsNew},
      {"its first task", 0, {{"web-1", "web"}}, {}, Answer::kRuns},
      {"one of two is gone", 10, {{"web-2", "web"}}, {"web-1"}, Answer::kRuns},
      {"the node of the last one is lost", 10, {}, {"web-2"}, Answer::kRuns},
      {"almost an hour later it has none yet", 3599, {}, {}, Answer::kRuns},
      {"an hour later", 1, {}, {}, Answer::kIsNew},
      {"it is started again", 0, {{"web-3", "web"}}, {}, Answer::kRuns},
      {"it is gone and comes back", 1, {{"web-4", "web"}}, {"web-3"}, Answer::kRuns},
      {"for longer than what is remembered", 7200, {}, {}, Answer::kRuns},
      {"a task that nobody knew is gone", 0, {}, {"web-99"}, Answer::kRuns},
      {"its task turns out to be of another workload", 0, {{"web-4", "canary"}}, {}, Answer::kRuns},
      {"which it is an hour later, too", 3600, {}, {}, Answer::kIsNew},
  };
  for (const Step& step : steps) {
    now_s_ += step.after_s;
    for (const std::string& name : step.remove) work_.Remove(name);
    for (const Task& task : step.put) work_.Put(task);
    EXPECT_EQ(work_.Ask("web"), step.next) << step.what;
  }
  EXPECT_EQ(work_.Ask("canary"), Answer::kRuns);
  EXPECT_EQ(work_.Ask("tool"), Answer::kRuns);
}

TEST_F(RunningWorkTest, KnowsNothingBeforeTheFirstList) {
  work_.Put({"web-1", "web"});
  EXPECT_EQ(work_.Ask("web"), Answer::kUnknown);
  EXPECT_EQ(work_.Ask("tool"), Answer::kUnknown);
  List({{"web-1", "web"}});
  EXPECT_EQ(work_.Ask("web"), Answer::kRuns);
  EXPECT_EQ(work_.Ask("tool"), Answer::kIsNew);
}

TEST_F(RunningWorkTest, AnotherListKeepsWhatRanUntilThen) {
  List({{"web-1", "web"}, {"tool-1", "tool"}});
  now_s_ += 100;
  List({{"web-2", "web"}});
  EXPECT_EQ(work_.Ask("tool"), Answer::kRuns) << "its tasks were lost while the watch was away";
  now_s_ += 3600;
  EXPECT_EQ(work_.Ask("tool"), Answer::kIsNew);
  EXPECT_EQ(work_.Ask("web"), Answer::kRuns);
}

TEST_F(RunningWorkTest, WorkThatComesAndGoesIsForgotten) {
  List({});
  for (int i = 0; i < 100'000; ++i) {
    now_s_ += 1;
    work_.Put({StrCat("run-", i, "-x"), StrCat("run-", i)});
    work_.Remove(StrCat("run-", i, "-x"));
  }
  EXPECT_LE(work_.size(), 3600U);
}

}  // namespace
}  // namespace taut::server
