#include "brain/economy/budget_accounts.h"

#include <algorithm>

#include "brain/economy/budget_fixture.h"
#include "brain/economy/budget_spending.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;

const BudgetHolder kRetail = Business("retail"), kMedia = Business("media"), kShop = GroupHolder("shop"),
                   kWeb = GroupHolder("web");

absl::Status Do(BudgetAccounts& accounts, BudgetEntry asked, int64_t now_s = kNovember + 200,
                const SpentByHolder& spent = {}, bool all = false) {
  const absl::StatusOr<BudgetEntry> made = accounts.Make(std::move(asked), all, spent, now_s);
  return made.ok() ? accounts.Apply(*made) : made.status();
}

BudgetEntry TransferTo(BudgetHolder of, BudgetHolder to, Money amount) {
  BudgetEntry e = Ask(BudgetAct::kTransfer, std::move(of), amount);
  e.to = std::move(to);
  return e;
}

std::string Said(const absl::Status& status) { return std::string(Message(status)); }

TEST(BudgetPeriods, AreOfTheCalendarOfUtc) {
  EXPECT_EQ(DateText(PeriodBegin(BudgetPeriod::kMonth, kNovember + 29 * kDaySeconds)), "2026-11-01");
  EXPECT_EQ(DateText(PeriodEnd(BudgetPeriod::kMonth, kNovember)), "2026-12-01");
  EXPECT_EQ(DateText(PeriodBegin(BudgetPeriod::kQuarter, kNovember)), "2026-10-01");
  EXPECT_EQ(DateText(PeriodEnd(BudgetPeriod::kQuarter, kNovember)), "2027-01-01");
  EXPECT_EQ(DateText(PeriodEnd(BudgetPeriod::kYear, kNovember)), "2027-01-01");
  // February has 29 days, because 2028 is a leap year.
  EXPECT_EQ(DateText(PeriodEnd(BudgetPeriod::kMonth, 1'835'395'200)), "2028-03-01");
}

TEST(BudgetAccounts, HasWhatTheDefinitionSays) {
  const BudgetAccounts accounts = BookOf(TwoBusinesses());
  EXPECT_EQ(accounts.Find(kRetail)->balance(), Coins(1000));
  EXPECT_EQ(accounts.Find(kMedia)->unit, "credits");
  EXPECT_EQ(accounts.Find(kShop)->balance(), Money());
  EXPECT_EQ(accounts.totals().at("EUR").granted, Coins(1000));
  EXPECT_EQ(DateText(accounts.period().to_s), "2026-12-01");
}

TEST(BudgetAccounts, MovesMoneyAndConvertsIt) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  EXPECT_EQ(Do(accounts, TransferTo(kRetail, kShop, Coins(300))), absl::OkStatus());
  EXPECT_EQ(Do(accounts, TransferTo(kMedia, kShop, Coins(100))), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kRetail)->balance(), Coins(700));
  // The balance includes 100 credits, which are 50 EUR.
  EXPECT_EQ(accounts.Find(kShop)->balance(), Coins(350));
  EXPECT_EQ(accounts.totals().at("credits").converted_out, Coins(100));
  EXPECT_EQ(accounts.totals().at("EUR").converted_in, Coins(50));
  BudgetEntry split = Ask(BudgetAct::kSplit, kRetail, {100});
  split.parts = {{kShop, 3333, {}}, {kWeb, 6667, {}}};
  EXPECT_EQ(Do(accounts, split), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kWeb)->balance(), Money{67});
  EXPECT_EQ(accounts.Find(kShop)->balance().micros, Coins(350).micros + 33);
}

