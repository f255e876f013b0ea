#include "common/base/probe.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

void GoThrough(bool rare) {
  if (rare) TAUT_PROBE("a test of probes, the rare branch");
}

TEST(Probe, IsReachedWithItsBranchOnce) {
  const auto has_it = ::testing::Contains("a test of probes, the rare branch");
  GoThrough(false);
  EXPECT_THAT(ReachedProbes(), ::testing::Not(has_it));
  GoThrough(true);
  const size_t reached = ReachedProbes().size();
  GoThrough(true);
  EXPECT_THAT(ReachedProbes(), has_it);
  EXPECT_EQ(ReachedProbes().size(), reached);
}

}  // namespace
}  // namespace taut
