#include "economy/money.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "rapidcheck/gtest.h"

namespace taut {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Money, IsReadAndWrittenExactly) {
  EXPECT_EQ(ParseMoney("12")->micros, 12'000'000);
  EXPECT_EQ(ParseMoney(" 12.5 ")->micros, 12'500'000);
  EXPECT_EQ(ParseMoney("-0.000001")->micros, -1);
  EXPECT_EQ(ToText({12'500'000}), "12.50");
  EXPECT_EQ(ToText({-1}), "-0.000001");
  EXPECT_EQ(ToText({INT64_MIN}), "-9223372036854.775808");
  for (const char* wrong :
       {"", "-", ".5", "1.", "1.2345678", "1e3", "1,5", "12 EUR", "99999999999999", "9999999999999"}) {
    EXPECT_THAT(std::string(Message(ParseMoney(wrong).status())), HasSubstr("expected one such as 12.50"))
        << wrong;
  }
}

TEST(Money, IsRoundedForPeople) {
  EXPECT_EQ(ToRoundedText({1'234'567'895'000}), "1,234,567.90");
  EXPECT_EQ(ToRoundedText({994'999}), "0.99");
  EXPECT_EQ(ToRoundedText({-5'000}), "-0.01");
  EXPECT_EQ(ToRoundedText({-4'999}), "0.00");
  EXPECT_EQ(ToRoundedText({999'000'000}), "999.00");
}

RC_GTEST_PROP(Money, ReadsWhatItWrites, (int64_t micros)) {
  const absl::StatusOr<Money> read = ParseMoney(ToText({micros}));
  RC_ASSERT(read.ok());
  RC_ASSERT(read->micros == micros);
}

TEST(DivideRounded, RoundsHalvesUp) {
  EXPECT_TRUE(DivideRounded(5, 2) == 3);
  EXPECT_TRUE(DivideRounded(4, 3) == 1);
  EXPECT_TRUE(DivideRounded(5, 3) == 2);
  EXPECT_TRUE(DivideRounded(0, 7) == 0);
}

TEST(SplitInProportion, LosesNothing) {
  EXPECT_THAT(SplitInProportion({10}, {1, 1, 1}), ElementsAre(Money{4}, Money{3}, Money{3}));
  EXPECT_THAT(SplitInProportion({10}, {0, 0}), ElementsAre(Money{5}, Money{5}));
  EXPECT_THAT(SplitInProportion({7}, {0, 2, 1}), ElementsAre(Money{0}, Money{5}, Money{2}));
  EXPECT_THAT(SplitInProportion({7}, {}), IsEmpty());
}

RC_GTEST_PROP(SplitInProportion, IsExactAndFair, ()) {
  const auto total = *rc::gen::inRange<int64_t>(0, INT64_MAX);
  const auto given =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<uint32_t>>(rc::gen::arbitrary<uint32_t>()));
  const std::vector<WideInt> weights(given.begin(), given.end());
  const std::vector<Money> parts = SplitInProportion({total}, weights);
  WideInt sum = 0, all = 0;
  for (const WideInt w : weights) all += w;
  for (const Money& part : parts) sum += part.micros;
  RC_ASSERT(sum == total);
  for (size_t i = 0; all > 0 && i < parts.size(); ++i) {
    const WideInt floor = WideInt{total} * weights[i] / all;
    RC_ASSERT(parts[i].micros == floor || (parts[i].micros == floor + 1 && weights[i] > 0));
  }
}

}  // namespace
}  // namespace taut
