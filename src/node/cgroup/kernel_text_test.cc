#include "node/cgroup/kernel_text.h"

#include <cerrno>

#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

TEST(KernelText, NumbersAreWholeLinesOrAbsent) {
  EXPECT_THAT(ParseKernelNumber("0\n"), Optional(0U));
  EXPECT_THAT(ParseKernelNumber("1234\n"), Optional(1234U));
  EXPECT_THAT(ParseKernelNumber("18446744073709551615\n"), Optional(18446744073709551615U));
  for (const std::string_view text :
       {"", "\n", "1234", "18446744073709551616\n", "99999999999999999999999\n", "-1\n", "+1\n", "12 \n",
        " 12\n", "1.5\n", "0x1f\n", "max\n", "12\r\n"}) {
    EXPECT_EQ(ParseKernelNumber(text), std::nullopt) << text;
  }
}

TEST(KernelText, KeyedNumbersStandAfterTheirWholeKey) {
  constexpr std::string_view kStat =
      "usage_usec 77\nuser_usec 50\nnr_throttled_x 1\nnr_throttled 2\nhuge 18446744073709551616\nno number\n"
      "last 5";
  EXPECT_THAT(ParseKeyedNumber(kStat, "usage_usec"), Optional(77U));
  EXPECT_THAT(ParseKeyedNumber(kStat, "nr_throttled"), Optional(2U));
  for (const std::string_view key : {"usec", "usage", "huge", "no", "last", "absent", ""}) {
    EXPECT_EQ(ParseKeyedNumber(kStat, key), std::nullopt) << key;
  }
  EXPECT_EQ(ParseKeyedNumber("", "a"), std::nullopt);
  EXPECT_EQ(ParseKeyedNumber("\n\n", "a"), std::nullopt);
}

// Wherever the text is cut off, each value is either right or absent.
TEST(KernelText, CutOffTextIsNeverAWrongNumber) {
  const std::string text = "usage_usec 123456\nnr_periods 41\nthrottled_usec 2960000\n";
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string_view cut = std::string_view(text).substr(0, size);
    EXPECT_EQ(ParseKeyedNumber(cut, "usage_usec").value_or(123456), 123456U) << cut;
    EXPECT_EQ(ParseKeyedNumber(cut, "throttled_usec").has_value(), size == text.size()) << cut;
  }
}

TEST(KernelText, PressureIsTheTotals) {
  const PressureTotals both = ParsePressure(
      "some avg10=16.00 avg60=0.00 avg300=0.00 total=36000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=12\n");
  EXPECT_THAT(both.some_us, Optional(36000U));
  EXPECT_THAT(both.full_us, Optional(12U));
  const PressureTotals some = ParsePressure("some avg10=0.00 total=1\nfull avg10=0.00 total=9");
  EXPECT_THAT(some.some_us, Optional(1U));
  EXPECT_EQ(some.full_us, std::nullopt);
  for (const std::string_view text :
       {"", "some\nfull\n", "some total=\n", "something total=3\n", "full total=x\n"}) {
    EXPECT_FALSE(ParsePressure(text).some_us.has_value() || ParsePressure(text).full_us.has_value()) << text;
  }
}

TEST(KernelText, PressureIsAShareOfTheLastTenSeconds) {
  const PressureShares both = ParsePressureShares(
      "some avg10=16.50 avg60=0.00 avg300=0.00 total=36000\nfull avg10=0.00 avg60=3.00 avg300=0.00 total=12\n");
  EXPECT_THAT(both.some, Optional(0.165));
  EXPECT_THAT(both.full, Optional(0.0));
  for (const std::string_view text :
       {"", "some avg10=", "some avg10=x avg60=0", "some avg10=101.00 avg60=0"}) {
    EXPECT_EQ(ParsePressureShares(text).some, std::nullopt) << text;
  }
}

TEST(KernelText, ALimitIsBytesOrNone) {
  const auto limit = [](std::string_view text) -> std::string {
    const std::optional<KernelLimit> read = ParseByteLimit(text);
    if (!read.has_value()) return "absent";
    return read->amount().has_value() ? StrCat(*read->amount()) : "none";
  };
  EXPECT_EQ(limit("max\n"), "none");
  EXPECT_EQ(limit("9223372036854771712\n"), "none");  // cgroup v1 with pages of 4 KiB
  EXPECT_EQ(limit("9223372036854710272\n"), "none");  // cgroup v1 with pages of 64 KiB
  EXPECT_EQ(limit("67108864\n"), "67108864");
  EXPECT_EQ(limit("0\n"), "0");
  for (const std::string_view text : {"", "max", "67108864", "-1\n", "maximum\n"})
    EXPECT_EQ(limit(text), "absent");
}

TEST(KernelText, AQuotaIsCores) {
  const auto cores = [](const std::optional<CpuQuota>& quota) -> std::string {
    if (!quota.has_value()) return "absent";
    return quota->cores().has_value() ? StrCat(*quota->cores()) : "none";
  };
  EXPECT_EQ(cores(ParseCpuMax("max 100000\n")), "none");
  EXPECT_EQ(cores(ParseCpuMax("150000 100000\n")), "1.5");
  for (const std::string_view text :
       {"", "max", "max\n", "max 0\n", "5 0\n", "x 100000\n", "100000\n", "5 5 5\n"}) {
    EXPECT_EQ(cores(ParseCpuMax(text)), "absent") << text;
  }
  EXPECT_EQ(cores(ParseCfsQuota("-1\n", "100000\n")), "none");
  EXPECT_EQ(cores(ParseCfsQuota("25000\n", "50000\n")), "0.5");
  EXPECT_EQ(cores(ParseCfsQuota("25000\n", "")), "absent");
  EXPECT_EQ(cores(ParseCfsQuota("25000\n", "0\n")), "absent");
  EXPECT_EQ(cores(ParseCfsQuota("-2\n", "100000\n")), "absent");
}

TEST(KernelText, ErrorsSayTheWayOut) {
  EXPECT_TRUE(absl::IsNotFound(KernelError(ENODEV, "x")));
  EXPECT_TRUE(absl::IsResourceExhausted(KernelError(EBUSY, "x")));
  EXPECT_TRUE(absl::IsInvalidArgument(KernelError(EINVAL, "x")));
  EXPECT_TRUE(absl::IsUnavailable(KernelError(EIO, "x")));
  EXPECT_THAT(std::string(Message(KernelError(EROFS, "/a/b"))), HasSubstr("/a/b: Read-only"));
  EXPECT_THAT(std::string(Message(KernelError(EMFILE, "/a/b"))), HasSubstr("LimitNOFILE"));
}

RC_GTEST_PROP(KernelText, AnyNumberIsReadBack, (uint64_t value)) {
  RC_ASSERT(ParseKernelNumber(StrCat(value, "\n")) == value);
  RC_ASSERT(ParseKeyedNumber(StrCat("a 1\nkey ", value, "\nz 2\n"), "key") == value);
}

}  // namespace
}  // namespace taut::node