// One micro-unit of the expensive unit is worth 1 EUR. Moving money there and back must not create money.
TEST(BudgetAccounts, ConversionNeverMakesMoney) {
  BudgetDefinition def = TwoBusinesses();
  def.units[0].rates = {{kNovember, Coins(1'000'000)}};
  BudgetAccounts accounts = BookOf(def);
  EXPECT_THAT(
      Said(Do(accounts, TransferTo(kRetail, kMedia, {999'999}))),
      HasSubstr("0.999999 EUR are less than 0.000001 credits, the least that business:media can have"));
  const Money before = accounts.Find(kMedia)->balance();
  EXPECT_EQ(Do(accounts, TransferTo(kRetail, kMedia, {1'500'000})), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kMedia)->balance().micros, before.micros + 1);
  EXPECT_EQ(Do(accounts, TransferTo(kMedia, kRetail, {1})), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kRetail)->balance().micros, Coins(1000).micros - 500'000);
}

TEST(BudgetAccounts, MovesOnlyWhatIsNotSpent) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  const SpentByHolder spent = {{kRetail, Coins(900)}};
  EXPECT_THAT(
      Said(Do(accounts, TransferTo(kRetail, kShop, Coins(101)), kNovember + 200, spent)),
      HasSubstr("business:retail has 1000.00 EUR and has spent 900.00 of it: 100.00 can move, not 101.00"));
  EXPECT_EQ(Do(accounts, Ask(BudgetAct::kExpire, kRetail), kNovember + 200, spent, true), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kRetail)->balance(), Coins(900));
  EXPECT_THAT(Said(Do(accounts, Ask(BudgetAct::kExpire, kRetail), kNovember + 200, spent, true)),
              HasSubstr("has nothing left"));
}

TEST(BudgetAccounts, RefusesWithAReasonAndStaysAsItWas) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  ASSERT_EQ(Do(accounts, Ask(BudgetAct::kFreeze, kWeb)), absl::OkStatus());
  BudgetEntry uneven = Ask(BudgetAct::kSplit, kRetail, Coins(1));
  uneven.parts = {{kShop, 5000, {}}, {kMedia, 4000, {}}};
  BudgetEntry late = Ask(BudgetAct::kOverride, kRetail, Coins(1));
  late.until_s = kNovember;
  BudgetEntry no_reason = Ask(BudgetAct::kGrant, kRetail, Coins(1));
  no_reason.why = "  ";
  const std::pair<BudgetEntry, const char*> cases[] = {
      {Ask(BudgetAct::kGrant, kRetail, Money{-1}), "invalid amount -0.000001: expected more than 0"},
      {Ask(BudgetAct::kGrant, kRetail, Money{INT64_MAX}), "expected more than 0 to 1000000000000.00"},
      {Ask(BudgetAct::kGrant, kRetail, kMostBudgetAmount), "business:retail would have more than"},
      {Ask(BudgetAct::kGrant, Business("nobody"), Coins(1)), "no business:nobody"},
      {Ask(BudgetAct::kGrant, kWeb, Coins(1)), "group:web is frozen by entry"},
      {TransferTo(kRetail, kWeb, Coins(1)), "group:web is frozen by entry"},
      {TransferTo(kRetail, kRetail, Coins(1)), "from business:retail to itself"},
      {TransferTo(kRetail, kShop, Coins(1001)), "business:retail has 1000.00 EUR, less than 1001.00"},
      {TransferTo(kRetail, GroupHolder("x"), Coins(1)), "no group:x"},
      {uneven, "split of business:retail: the shares add up to 90 %: expected 100 %"},
      {late, "an override of business:retail until 2026-11-01 00:00: expected a time after now"},
      {no_reason, "why is missing"},
      {Ask(BudgetAct::kUnfreeze, kShop), "group:shop is not frozen"},
      {Ask(BudgetAct::kFreeze, kWeb), "group:web is frozen already"},
      {Ask(BudgetAct::kClose, kRetail), "\"close\" is not asked for"}};
  const BudgetAccounts before = accounts;
  for (const auto& [asked, said] : cases) {
    EXPECT_THAT(Said(Do(accounts, asked)), HasSubstr(said));
    EXPECT_TRUE(accounts == before) << said;
  }
}

TEST(BudgetAccounts, TimesDoNotGoBack) {
  BudgetAccounts accounts = BookOf(TwoBusinesses(), kNovember + 1000);
  const auto made = accounts.Make(Ask(BudgetAct::kGrant, kRetail, Coins(1)), false, {}, kNovember);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->time_s, kNovember + 1000);
  BudgetEntry earlier = *made;
  earlier.time_s = kNovember;
  EXPECT_THAT(Said(accounts.Apply(earlier)), HasSubstr("times do not go back"));
}

