#include "server/pool/capacity_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/histogram/checkpoint.h"
#include "server/pool/capacity_fixture.h"
#include "server/pool/capacity_text.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;
constexpr int32_t kDay = kWindowsPerDay;
constexpr int32_t kStart = 20'000 * kDay;  // a midnight

std::string TextOf(const CapacityService& service, std::string_view horizon) {
  const auto view = service.View();
  const CapacityOffer* offer = OfferIn(*view, "batch", horizon, kCpu);
  return offer == nullptr ? "" : OfferText(*view, *offer);
}

TEST(CapacityService, SaysWhatIsMissingUntilWhen) {
  CapacityService service(MadeTiers());
  EXPECT_THAT(CapacityWhy(*service.View()), HasSubstr("No window has closed yet"));
  EXPECT_EQ(OfferIn(*service.View(), "batch", "hour", kCpu)->sellable, std::nullopt);
  MadeCell cell;
  cell.Feed(service, kStart, kStart + kDay / 2);
  const auto view = service.View();
  EXPECT_EQ(CapacityWhy(*view), "");
  const CapacityOffer* hour = OfferIn(*view, "batch", "hour", kCpu);
  ASSERT_NE(hour, nullptr);
  EXPECT_EQ(hour->sellable, std::nullopt);
  EXPECT_EQ(hour->sold, 10) << "allocated, as no quota is bought";
  EXPECT_EQ(hour->left, std::nullopt);
  EXPECT_EQ(hour->ready_s, (int64_t{kStart} / 12 + 25) * 3600) << "a day and an hour after the first";
  EXPECT_THAT(TextOf(service, "hour"), HasSubstr("one day and then an hour are needed"));
  const CapacityOffer* quarter = OfferIn(*view, "batch", "quarter", kCpu);
  EXPECT_EQ(quarter->ready_s, (int64_t{kStart} / 12 + 91 * 24) * 3600);
  EXPECT_FALSE(quarter->never);
  EXPECT_EQ(OfferIn(*view, "free", "hour", kCpu), nullptr) << "sold without a promise";
  const CapacityOffer* production = OfferIn(*view, "production", "any", kCpu);
  ASSERT_NE(production, nullptr);
  EXPECT_EQ(production->sellable, 100);
  EXPECT_EQ(production->sold, 70) << "bought, which is more than what is allocated";
  EXPECT_EQ(production->left, 30);
}

// The cell has 100 cores, of which production uses up to about 50. The capacity for sale is available in 98 % of
// the hours, and the promises are kept in this share of the hours.
TEST(CapacityService, SellsWhatProductionLeavesAndKeepsIt) {
  CapacityService service(MadeTiers());
  MadeCell cell;
  cell.Feed(service, kStart, kStart + 20 * kDay);
  const auto view = service.View();
  const CapacityOffer* hour = OfferIn(*view, "batch", "hour", kCpu);
  const CapacityOffer* day = OfferIn(*view, "batch", "day", kCpu);
  ASSERT_TRUE(hour->sellable.has_value() && day->sellable.has_value()) << TextOf(service, "hour");
  // At midnight, production uses 40 cores. Its usage rises to 45 cores within the hour, and by day to 50 plus two
  // standard deviations. Errors of the first days, when the season is unknown, reduce the amount for an hour.
  EXPECT_GT(*hour->sellable, 48);
  EXPECT_LT(*hour->sellable, 56);
  EXPECT_NEAR(*day->sellable, 47, 3);
  EXPECT_EQ(*hour->left, *hour->sellable - 10);
  EXPECT_EQ(OfferIn(*view, "batch", "hour", Resource::kMemory)->measured, true);
  EXPECT_GT(hour->kept.promises, 200);
  EXPECT_GT(hour->kept.kept_time, 0.96);
  EXPECT_GE(day->kept.promises, 10);
  EXPECT_GT(day->kept.kept_time, 0.95);
  EXPECT_THAT(TextOf(service, "day"), HasSubstr("in 98 % of the time of the next 24 hours"));
  EXPECT_EQ(OfferIn(*view, "batch", "month", kCpu)->sellable, std::nullopt);
  // The newest promise for a day is open, because it starts at this midnight.
  bool open = false;
  for (const CapacityPromise& p : view->promises) {
    if (p.horizon != 1 || p.resource != kCpu || p.outcome.complete) continue;
    EXPECT_FALSE(open) << "one at a time";
    open = true;
    EXPECT_EQ(p.outcome.promise.start_s, int64_t{kStart + 20 * kDay} * 300);
    EXPECT_EQ(p.outcome.promise.amount, *day->sellable);
  }
  EXPECT_TRUE(open);
  EXPECT_LT(view->bytes, size_t{500} << 10);
}

