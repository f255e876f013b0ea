// The entries of the budget ledger: who holds money of a shared pool, what was done with it, when, by whom
// and why. budget_accounts.h is the state that they add up to.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/money.h"
#include "brain/economy/price_sheet.h"
#include "common/base/time.h"

namespace taut::brain {

// Who holds money: a business, which pays for groups, or a group of the pool itself. Of both kinds one name
// may be there.
struct BudgetHolder {
  enum class Kind : uint8_t { kBusiness, kGroup };
  Kind kind = Kind::kBusiness;
  std::string name;

  bool is_business() const { return kind == Kind::kBusiness; }
  auto operator<=>(const BudgetHolder&) const = default;
};
BudgetHolder Business(std::string_view name);
BudgetHolder GroupHolder(std::string_view name);
// "business:retail", "group:shop".
std::string ToText(const BudgetHolder& holder);
// Reads what ToText wrote; nullopt for another text.
std::optional<BudgetHolder> HolderOf(std::string_view text);

// Shares are in basis points: 10'000 are all.
inline constexpr int64_t kWholeBasisPoints = 10'000;
// "33.33%" is 3333: from 0 to 100 %, with at most two decimals. nullopt for another text.
std::optional<int64_t> ParseShare(std::string_view text);
// No more money than this, in micro-units, in one entry.
inline constexpr Money kMostBudgetAmount = {int64_t{1'000'000'000'000} * 1'000'000};

enum class BudgetPeriod : uint8_t { kMonth, kQuarter, kYear };  // of the calendar of UTC
std::string_view Name(BudgetPeriod period);                     // "month"
std::optional<BudgetPeriod> BudgetPeriodNamed(std::string_view name);
// The end of the period that `time_s` is in, and its begin.
int64_t PeriodEnd(BudgetPeriod period, int64_t time_s);
int64_t PeriodBegin(BudgetPeriod period, int64_t time_s);
// The first 00:00 of UTC after `time_s`.
inline int64_t NextDay(int64_t time_s) { return (FloorDiv(time_s, kDaySeconds) + 1) * kDaySeconds; }

enum class BudgetAct : uint8_t {
  kPeriod,    // a period begins
  kPrices,    // what a core-hour and a GiB-hour cost from a date on
  kRate,      // what one of a unit is worth in the currency from a date on
  kBusiness,  // a business: its unit, budget per period and carry-over
  kFunding,   // who pays for a group, in which shares, from a date on
  kRemove,    // a business or group that the definition has no longer
  kGrant,     // more money for the open period
  kTransfer,  // from one holder to another
  kSplit,     // from one holder to several, in shares
  kExpire,    // money that was not spent ends
  kFreeze,    // a holder's money does not move
  kUnfreeze,
  kOverride,  // a higher budget that ends at a time
  kClose,     // a period of a holder ends: what was spent, what is carried over, what expires
};
std::string_view Name(BudgetAct act);
std::optional<BudgetAct> BudgetActNamed(std::string_view name);
// Whether people ask for it; the others come from the definition and the calendar.
bool IsRequest(BudgetAct act);

// What of a holder's unspent money is carried into the next period.
struct CarryOver {
  int64_t share_bp = 0;      // 0: nothing, 10'000: all
  std::optional<Money> cap;  // and at most this
  bool operator==(const CarryOver&) const = default;
};

// Of a split: who gets which share of it, and how much that is in the unit of that holder. Of funding: a
// business.
struct BudgetPart {
  BudgetHolder holder;
  int64_t share_bp = 0;
  Money amount;
  bool operator==(const BudgetPart&) const = default;
};

// One line of the ledger. Which fields count beside the first five says `act`; amounts are in the unit of `of`.
struct BudgetEntry {
  uint64_t id = 0;     // 1, 2, 3...
  int64_t time_s = 0;  // not before that of the entry before
  std::string who, why;
  std::string key;  // that the asker gave, so that a repeated request is one entry; "": none
  BudgetAct act = BudgetAct::kPeriod;
  BudgetHolder of;                // all but kPeriod, kPrices, kRate
  BudgetHolder to;                // kTransfer
  Money amount;                   // kBusiness: per period; kClose: granted for the next period
  Money received;                 // kTransfer: in the unit of `to`
  std::vector<BudgetPart> parts;  // kSplit, kFunding
  std::string unit;               // kBusiness, kRate; kPeriod: the currency; else that of `of` as it was
  Money rate;                     // kRate
  Price price;                    // kPrices; its from_s is not read
  CarryOver carry;                // kBusiness
  int64_t from_s = 0;             // kFunding, kRate, kPrices: a day's begin; kPeriod
  int64_t until_s = 0;            // kPeriod, kOverride
  Money spent, carried, expired;  // kClose: of the period that ends

  bool operator==(const BudgetEntry&) const = default;
};

// What was done, in a sentence without time and author: "transfer of 100.00 EUR from business:retail to
// group:shop". `unit`: of `of`.
std::string Describe(const BudgetEntry& entry, std::string_view unit);
// "2026-11-01".
std::string DateText(int64_t time_s);

}  // namespace taut::brain