TEST(BudgetAccounts, AnOverrideEnds) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  BudgetEntry e = Ask(BudgetAct::kOverride, kRetail, Coins(250));
  e.until_s = kNovember + kDaySeconds;
  ASSERT_EQ(Do(accounts, e), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kRetail)->budget(kNovember + kDaySeconds - 1), Coins(1250));
  EXPECT_EQ(accounts.Find(kRetail)->budget(kNovember + kDaySeconds), Coins(1000));
  // An override raises the budget, but is not money that can be moved.
  EXPECT_FALSE(Do(accounts, TransferTo(kRetail, kShop, Coins(1001))).ok());
}

TEST(BudgetAccounts, APeriodEndsWithWhatIsCarriedOver) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  ASSERT_EQ(Do(accounts, TransferTo(kRetail, kShop, Coins(100))), absl::OkStatus());
  // retail has 900 - 300 left; half of this balance is 300, but the cap is 200. media has overspent.
  const auto entries =
      accounts.ClosePeriod(BudgetPeriod::kMonth,
                           {{kRetail, Coins(300)}, {kMedia, Coins(2500)}, {kShop, Coins(40)}}, kDecember + 5);
  ASSERT_TRUE(entries.ok()) << entries.status();
  for (const BudgetEntry& e : *entries) ASSERT_EQ(accounts.Apply(e), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kRetail)->balance(), Coins(1200));
  EXPECT_EQ(accounts.Find(kMedia)->balance(), Coins(2000));
  EXPECT_EQ(accounts.Find(kShop)->balance(), Money());
  EXPECT_EQ(DateText(accounts.period().from_s), "2026-12-01");
  EXPECT_EQ(DateText(accounts.period().to_s), "2027-01-01");
  EXPECT_EQ(accounts.totals().at("EUR").expired, Coins(400 + 60));
  EXPECT_EQ(accounts.totals().at("EUR").paid, Coins(340));
  EXPECT_EQ(accounts.totals().at("credits").overspent, Coins(500));
}

TEST(BudgetAccounts, WhatAFrozenAccountHasLeftDoesNotExpire) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  ASSERT_EQ(Do(accounts, Ask(BudgetAct::kFreeze, kRetail)), absl::OkStatus());
  const auto entries = accounts.ClosePeriod(BudgetPeriod::kMonth, {{kRetail, Coins(300)}}, kDecember + 5);
  ASSERT_TRUE(entries.ok()) << entries.status();
  for (const BudgetEntry& e : *entries) ASSERT_EQ(accounts.Apply(e), absl::OkStatus());
  EXPECT_EQ(accounts.Find(kRetail)->balance(), Coins(700 + 1000))
      << "of which 350 would be carried over, at most 200";
}

TEST(BudgetAccounts, ALongerPeriodBeginsWhereTheLastEnded) {
  BudgetAccounts accounts = BookOf(TwoBusinesses());
  const auto entries = accounts.ClosePeriod(BudgetPeriod::kQuarter, {}, kDecember);
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(DateText(entries->back().from_s), "2026-12-01");
  EXPECT_EQ(DateText(entries->back().until_s), "2027-01-01");
}

// --- Properties ---

// Checks for each unit: sum of balances = granted + converted in - converted out - expired - paid.
void ExpectConserved(const BudgetAccounts& accounts) {
  std::map<std::string, int64_t> sums;
  for (const auto& [holder, state] : accounts.holders()) {
    EXPECT_GE(state.balance().micros, 0) << ToText(holder);
    sums[state.unit] += state.balance().micros;
  }
  for (const auto& [unit, t] : accounts.totals()) {
    EXPECT_EQ(sums[unit], t.granted.micros + t.converted_in.micros - t.converted_out.micros -
                              t.expired.micros - t.paid.micros)
        << unit;
  }
}

