#include "server/control/control_story.h"

#include "common/base/random.h"
#include "common/testing/test_scale.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

TEST(ControlStory, WhateverHappensHoldsTogether) {
  for (int story = 0; story < Scaled(30); ++story) {
    Rng rng(static_cast<uint64_t>(story) + 1);
    std::vector<uint8_t> bytes(400);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.Next());
    ControlStory(story % 4 == 0 ? ClockSource::kSamples : ClockSource::kWall).Live(bytes);
  }
}

}  // namespace
}  // namespace taut::server
