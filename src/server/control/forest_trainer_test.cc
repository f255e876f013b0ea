#include "server/control/forest_trainer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "brain/fleet/live_fleet.h"
#include "common/base/random.h"

namespace taut::server {
namespace {

// Returns the share of a day with enough lessons for a first forest.
brain::BoostedShare ShareWithLessons(const brain::BoostedSettings& settings) {
  brain::BoostedShare share(settings.min_days, settings);
  Rng rng(1);
  for (uint64_t i = 0; i < 2000; ++i) {
    brain::BoostedLesson lesson;
    for (float& f : lesson.features) f = static_cast<float>(rng.Normal());
    lesson.outcomes[0] = static_cast<float>(0.2 * rng.Normal() + 0.3 * lesson.features[0]);
    lesson.size = 1;
    share.sample.Add(brain::BoostedLessonKey(MixBits(i), 0), lesson);
  }
  share.lessons = 2000;
  return share;
}

TEST(ForestTrainer, TrainsAForestThatIsDueBesideTheFleet) {
  SharedFleet fleet(brain::LiveSettings(), 1);
  ForestTrainer trainer;
  trainer.Step(fleet);  // nothing is due
  const auto boosted = [&]() -> brain::BoostedFleet& {
    return fleet.unshared().models->boosted_of(Resource::kMemory);
  };
  boosted().CloseDay(brain::BoostedShare(1, boosted().settings()));
  boosted().CloseDay(ShareWithLessons(boosted().settings()));
  ASSERT_TRUE(boosted().DueTraining().has_value());
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (boosted().DueTraining().has_value() && std::chrono::steady_clock::now() < until) {
    trainer.Step(fleet);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(boosted().DueTraining().has_value());
  boosted().CloseDay(brain::BoostedShare(boosted().settings().min_days + 1, boosted().settings()));
  EXPECT_TRUE(boosted().training_status().ok());
}

// A fleet that ends a day earlier trains the forest itself, and ignores the late result.
TEST(ForestTrainer, ALateForestIsIgnored) {
  SharedFleet fleet(brain::LiveSettings(), 1);
  brain::BoostedFleet& boosted = fleet.unshared().models->boosted_of(Resource::kCpu);
  boosted.CloseDay(brain::BoostedShare(1, boosted.settings()));
  boosted.CloseDay(ShareWithLessons(boosted.settings()));
  ForestTrainer trainer;
  trainer.Step(fleet);
  boosted.CloseDay(brain::BoostedShare(boosted.settings().min_days + 1, boosted.settings()));
  EXPECT_FALSE(boosted.DueTraining().has_value());
  for (int i = 0; i < 100; ++i) {
    trainer.Step(fleet);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(boosted.training_status().ok());
  EXPECT_FALSE(boosted.DueTraining().has_value());
}

}  // namespace
}  // namespace taut::server