// Returns a random request, which may be invalid: unknown names, excessive amounts, frozen holders.
BudgetEntry AnyRequest(Rng& rng, int64_t now_s) {
  const BudgetHolder holders[] = {kRetail, kMedia, kShop, kWeb, Business("nobody")};
  const auto any = [&] { return holders[rng.Below(std::size(holders))]; };
  constexpr BudgetAct kActs[] = {BudgetAct::kGrant,    BudgetAct::kTransfer, BudgetAct::kTransfer,
                                 BudgetAct::kSplit,    BudgetAct::kExpire,   BudgetAct::kFreeze,
                                 BudgetAct::kUnfreeze, BudgetAct::kOverride};
  BudgetEntry e =
      Ask(kActs[rng.Below(std::size(kActs))], any(), {static_cast<int64_t>(rng.Below(300'000'000)) - 1000});
  e.to = any();
  e.until_s = now_s + static_cast<int64_t>(rng.Below(100'000)) - 1000;
  const auto share = static_cast<int64_t>(rng.Below(10'001));
  if (e.act == BudgetAct::kSplit) e.parts = {{any(), share, {}}, {any(), 10'000 - share, {}}};
  return e;
}

TEST(BudgetBookProperties, MoneyIsConservedAndTheLedgerRepeatsTheState) {
  Rng rng(7);
  size_t entered = 0, refused = 0;
  for (int run = 0; run < 60; ++run) {
    std::vector<BudgetEntry> ledger;
    int64_t now_s = kNovember + 100;
    BudgetAccounts accounts = BookOf(TwoBusinesses(), now_s, &ledger);
    for (int i = 0; i < 120; ++i) {
      now_s += static_cast<int64_t>(rng.Below(30'000)) - 3000;  // the clock may be set back
      SpentByHolder spent;
      for (const auto& [holder, state] : accounts.holders())
        spent[holder] = {static_cast<int64_t>(rng.Below(900'000'000))};
      if (now_s >= accounts.period().to_s) {
        const auto end = accounts.ClosePeriod(BudgetPeriod::kMonth, spent, now_s);
        ASSERT_TRUE(end.ok()) << end.status();
        for (const BudgetEntry& e : *end) {
          ASSERT_EQ(accounts.Apply(e), absl::OkStatus());
          ledger.push_back(e);
        }
      }
      const BudgetAccounts before = accounts;
      const auto made = accounts.Make(AnyRequest(rng, now_s), rng.Below(10) == 0, spent, now_s);
      EXPECT_TRUE(accounts == before);
      if (!made.ok()) {
        EXPECT_FALSE(Message(made.status()).empty());
        ++refused;
        continue;
      }
      ASSERT_EQ(accounts.Apply(*made), absl::OkStatus());
      ledger.push_back(*made);
      ++entered;
      ExpectConserved(accounts);
    }
    // Replay accepts entries in any order.
    for (size_t i = ledger.size(); i > 1; --i) std::swap(ledger[i - 1], ledger[rng.Below(i)]);
    const auto again = BudgetAccounts::Replay(ledger);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(*again == accounts);
    // A missing entry is reported instead of skipped.
    std::ranges::sort(ledger, {}, &BudgetEntry::id);
    ledger.erase(ledger.begin() + static_cast<ptrdiff_t>(ledger.size() / 2));
    EXPECT_FALSE(BudgetAccounts::Replay(ledger).ok());
  }
  EXPECT_GT(entered, 1500u);
  EXPECT_GT(refused, 1000u);
}

TEST(BudgetBookProperties, EntriesOfOneTimeGoById) {
  std::vector<BudgetEntry> ledger;
  BudgetAccounts accounts = BookOf(TwoBusinesses(), kNovember + 100, &ledger);
  for (const BudgetAct act : {BudgetAct::kFreeze, BudgetAct::kUnfreeze, BudgetAct::kFreeze}) {
    const auto made = accounts.Make(Ask(act, kShop), false, {}, kNovember + 100);
    ASSERT_TRUE(made.ok());
    ASSERT_EQ(accounts.Apply(*made), absl::OkStatus());
    ledger.push_back(*made);
  }
  std::ranges::reverse(ledger);
  const auto again = BudgetAccounts::Replay(ledger);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(*again == accounts);
  EXPECT_EQ(again->Find(kShop)->frozen_by, ledger.front().id);
}

}  // namespace
}  // namespace taut::brain
