#include "common/base/strings.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut {
namespace {

TEST(StrCatTest, PartsStandOneAfterTheOther) {
  const std::string text = "text";
  std::string out = StrCat("a literal ", text, ' ', std::string_view("view"), ", ", true, " ", false, " ",
                           1.5, " ", 0.1f, " ", -3);
  EXPECT_EQ(out, "a literal text view, true false 1.5 0.1 -3");
  StrAppend(&out, "; ", uint8_t{65}, " ", int8_t{-65}, " ", size_t{0});
  EXPECT_EQ(out, "a literal text view, true false 1.5 0.1 -3; 65 -65 0");
  EXPECT_EQ(StrCat(), "");
}

TEST(StrCatTest, TextMayHoldAZeroByteAndBraces) {
  const std::string text("a\0{}", 4);
  EXPECT_EQ(StrCat(text, std::string_view(text)), std::string("a\0{}a\0{}", 8));
}

TEST(StrCatTest, TheBoundsOfNumbersAsFmtPrintsThem) {
  using Signed = std::numeric_limits<int64_t>;
  using Double = std::numeric_limits<double>;
  EXPECT_EQ(StrCat(Signed::min(), " ", Signed::max(), " ", std::numeric_limits<uint64_t>::max()),
            "-9223372036854775808 9223372036854775807 18446744073709551615");
  EXPECT_EQ(StrCat(Double::infinity(), " ", -Double::infinity(), " ", Double::max(), " ",
                   Double::denorm_min(), " ", -0.0),
            "inf -inf 1.7976931348623157e+308 5e-324 -0");
}

RC_GTEST_PROP(StrCatTest, PrintsNumbersAsFmt, (int64_t i, uint64_t u, double d, float f)) {
  RC_ASSERT(StrCat(i, " ", u, " ", d, " ", f) == fmt::format("{} {} {} {}", i, u, d, f));
}

TEST(JoinTest, TheSeparatorIsBetweenEachTwo) {
  EXPECT_EQ(Join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(Join(std::vector<std::string_view>{"a"}, ", "), "a");
  EXPECT_EQ(Join(std::vector<std::string>{"", "b", ""}, ", "), ", b, ");
  EXPECT_EQ(Join(std::vector<int>{1, 2}, ","), "1,2");
}

}  // namespace
}  // namespace taut
