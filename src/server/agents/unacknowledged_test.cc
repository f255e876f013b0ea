#include "server/agents/unacknowledged.h"

#include <gtest/gtest.h>

namespace taut::server {
namespace {

TEST(Unacknowledged, AWindowIsSafeWhenItIsStored) {
  Unacknowledged messages;
  messages.Add(1, WindowId{10}, 1);
  messages.Add(2, WindowId{11}, 1);
  EXPECT_EQ(messages.TakeSafe(std::nullopt, 5), 0U) << "nothing is stored, whatever tick succeeded";
  EXPECT_EQ(messages.TakeSafe(WindowId{10}, 5), 1U);
  EXPECT_EQ(messages.TakeSafe(WindowId{10}, 6), 0U) << "acknowledged once";
  EXPECT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages.TakeSafe(WindowId{12}, 6), 2U);
  EXPECT_TRUE(messages.empty());
}

TEST(Unacknowledged, OtherMessagesAreSafeAfterTheirTick) {
  Unacknowledged messages;
  messages.Add(7, std::nullopt, 3);
  EXPECT_EQ(messages.TakeSafe(WindowId{100}, 2), 0U);
  EXPECT_EQ(messages.TakeSafe(std::nullopt, 3), 7U);
}

TEST(Unacknowledged, NoneIsAcknowledgedBeforeOneThatCameEarlier) {
  Unacknowledged messages;
  messages.Add(1, WindowId{10}, 1);
  messages.Add(2, std::nullopt, 1);
  EXPECT_EQ(messages.TakeSafe(WindowId{9}, 5), 0U);
  EXPECT_EQ(messages.TakeSafe(WindowId{10}, 5), 2U);
}

TEST(Unacknowledged, AWindowThatIsNeverStoredIsAcknowledgedAfterManyTicks) {
  Unacknowledged messages;
  messages.Add(1, WindowId{1'000'000}, 5);
  EXPECT_EQ(messages.TakeSafe(WindowId{10}, 20'004), 0U);
  EXPECT_EQ(messages.TakeSafe(WindowId{10}, 20'005), 1U);
}

}  // namespace
}  // namespace taut::server
