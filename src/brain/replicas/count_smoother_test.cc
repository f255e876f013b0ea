// Tests that limited growth (Autopilot §3.3) does not affect a job that shrinks or has just started.
#include "brain/replicas/count_smoother.h"

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

int Smoothed(double max_starting, int raw, int ready, int starting = 0) {
  AutopilotReplicaSettings settings;
  settings.decay_half_life_s = 0;
  settings.max_starting = max_starting;
  CountSmoother smoother(settings);
  smoother.Push(0, 1, raw, ready + starting);
  LoadSample sample;
  sample.ready = ready;
  sample.starting = starting;
  return smoother.Count(sample);
}

TEST(CountSmoother, AShareOfTheTasksMayBeStarting) {
  EXPECT_EQ(Smoothed(1, 100, 10), 100) << "not limited";
  EXPECT_EQ(Smoothed(1, 100, 0), 100);
  EXPECT_EQ(Smoothed(0.5, 100, 10), 20);
  EXPECT_EQ(Smoothed(0.2, 100, 8), 10);
  EXPECT_EQ(Smoothed(0.5, 100, 10, 30), 40) << "what is starting already goes on";
}

TEST(CountSmoother, OneTaskMayAlwaysStart) {
  EXPECT_EQ(Smoothed(0.1, 5, 1), 2);
  EXPECT_EQ(Smoothed(0.1, 5, 0), 1);
}

TEST(CountSmoother, AShrinkingJobIsNotLimited) {
  EXPECT_EQ(Smoothed(0.5, 5, 10), 5);
  EXPECT_EQ(Smoothed(1, 5, 10), 5);
}

}  // namespace
}  // namespace taut::brain
