#include "brain/overcommit/soft_memory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::brain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SoftMemory, NobodyGoesWhileThereIsRoom) {
  const SoftTask tasks[] = {{0, 9, 1}, {1, 1, 5}};
  EXPECT_THAT(FindVictims(tasks, 10), IsEmpty());
}

TEST(SoftMemory, TheLowestTierFirstAndTheFurthestOverWithinIt) {
  const SoftTask tasks[] = {{2, 9, 1}, {1, 4, 3}, {1, 5, 1}, {1, 2, 8}, {0, 0, 4}};
  EXPECT_THAT(FindVictims(tasks, 19), ElementsAre(2U));
  EXPECT_THAT(FindVictims(tasks, 12), ElementsAre(2U, 1U));
  EXPECT_THAT(FindVictims(tasks, 9), ElementsAre(2U, 1U, 3U));
  EXPECT_THAT(FindVictims(tasks, 0), ElementsAre(2U, 1U, 3U, 0U));
}

TEST(SoftMemory, AmongThoseWithinTheirRequestFewGo) {
  const SoftTask tasks[] = {{0, 1, 1}, {0, 6, 9}, {0, 4, 9}, {0, 2, 1}};
  EXPECT_THAT(FindVictims(tasks, 12), ElementsAre(3U));     // only task 3 is above its request
  EXPECT_THAT(FindVictims(tasks, 8), ElementsAre(3U, 2U));  // 3 more bytes are missing; task 2 frees 4
  // Then 7 bytes are missing: task 1 frees 6 bytes, and task 0 the rest.
  EXPECT_THAT(FindVictims(tasks, 4), ElementsAre(3U, 1U, 0U));
}

RC_GTEST_PROP(SoftMemory, WhoStaysFitsAndNoneGoesInVain, ()) {
  const auto raw = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 4), rc::gen::inRange(0, 20), rc::gen::inRange(0, 20)));
  const int capacity = *rc::gen::inRange(0, 100);
  std::vector<SoftTask> tasks;
  for (const auto& [tier, usage, request] : raw)
    tasks.push_back({tier, static_cast<double>(usage), static_cast<double>(request)});
  const std::vector<uint32_t> victims = FindVictims(tasks, capacity);
  double rest = 0;
  for (const SoftTask& t : tasks) rest += t.usage;
  for (const uint32_t v : victims) {
    RC_ASSERT(rest > capacity);
    rest -= tasks[v].usage;
    tasks[v].usage = -1;
  }
  RC_ASSERT(rest <= capacity);
  for (const uint32_t v : victims) {
    for (const SoftTask& t : tasks) RC_ASSERT(t.usage <= 0 || t.tier >= tasks[v].tier);
  }
}

}  // namespace
}  // namespace taut::brain