TEST(CapacityService, ARestartInTheMiddleOfAnHourGivesTheSame) {
  CapacityService whole(MadeTiers());
  MadeCell cell;
  const int32_t stop = kStart + 9 * kDay + 7;
  cell.Feed(whole, kStart, stop);
  CapacityService again(MadeTiers());
  ASSERT_TRUE(again.LoadState(whole.SaveState()).ok());
  EXPECT_EQ(TextOf(again, "hour"), TextOf(whole, "hour")) << "before a window closes";
  EXPECT_EQ(TextOf(again, "month"), TextOf(whole, "month"));
  EXPECT_EQ(again.window(), whole.window());
  for (int32_t w = stop; w < stop + kDay; ++w) {
    const CellCapacity window = cell.At(w);
    whole.OnWindow(window);
    again.OnWindow(window);
  }
  EXPECT_EQ(again.SaveState(), whole.SaveState());
  EXPECT_EQ(TextOf(again, "day"), TextOf(whole, "day"));
}

TEST(CapacityService, HistoryIsKnownFromTheFirstLiveWindowOn) {
  MadeCell cell;
  const int32_t end = kStart + 10 * kWindowsPerDay;
  CapacityService live(MadeTiers()), later(MadeTiers());
  for (int32_t w = kStart; w < end; ++w) {
    const CellCapacity window = cell.At(w);
    live.OnWindow(window);
    later.OnPastWindow(window);
  }
  EXPECT_FALSE(later.View()->latest.has_value());
  EXPECT_TRUE(later.View()->promises.empty());
  EXPECT_FALSE(live.View()->promises.empty());
  const CellCapacity next = cell.At(end);
  live.OnWindow(next);
  later.OnWindow(next);
  const CapacityOffer *of_live = OfferIn(*live.View(), "batch", "day", kCpu),
                      *of_later = OfferIn(*later.View(), "batch", "day", kCpu);
  ASSERT_TRUE(of_later != nullptr && of_later->sellable.has_value() && of_live->sellable.has_value());
  // The service `later` has no past promises, so its quotes differ slightly.
  EXPECT_NEAR(*of_later->sellable, *of_live->sellable, 0.1 * *of_live->sellable);
  EXPECT_EQ(later.History(0, int64_t{end} * 300, 3600).lines,
            live.History(0, int64_t{end} * 300, 3600).lines);
  EXPECT_EQ(later.View()->measured_hours, live.View()->measured_hours);
  later.OnPastWindow(cell.At(end - 5));  // this window was added before
  EXPECT_EQ(later.window(), WindowId{end});
}

TEST(CapacityService, WindowsThatComeTwiceCountOnce) {
  CapacityService service(MadeTiers());
  MadeCell cell;
  cell.Feed(service, kStart, kStart + 20);
  const std::string before = service.SaveState();
  service.OnWindow(cell.At(kStart + 19));
  service.OnWindow(cell.At(kStart + 15));
  EXPECT_EQ(service.SaveState(), before);
}

TEST(CapacityService, HoursWithoutWindowsAreAbsentAndGiveNoVerdict) {
  CapacityService service(MadeTiers());
  MadeCell cell;
  cell.Feed(service, kStart, kStart + 9 * kDay);
  const int64_t kept = OfferIn(*service.View(), "batch", "hour", kCpu)->kept.promises;
  ASSERT_GT(kept, 0);
  cell.Feed(service, kStart + 10 * kDay, kStart + 10 * kDay + 24);  // this window follows a gap of a day
  const CapacityHistory history =
      service.History(int64_t{kStart + 9 * kDay} * 300, int64_t{kStart + 11 * kDay} * 300, 3600);
  ASSERT_EQ(history.time_s.size(), 26U);
  const auto& usage = history.lines[0][static_cast<size_t>(CapacityLine::kUsage)];
  EXPECT_EQ(usage[0], std::nullopt);
  EXPECT_EQ(usage[23], std::nullopt);
  EXPECT_TRUE(usage[24].has_value());
  const CapacityOffer* hour = OfferIn(*service.View(), "batch", "hour", kCpu);
  EXPECT_EQ(hour->kept.unmeasured_promises, 1) << "the hour after the last window";
  EXPECT_EQ(hour->kept.promises, kept) << "nothing is promised while less than half of the last day is known";
  EXPECT_THAT(TextOf(service, "hour"), HasSubstr("Less than half of the last day was measured"));
}

