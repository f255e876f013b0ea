// Entries of the budget ledger: changes to the money of a shared pool, with holder, time, author and reason.
// budget_accounts.h computes the accounts from the entries.
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

// Holder of money: a business, which pays for groups, or a group of the pool. A business and a group may have
// the same name.
struct BudgetHolder {
  enum class Kind : uint8_t { kBusiness, kGroup };
  Kind kind = Kind::kBusiness;
  std::string name;

  bool is_business() const { return kind == Kind::kBusiness; }
  auto operator<=>(const BudgetHolder&) const = default;
};
BudgetHolder Business(std::string_view name);
BudgetHolder GroupHolder(std::string_view name);
// Returns "business:retail" or "group:shop".
std::string ToText(const BudgetHolder& holder);
// Parses the form of ToText; nullopt for other text.
std::optional<BudgetHolder> HolderOf(std::string_view text);

// The whole, in basis points, the unit of shares.
inline constexpr int64_t kWholeBasisPoints = 10'000;
// Parses a share from 0 to 100 % with at most two decimals: "33.33%" is 3333. nullopt for other text.
std::optional<int64_t> ParseShare(std::string_view text);
// Highest amount of one entry, in micro-units.
inline constexpr Money kMostBudgetAmount = {int64_t{1'000'000'000'000} * 1'000'000};

enum class BudgetPeriod : uint8_t { kMonth, kQuarter, kYear };  // calendar periods in UTC
std::string_view Name(BudgetPeriod period);                     // "month"
// Returns the period with this name; nullopt for another text.
std::optional<BudgetPeriod> BudgetPeriodNamed(std::string_view name);
// PeriodEnd returns the end (exclusive) of the period that contains `time_s`, PeriodBegin the start.
int64_t PeriodEnd(BudgetPeriod period, int64_t time_s);
int64_t PeriodBegin(BudgetPeriod period, int64_t time_s);
// Returns the first 00:00 UTC after `time_s`.
inline int64_t NextDay(int64_t time_s) { return (FloorDiv(time_s, kDaySeconds) + 1) * kDaySeconds; }

enum class BudgetAct : uint8_t {
  kPeriod,    // a period starts
  kPrices,    // prices of a core-hour and a GiB-hour from a date on
  kRate,      // value of a unit in the currency from a date on
  kBusiness,  // defines a business: unit, budget per period and carry-over
  kFunding,   // the businesses that pay for a group, and their shares, from a date on
  kRemove,    // a business or group was removed from the definition
  kGrant,     // additional money for the open period
  kTransfer,  // moves money to another holder
  kSplit,     // moves money to several holders, in shares
  kExpire,    // unspent money expires
  kFreeze,    // forbids movements of a holder's money
  kUnfreeze,
  kOverride,  // an additional budget until a time
  kClose,     // ends a holder's period: records money spent, carried over and expired
};
// Returns the name of the act in files and the API: "transfer".
std::string_view Name(BudgetAct act);
// Returns the act with this name; nullopt for another text.
std::optional<BudgetAct> BudgetActNamed(std::string_view name);
// Returns true if people request this act; the other acts follow from the definition and the calendar.
bool IsRequest(BudgetAct act);

// The part of unspent money that is carried into the next period.
struct CarryOver {
  int64_t share_bp = 0;      // basis points of the unspent money; 10'000: all
  std::optional<Money> cap;  // upper bound; absent: none
  bool operator==(const CarryOver&) const = default;
};

// One receiver of a split, with its share and the amount in the receiver's unit; or one business that funds a
// group, with its share.
struct BudgetPart {
  BudgetHolder holder;
  int64_t share_bp = 0;
  Money amount;
  bool operator==(const BudgetPart&) const = default;
};

// One line of the ledger. `act` determines which of the later fields are used; amounts are in the unit of
// `of`.
struct BudgetEntry {
  uint64_t id = 0;     // 1, 2, 3...
  int64_t time_s = 0;  // seconds since the epoch; never before the previous entry
  std::string who, why;
  std::string key;  // idempotency key of the request, so that a repetition adds no entry; "": none
  BudgetAct act = BudgetAct::kPeriod;
  BudgetHolder of;  // holder; used by all acts but kPeriod, kPrices, kRate
  BudgetHolder to;  // kTransfer
  Money amount;     // the act's amount; kBusiness: per period; kClose: granted for the next period
  Money received;   // kTransfer: amount in the unit of `to`
  std::vector<BudgetPart> parts;  // kSplit, kFunding
  std::string unit;               // kBusiness, kRate; kPeriod: the currency; else the unit of `of`
  Money rate;                     // kRate
  Price price;                    // kPrices; its from_s is ignored
  CarryOver carry;                // kBusiness
  int64_t from_s = 0;             // kFunding, kRate, kPrices: start of a day; kPeriod: its start
  int64_t until_s = 0;            // kPeriod, kOverride
  Money spent, carried, expired;  // kClose: of the ended period

  bool operator==(const BudgetEntry&) const = default;
};

// Describes the entry without time and author: "transfer of 100.00 EUR from business:retail to group:shop".
// `unit`: the unit of `of`.
std::string Describe(const BudgetEntry& entry, std::string_view unit);
// Returns, for example, "2026-11-01" (UTC).
std::string DateText(int64_t time_s);

}  // namespace taut::brain
