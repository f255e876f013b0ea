#include "brain/replicas/start_price.h"

#include <string>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

// Returns the factor after `days` of a load that rises from 7 to 14 tasks each hour, if the job starts `started`
// tasks at each rise. The HPA starts 10 tasks.
double FactorAfter(int days, int started) {
  StartPrice price;
  for (int m = 0; m < days * 1440; ++m)
    price.Observe(m % 60 < 30 ? 7 : 14, m % 60 == 30 ? started : 0, 10.5, 60);
  return price.Factor();
}

TEST(StartPrice, FollowsTheStartsOfTheHpa) {
  EXPECT_EQ(StartPrice().Factor(), 1);
  EXPECT_NEAR(FactorAfter(14, 10), 1, 0.02);
  EXPECT_GT(FactorAfter(1, 12), 1.02);
  EXPECT_LT(FactorAfter(1, 8), 0.98);
  EXPECT_NEAR(FactorAfter(30, 12), 2, 1e-9);
  EXPECT_NEAR(FactorAfter(30, 8), 0.5, 1e-9);
}

TEST(StartPrice, DoesNotMoveWithASteadyLoad) {
  StartPrice price;
  for (int m = 0; m < 1440; ++m) price.Observe(7, 0, 7, 60);
  EXPECT_EQ(price.Factor(), 1);
  price.Observe(1e300, 0, 7, 60);  // an absurd load does not overflow a count
  price.Observe(0, 0, 7, 3600);
  EXPECT_GE(price.Factor(), 0.5);
}

TEST(StartPrice, GoesOnFromItsBytesAndRefusesImpossibleBytes) {
  StartPrice price, again;
  for (int m = 0; m < 300; ++m) price.Observe(10 + m % 7, m % 3, 12, 60);
  const auto bytes_of = [](const StartPrice& p) {
    std::string bytes;
    ByteWriter out(&bytes);
    p.Save(out);
    return bytes;
  };
  const auto loads = [&](const std::string& bytes) {
    ByteReader in(bytes);
    StoredValues values(in);
    again.Load(values);
    return values.ok();
  };
  const std::string bytes = bytes_of(price);
  ASSERT_TRUE(loads(bytes));
  EXPECT_EQ(bytes_of(again), bytes);
  std::string negative = bytes;
  negative[3] = '\xff';
  EXPECT_FALSE(loads(negative));
  std::string beyond = bytes;
  beyond.replace(bytes.size() - 8, 8, std::string(7, '\0') + "\x40");  // a logarithm of 2
  EXPECT_FALSE(loads(beyond));
  EXPECT_FALSE(loads(bytes.substr(1)));
}

}  // namespace
}  // namespace taut::brain
