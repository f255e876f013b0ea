#include "common/model/counted.h"

#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(Counted, OneIsOneAndTheOthersAreMore) {
  EXPECT_EQ(Counted(0, "job"), "0 jobs");
  EXPECT_EQ(Counted(1, "job"), "1 job");
  EXPECT_EQ(Counted(12'345, "job-window"), "12,345 job-windows");
}

}  // namespace
}  // namespace taut
