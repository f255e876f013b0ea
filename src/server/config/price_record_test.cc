#include "server/config/price_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "server/config/price_file.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string FileWith(std::string_view core_hour) {
  return StrCat("tiers:\n  - {name: \"pro\\\"d\", prices: [{core_hour: ", core_hour, "}]}\t# \xfc ü\n");
}

std::vector<brain::SeenPriceChange> Taken(std::string_view core_hour, int64_t now_s, PriceRecord& record) {
  const std::string file = FileWith(core_hour);
  const absl::StatusOr<brain::Pricing> pricing = ParsePriceFile(file, "p.yaml");
  EXPECT_TRUE(pricing.ok()) << pricing.status();
  return TakePriceFile(file, *pricing, now_s, record);
}

TEST(PriceRecords, TheFirstFileChangesNothingAndAnEditIsKept) {
  PriceRecord record;
  EXPECT_THAT(Taken("0.04", 100, record), IsEmpty());
  EXPECT_THAT(Taken("0.04", 200, record), IsEmpty());
  const std::vector<brain::SeenPriceChange> changes = Taken("0.05", 300, record);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].seen_s, 300);
  EXPECT_THAT(changes[0].change.what, HasSubstr("0.05 per core-hour, was 0.04"));
  EXPECT_THAT(Taken("0.05", 400, record), IsEmpty()) << "a restart says it once";
  EXPECT_THAT(record.changes, SizeIs(1));
}

TEST(PriceRecords, AreReadAsTheyWereWritten) {
  PriceRecord record;
  Taken("0.04", 100, record);
  Taken("0.05", 300, record);
  const absl::StatusOr<PriceRecord> again = ParsePriceRecord(ToText(record), "x.prices");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, record);
}

TEST(PriceRecords, AFileThatIsNoLongerReadIsAChange) {
  PriceRecord record{.file = "tiers: 7", .changes = {}};
  ASSERT_THAT(Taken("0.04", 100, record), SizeIs(1));
  EXPECT_EQ(record.changes[0].change.to_s, 100);
}

TEST(PriceRecords, KeepTheNewest) {
  PriceRecord record;
  for (size_t i = 0; i <= kMostPriceChanges + 1; ++i)
    Taken(i % 2 == 0 ? "0.04" : "0.05", static_cast<int64_t>(i), record);
  EXPECT_THAT(record.changes, SizeIs(kMostPriceChanges));
  EXPECT_EQ(record.changes.back().seen_s, static_cast<int64_t>(kMostPriceChanges) + 1);
}

TEST(PriceRecords, NonsenseNamesTheLine) {
  const auto error = [](std::string_view yaml) {
    return std::string(ParsePriceRecord(yaml, "x.prices").status().message());
  };
  EXPECT_THAT(error("changes:\n  - {time: soon}\n"), HasSubstr("x.prices:2"));
  EXPECT_THAT(error("fyle: x\n"), HasSubstr("\"file\""));
  EXPECT_THAT(error("[1"), HasSubstr("x.prices:1"));
}

}  // namespace
}  // namespace taut::server
