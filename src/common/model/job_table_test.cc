#include "common/model/job_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut {
namespace {

using Table = JobTable<int>;

std::vector<uint32_t> Ids(const Table& table) {
  std::vector<uint32_t> ids;
  for (auto it = table.begin(); it != table.end(); ++it) ids.push_back(it.id().value);
  return ids;
}

TEST(JobTable, KeepsNumbersAndAddressesWhileOthersGo) {
  Table table;
  table.Reserve(3);
  for (const uint32_t id : {3U, 700U, 5000U}) table.Emplace(JobId{id}) = static_cast<int>(id);
  const int* stays = table.Find(JobId{700});
  EXPECT_THAT(Ids(table), testing::ElementsAre(3, 700, 5000));
  EXPECT_EQ(table.end_id(), 5001U);
  table.Erase(JobId{3});
  table.Erase(JobId{3});
  EXPECT_EQ(table.Find(JobId{3}), nullptr);
  EXPECT_EQ(table.Find(JobId{100'000}), nullptr);
  EXPECT_EQ(table.Find(JobId{700}), stays);
  EXPECT_THAT(Ids(table), testing::ElementsAre(700, 5000));
  table.Emplace(JobId{3}) = 4;
  EXPECT_THAT(Ids(table), testing::ElementsAre(3, 700, 5000));
  EXPECT_EQ(table.used_in_page(0), 1U);
  EXPECT_EQ(table.used_in_page(2), 0U);
}

TEST(JobTable, NumbersThatAreGoneCostNextToNothing) {
  Table table;
  for (uint32_t id = 0; id < 1'000'000; ++id) {
    table.Emplace(JobId{id});
    if (id >= 1000) table.Erase(JobId{id - 1000});
  }
  EXPECT_EQ(table.size(), 1000U);
  EXPECT_EQ(table.end_id(), 1'000'000U);
  EXPECT_LT(table.table_bytes(), 64U * 1024);
  for (uint32_t id = 999'000; id < 1'000'000; ++id) table.Erase(JobId{id});
  EXPECT_TRUE(Ids(table).empty());
}

}  // namespace
}  // namespace taut
