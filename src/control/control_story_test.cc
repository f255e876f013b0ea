#include "control/control_story.h"

#include <cstdlib>

#include "base/random.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

// Longer by TAUT_TEST_SCALE.
TEST(ControlStory, WhateverHappensHoldsTogether) {
  const char* scale = std::getenv("TAUT_TEST_SCALE");
  const int stories = static_cast<int>(30 * (scale != nullptr ? std::atof(scale) : 1));
  for (int story = 0; story < stories; ++story) {
    Rng rng(static_cast<uint64_t>(story) + 1);
    std::vector<uint8_t> bytes(400);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.Next());
    ControlStory(story % 4 == 0 ? ClockSource::kSamples : ClockSource::kWall).Live(bytes);
  }
}

}  // namespace
}  // namespace taut
