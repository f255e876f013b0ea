#include "tools/cli/decisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"

namespace taut::tools {
namespace {

LimitChange ChangeAt(int32_t window, std::optional<double> limit) {
  return {.job = JobId{1},
          .policy = brain::Policy::kPeak,
          .resource = Resource::kCpu,
          .from = WindowId{window},
          .limit = limit};
}

TEST(DecisionsCsv, HasARowForEachChangeWithAllDigits) {
  const TempDir dir;
  const std::string path = StrCat(dir.path(), "/decisions.csv");
  auto file = OutputFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<JobInfo> jobs(2);
  jobs[1].name = "=shop,\"web\"";
  DecisionsCsv csv(*std::move(file), jobs);
  csv.Add(ChangeAt(2, 0.1 + 0.2));
  csv.Add(ChangeAt(3, std::nullopt));
  csv.Add(ChangeAt(-1, 0.0));
  ASSERT_TRUE(csv.Close().ok());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "ts_s,job,resource,recommender,limit\n"
            "600,\"'=shop,\"\"web\"\"\",cpu,peak,0.30000000000000004\n"
            "900,\"'=shop,\"\"web\"\"\",cpu,peak,\n"
            "-300,\"'=shop,\"\"web\"\"\",cpu,peak,0\n");
}

TEST(DecisionLog, ReturnsAllChangesInOrder) {
  auto log = DecisionLog::Create();
  ASSERT_TRUE(log.ok()) << log.status();
  for (int32_t window = 0; window < 5000; ++window)
    ASSERT_TRUE(
        (*log)->Add(ChangeAt(window, window % 3 == 0 ? std::nullopt : std::optional(window * 0.5))).ok());
  int32_t next = 0;
  ASSERT_TRUE((*log)
                  ->ForEach([&](const LimitChange& change) {
                    EXPECT_EQ(change.from.index, next);
                    EXPECT_EQ(change.job.value, 1U);
                    EXPECT_EQ(change.policy, brain::PolicyPair(brain::Policy::kPeak));
                    EXPECT_EQ(change.resource, Resource::kCpu);
                    EXPECT_EQ(change.limit, next % 3 == 0 ? std::nullopt : std::optional(next * 0.5))
                        << "no limit is not 0";
                    ++next;
                  })
                  .ok());
  EXPECT_EQ(next, 5000);
}

TEST(DecisionLog, AnEmptyLogHasNoChange) {
  auto log = DecisionLog::Create();
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE((*log)->ForEach([](const LimitChange&) { ADD_FAILURE(); }).ok());
}

}  // namespace
}  // namespace taut::tools
