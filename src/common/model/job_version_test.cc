#include "common/model/job_version.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kNoon = 1'764'072'000;

TEST(JobVersion, IsReadAgain) {
  for (const JobVersion& version :
       {JobVersion(), JobVersion{"web:1.3", {}, {}}, JobVersion{"web:1.3", kNoon, {}},
        JobVersion{"web:1.3", kNoon + 59, {"web:1.1", "web:1.2"}}, JobVersion{"web:1.3", {}, {"web:1.2"}}}) {
    const absl::StatusOr<JobVersion> read = ParseJobVersion(JobVersionText(version));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, version) << JobVersionText(version);
  }
  EXPECT_EQ(JobVersionText({"web:1.3", kNoon, {"web:1.2"}}),
            "web:1.3 since 2025-11-25T12:00:00Z beside web:1.2");
}

TEST(JobVersion, SaysWhatIsWrong) {
  for (const char* text : {"web:1.3 since noon", "web 1.3", "web:1.3 beside a,,b"})
    EXPECT_FALSE(ParseJobVersion(text).ok()) << text;
  EXPECT_THAT(std::string(ParseJobVersion("web 1.3").status().message()),
              HasSubstr("expected NAME since TIME"));
}

JobVersion After(const JobVersion& before, std::vector<std::string> present, int64_t now_s) {
  return NextVersion(before, present, now_s);
}

TEST(JobVersion, BeginsWithADeployment) {
  JobVersion v = After({}, {"web:1"}, 100);
  EXPECT_EQ(v, (JobVersion{"web:1", {}, {}})) << "nothing is known of what was there before";
  v = After(v, {"web:1"}, 200);
  EXPECT_EQ(v, (JobVersion{"web:1", {}, {}}));
  v = After(v, {}, 250);
  EXPECT_EQ(v.name, "web:1") << "no tasks run now";
  v = After(v, {"web:1", "web:2"}, 300);
  EXPECT_EQ(v, (JobVersion{"web:2", 300, {"web:1"}}));
  v = After(v, {"web:1", "web:2"}, 90'000);
  EXPECT_EQ(v, (JobVersion{"web:2", 300, {"web:1"}})) << "a rollout that never ends begins once";
  v = After(v, {"web:2"}, 91'000);
  EXPECT_EQ(v, (JobVersion{"web:2", 300, {}}));
  v = After(v, {"web:3"}, 92'000);
  EXPECT_EQ(v, (JobVersion{"web:3", 92'000, {}})) << "all tasks at once";
}

TEST(JobVersion, ARollbackBeginsToo) {
  const JobVersion in_the_middle{"web:2", 300, {"web:1"}};
  EXPECT_EQ(After(in_the_middle, {"web:1"}, 400), (JobVersion{"web:1", 400, {}}));
  const JobVersion done{"web:2", 300, {}};
  EXPECT_EQ(After(done, {"web:1", "web:2"}, 500), (JobVersion{"web:1", 500, {"web:2"}}));
  // A third version starts while an older version still runs.
  EXPECT_EQ(After(in_the_middle, {"web:1", "web:2", "web:3"}, 600),
            (JobVersion{"web:3", 600, {"web:1", "web:2"}}));
}

}  // namespace
}  // namespace taut
