#include "brain/economy/quota_vector.h"

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

TEST(QuotaVector, IsAMapWithoutZeros) {
  QuotaVector v = {{"memory", 5}, {"cpu", 3}, {"gpu", 0}};
  EXPECT_EQ(v.amounts().size(), 2U);
  EXPECT_EQ(v.Get("cpu"), 3);
  EXPECT_EQ(v.Get("gpu"), 0);
  v.Set("cpu", 0);
  EXPECT_EQ(v, QuotaVector::Of(0, 5));
  v.Set("memory", 0);
  EXPECT_TRUE(v.empty());
}

TEST(QuotaVector, SumsAndMultiplesDoNotOverflow) {
  const QuotaVector v = QuotaVector::Of(2, 3);
  EXPECT_EQ(v.Times(4), QuotaVector::Of(8, 12));
  EXPECT_EQ(v.Times(0), QuotaVector());
  EXPECT_FALSE(v.Times(-1).has_value());
  EXPECT_FALSE(v.Times(INT64_MAX).has_value());
  EXPECT_FALSE(QuotaVector::Of(-1, 1).Times(1).has_value());
  EXPECT_EQ(QuotaVector::Of(1, 0).Times(kMaxQuotaAmount), QuotaVector::Of(kMaxQuotaAmount, 0));
  EXPECT_EQ(v.Plus({{"cpu", 1}, {"gpu", 7}}), (QuotaVector{{"cpu", 3}, {"gpu", 7}, {"memory", 3}}));
  EXPECT_FALSE(v.Plus(QuotaVector::Of(kMaxQuotaAmount, 0)).has_value());
  EXPECT_FALSE(v.Plus(QuotaVector::Of(-1, 0)).has_value());
}

TEST(QuotaText, IsExact) {
  EXPECT_EQ(QuotaText("cpu", 1500), "1.5 cores");
  EXPECT_EQ(QuotaText("cpu", 1000), "1 core");
  EXPECT_EQ(QuotaText("memory", 1536 << 20), "1536MiB of memory");
  EXPECT_EQ(QuotaText("gpu", 3), "3 gpu");
  EXPECT_EQ(QuotaText(QuotaVector::Of(250, 1 << 30)), "0.25 cores, 1GiB of memory");
  EXPECT_EQ(QuotaText(QuotaVector()), "nothing");
}

}  // namespace
}  // namespace taut::brain
