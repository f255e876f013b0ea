#include "tools/sim/replay_story.h"

#include <vector>

#include "common/base/random.h"
#include "common/testing/test_scale.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

// The fuzzer runs many more stories.
TEST(ReplayStory, ThreeComputationsOfLimitsAgree) {
  Rng rng(11);
  for (int story = 0; story < Scaled(200); ++story) {
    std::vector<uint8_t> bytes(20 + rng.Below(100));
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng.Below(5) == 0 ? 0 : rng.Below(256));
    ReplayStory one(bytes);
    one.Live();
    EXPECT_GT(one.compared(), 200U);
  }
}

}  // namespace
}  // namespace taut::tools
