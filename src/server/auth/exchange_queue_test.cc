#include "server/auth/exchange_queue.h"

#include <string>

#include "common/base/strings.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using Queue = ExchangeQueue<std::string>;

TEST(ExchangeQueue, TakesAddressesInTurn) {
  Queue queue({});
  for (const char* job : {"a1", "a2", "a3"}) EXPECT_FALSE(queue.Add("a", job, 0).has_value());
  EXPECT_FALSE(queue.Add("b", "b1", 0).has_value());
  EXPECT_EQ(queue.Next(0)->job, "a1");
  EXPECT_EQ(queue.Next(0)->job, "b1") << "one of a is under way";
  EXPECT_EQ(queue.Next(0)->job, "a2");
  queue.Done("a", false, 0);
  queue.Done("a", false, 0);
  EXPECT_EQ(queue.Next(0)->job, "a3");
  EXPECT_FALSE(queue.Next(0).has_value());
}

// Two clients send invalid codes; the request of an honest client arrives last.
TEST(ExchangeQueue, AnHonestSignInIsNotBehindRefusedOnes) {
  Queue queue({});
  for (int i = 0; i < 10; ++i) {
    for (const char* from : {"bad1", "bad2"}) {
      EXPECT_TRUE(queue.Check(from, 0).ok());
      queue.Add(from, "garbage", 0);
      queue.Done(queue.Next(0)->address, true, 0);
    }
  }
  for (int i = 0; i < 5; ++i) queue.Add("bad1", "garbage", 0);
  queue.Add("good", "code", 0);
  EXPECT_EQ(queue.Next(0)->job, "code");
}

TEST(ExchangeQueue, RefusedOnesOfAnAddressAreLimited) {
  Queue queue({});
  int asked = 0;
  for (int second = 0; second < 600; ++second) {
    for (int i = 0; i < 10; ++i) {
      if (!queue.Check("bad", second).ok()) continue;
      ++asked;
      queue.Add("bad", "garbage", second);
      queue.Done(queue.Next(second)->address, true, second);
    }
    EXPECT_TRUE(queue.Check("good", second).ok());
  }
  EXPECT_GE(asked, 100);
  EXPECT_LE(asked, 20 + 600 / 6 + 1) << "not 6,000";
  EXPECT_TRUE(queue.Check("bad", 700).ok()) << "the address may be many people's";
}

TEST(ExchangeQueue, OneAddressHoldsAFewAndTheFullQueueDropsTheBusiest) {
  Queue queue({.waiting = 20, .of_address = 16});
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(queue.Check("a", 0).ok());
    EXPECT_FALSE(queue.Add("a", StrCat("a", i), 0).has_value());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(queue.Check("a", 0)));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(queue.Add(StrCat("b", i), "b", 0).has_value());
  EXPECT_EQ(queue.Add("honest", "code", 0), "a15");
  EXPECT_EQ(queue.waiting(), 20U);
}

TEST(ExchangeQueue, RemembersABoundedNumberOfAddresses) {
  Queue queue({.addresses = 3});
  for (int i = 0; i < 50; ++i) {
    queue.Add(StrCat("a", i), "code", 0);
    queue.Done(queue.Next(0)->address, true, 0);
  }
  for (int i = 0; i < 25; ++i) queue.Done("bad", true, 0);
  for (int i = 0; i < 50; ++i) queue.Done(StrCat("b", i), true, 0);
  EXPECT_FALSE(queue.Check("bad", 0).ok()) << "those with the most failures stay";
}

}  // namespace
}  // namespace taut::server