TEST(CapacityService, AClockThatIsSetBackForgetsWhatHasNotCome) {
  CapacityService service(MadeTiers());
  MadeCell cell;
  cell.Feed(service, kStart, kStart + 8 * kDay);
  CapacityService other(MadeTiers());
  ASSERT_TRUE(other.LoadState(service.SaveState()).ok());
  cell.Feed(service, kStart + 8 * kDay, kStart + 9 * kDay);
  // The clock is set back by a day, and the windows of the day are added again.
  for (int32_t w = kStart + 8 * kDay; w < kStart + 9 * kDay; ++w) {
    const CellCapacity window = cell.At(w);
    service.OnWindow(window);
    other.OnWindow(window);
  }
  const CapacityOffer* a = OfferIn(*service.View(), "batch", "hour", kCpu);
  const CapacityOffer* b = OfferIn(*other.View(), "batch", "hour", kCpu);
  ASSERT_TRUE(a->sellable.has_value() && b->sellable.has_value()) << TextOf(service, "hour");
  EXPECT_EQ(service.View()->measured_hours, other.View()->measured_hours);
  EXPECT_NEAR(*a->sellable, *b->sellable, 0.5);
  EXPECT_EQ(service.View()->first_s, other.View()->first_s);
}

TEST(CapacityService, WithoutCapacityTheAnswerSaysHowToMakeItKnown) {
  CapacityService service(MadeTiers());
  MadeCell cell;
  cell.capacity = std::nullopt;
  cell.Feed(service, kStart, kStart + 2 * kDay);
  const auto view = service.View();
  EXPECT_THAT(CapacityWhy(*view), HasSubstr("agents.listen"));
  EXPECT_THAT(TextOf(service, "hour"), HasSubstr("The capacity of the cell is not known"));
  EXPECT_EQ(OfferIn(*view, "production", "any", kCpu)->sellable, std::nullopt);
  const CapacityHistory history = service.History(0, int64_t{kStart + 2 * kDay} * 300, 86'400);
  ASSERT_EQ(history.time_s.size(), 2U);
  EXPECT_EQ(history.lines[0][static_cast<size_t>(CapacityLine::kCapacity)][0], std::nullopt);
  EXPECT_NEAR(*history.lines[0][static_cast<size_t>(CapacityLine::kUsage)][0], 45, 1);
}

TEST(CapacityService, MachinesThatGoAreOfferedNoMore) {
  CapacityService service(MadeTiers());
  MadeCell cell;
  cell.Feed(service, kStart, kStart + 12 * kDay);
  const double before = *OfferIn(*service.View(), "batch", "hour", kCpu)->sellable;
  cell.capacity = 80;
  cell.Feed(service, kStart + 12 * kDay, kStart + 12 * kDay + 12);
  EXPECT_NEAR(*OfferIn(*service.View(), "batch", "hour", kCpu)->sellable, before - 20, 4);
  EXPECT_EQ(OfferIn(*service.View(), "production", "any", kCpu)->left, 10);
  cell.capacity = 50;
  cell.Feed(service, kStart + 12 * kDay + 12, kStart + 12 * kDay + 24);
  EXPECT_EQ(OfferIn(*service.View(), "production", "any", kCpu)->oversold, 20);
  const CapacityOffer* hour = OfferIn(*service.View(), "batch", "hour", kCpu);
  EXPECT_LT(hour->sellable.value_or(0), 10);
}

TEST(CapacityService, ReadsNeitherDamageNorNewerVersions) {
  CapacityService service(MadeTiers());
  MadeCell cell;
  cell.Feed(service, kStart, kStart + 40);
  const std::string bytes = service.SaveState();
  CapacityService other(MadeTiers());
  std::string damaged = bytes;
  damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 1);
  EXPECT_EQ(other.LoadState(damaged).code(), absl::StatusCode::kDataLoss);
  std::string payload = *OpenCheckpoint(bytes);
  for (size_t n = 0; n < payload.size(); n += 11)
    EXPECT_FALSE(other.LoadState(SealCheckpoint(payload.substr(0, n))).ok()) << n;
  EXPECT_FALSE(other.LoadState(SealCheckpoint(payload + "x")).ok());
  payload[0] = 99;
  EXPECT_EQ(other.LoadState(SealCheckpoint(payload)).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(other.window(), std::nullopt) << "it stays as it was";
  EXPECT_TRUE(other.LoadState(bytes).ok());
}

TEST(CapacityText, RisksAreInWords) {
  EXPECT_EQ(
      RiskText({"batch", brain::TierSale::kSlack, 0.98}),
      "In about 2 of 100 hours less than the amount is available, and tasks of this tier are reclaimed.");
  EXPECT_THAT(RiskText({"mid", brain::TierSale::kSlack, 0.999}), HasSubstr("about 1 of 1,000 hours"));
  EXPECT_THAT(RiskText({"mid", brain::TierSale::kSlack, 0.995}), HasSubstr("about 5 of 1,000 hours"));
  EXPECT_THAT(RiskText({"production", brain::TierSale::kReserved, 0.999}), HasSubstr("Never reclaimed"));
  EXPECT_THAT(RiskText({"free", brain::TierSale::kSpare, 0}), HasSubstr("No promise"));
}

}  // namespace
}  // namespace taut::server
