#include "tools/cli/costs_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json Row(double core_hours, bool money) {
  const Json hours = {{"usage", core_hours / 2}, {"allocation", core_hours}, {"without_allocation", 0.0}};
  Json row = {{"jobs", 3}, {"cpu", hours}, {"memory", hours}};
  if (money) {
    row["cost"] = {{"billed", core_hours * 0.03}, {"idle", 1.5}, {"saved", 0.0}, {"would_save", 2.25}};
  }
  return row;
}

Json Page(bool money) {
  Json shop = Row(123'456, money), none = Row(12, money);
  shop["value"] = "shop\x1b[2J";
  none["value"] = nullptr;
  Json total = Row(123'468, money);
  total["memory"]["without_allocation"] = 0.25;
  Json page = {{"by", "namespace"}, {"from", 1'700'006'400},    {"to", 1'700'092'800},
               {"total", total},    {"number_of_groups", 1234}, {"groups", {shop, none}}};
  if (money) page["currency"] = "EUR";
  return page;
}

TEST(CostsText, FitsAndSaysItsUnits) {
  const std::string text = CostsText(Page(true));
  EXPECT_THAT(text, HasSubstr("123,456"));
  EXPECT_THAT(text, HasSubstr("3703.68"));
  EXPECT_THAT(text, HasSubstr("(none)"));
  EXPECT_THAT(text, HasSubstr("2 of 1,234 values (--limit shows more), money in EUR"));
  EXPECT_THAT(text,
              HasSubstr("sums of this time; taut top and the page Fleet have a month at the limits of now"));
  EXPECT_THAT(text, HasSubstr("No limit is known 25 % of the time for memory"));
  Json unknown = Page(true);
  unknown["total"]["memory"]["without_allocation"] = 1;
  EXPECT_THAT(CostsText(unknown), HasSubstr("No limit is known 100 % of the time for memory"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 100U) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(CostsText, WithoutPricesThereAreHours) {
  const std::string text = CostsText(Page(false));
  EXPECT_THAT(text, HasSubstr("61,728"));
  EXPECT_THAT(text, HasSubstr("prices.core_hour"));
  EXPECT_THAT(text, Not(HasSubstr("idle")));
  EXPECT_EQ(CostsText(Json::object()), "nothing was measured in this time\n");
  EXPECT_EQ(CostsText({{"groups", {1, "two", nullptr}}, {"by", 7}}).empty(), false);
}

}  // namespace
}  // namespace taut::tools
