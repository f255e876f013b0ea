#include "server/kubernetes/act/standing_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::server {
namespace {

using testing::SizeIs;

const WorkloadName kOrderedWeb{"shop", "deployment", "web", "nginx"};

TargetOrder MemoryOrder(uint64_t decision, double bytes) {
  TargetOrder order;
  order.decision = decision;
  order.job = "shop/deployment/web/nginx";
  order.target = Resource::kMemory;
  order.value = bytes;
  return order;
}

TEST(StandingOrdersState, IsReadBackAndAnotherVersionIsRefused) {
  StandingOrders orders;
  std::vector<OutcomeUpdate> outcomes;
  orders.Take(MemoryOrder(7, 1e9), kOrderedWeb, 100, outcomes);
  std::string bytes;
  ByteWriter out(&bytes);
  orders.Save(out);
  const auto none = [](std::string_view /*job*/) { return std::optional<WorkloadName>(); };
  StandingOrders read;
  ByteReader in(bytes);
  ASSERT_TRUE(read.Load(in, none));
  ASSERT_THAT(read.entries(), SizeIs(1));
  EXPECT_EQ(read.entries().begin()->second.workload, kOrderedWeb);
  bytes[0] = 3;
  ByteReader newer(bytes);
  EXPECT_FALSE(read.Load(newer, none));
  EXPECT_THAT(read.entries(), SizeIs(0));
}

// The first version saved only the names of jobs.
TEST(StandingOrdersState, OfTheFirstVersionIsRead) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(uint8_t{1});
  out.PutVarint(1);
  out.PutString("shop/deployment/web/nginx");
  out.Put<uint8_t>(Target(Resource::kMemory).code());
  out.Put(uint8_t{1});
  out.PutVarint(7);  // ID of the decision
  out.Put(uint8_t{1});
  out.Put(1e9);
  out.Put(int64_t{0});  // value of Entry::without_pods_s
  out.PutVarint(0);     // number of orders for single pods
  out.PutVarint(1);     // number of reports
  out.PutVarint(7);
  out.Put(static_cast<uint8_t>(Outcome::kApplied));
  out.PutString("set on 2 pods");
  StandingOrders orders;
  ByteReader in(bytes);
  ASSERT_TRUE(orders.Load(in, [](std::string_view job) {
    EXPECT_EQ(job, "shop/deployment/web/nginx");
    return std::optional(kOrderedWeb);
  }));
  EXPECT_EQ(in.remaining(), 0U);
  const StandingOrders::Entry* entry = orders.Find({"shop/deployment/web/nginx", Target(Resource::kMemory)});
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->workload, kOrderedWeb);
  ASSERT_TRUE(entry->all.has_value());
  EXPECT_EQ(entry->all->decision, 7U);
  EXPECT_EQ(entry->all->value, 1e9);
  EXPECT_EQ(entry->reported.at(7).second, "set on 2 pods");
}

}  // namespace
}  // namespace taut::server
