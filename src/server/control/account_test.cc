// Tests that the account is correct after restarts and errors of the store: no window is lost or counted twice.
#include <map>

#include "common/testing/temp_dir.h"
#include "gtest/gtest.h"
#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

std::map<uint32_t, AccountEntry> Account(InMemoryStore& store) {
  std::map<uint32_t, AccountEntry> sums;
  EXPECT_TRUE(store
                  .ReadAccount(WindowId{INT32_MIN / 2}, WindowId{INT32_MAX / 2},
                               [&](const AccountSpan&, std::span<const AccountEntry> entries) {
                                 for (const AccountEntry& e : entries) {
                                   sums[e.job.value].job = e.job;
                                   sums[e.job.value].Add(e);
                                 }
                               })
                  .ok());
  return sums;
}

TEST(ControlAccount, IsTheSameOverRestartsAndFailures) {
  ControlCell straight;
  ASSERT_TRUE(straight.Live(0, 240).ok());
  const std::map<uint32_t, AccountEntry> expected = Account(straight.store());
  ASSERT_EQ(expected.size(), 4U);
  EXPECT_GT(expected.at(0).amounts(Resource::kCpu).usage, 0U);
  EXPECT_GT(expected.at(0).amounts(Resource::kMemory).windows, 40U);

  const TempDir dir;
  ControlCell cell(80, dir.File("store.db"));
  for (int minute = 0; minute < 240; minute += 10) {
    cell.failing().fail = minute % 30 == 0;
    (void)cell.Live(minute, minute + 5);
    cell.failing().fail = false;
    ASSERT_TRUE(cell.Live(minute + 5, minute + 10).ok());
    if (minute % 70 == 0) cell.Restart();
  }
  EXPECT_EQ(Account(cell.store()), expected);
}

}  // namespace
}  // namespace taut::server
