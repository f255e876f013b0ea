// Entries of the budget ledger: changes to the money of a shared pool, with holder, time, author and reason.
// budget_accounts.h computes the accounts from these entries.
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

// A holder of money: a business, which pays for groups, or a group of the pool. A business and a group may have
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
// Returns the holder as text: "business:retail" or "group:shop".
std::string ToText(const BudgetHolder& holder);
// Parses the format of ToText; nullopt for any other text.
std::optional<BudgetHolder> HolderOf(std::string_view text);

// 100 % in basis points, which are the unit of shares.
inline constexpr int64_t kWholeBasisPoints = 10'000;
// Parses a share from 0 to 100 % with at most two decimals into basis points: "33.33%" is 3333. Returns nullopt
// for any other text.
std::optional<int64_t> ParseShare(std::string_view text);
// Highest amount of one entry.
inline constexpr Money kMostBudgetAmount = {int64_t{1'000'000'000'000} * 1'000'000};

enum class BudgetPeriod : uint8_t { kMonth, kQuarter, kYear };  // calendar periods in UTC
std::string_view Name(BudgetPeriod period);                     // returns, for example, "month"
// Returns the period with this name; nullopt for any other text.
std::optional<BudgetPeriod> BudgetPeriodNamed(std::string_view name);
// Return the end (exclusive) and the start of the period that contains `time_s`.
int64_t PeriodEnd(BudgetPeriod period, int64_t time_s);
int64_t PeriodBegin(BudgetPeriod period, int64_t time_s);
// Returns the first 00:00 UTC after `time_s`.
inline int64_t NextDay(int64_t time_s) { return (FloorDiv(time_s, kDaySeconds) + 1) * kDaySeconds; }

enum class BudgetAct : uint8_t {
  kPeriod,    // a period starts
  kPrices,    // sets the prices of a core-hour and a GiB-hour from a date on
  kRate,      // sets the value of a unit in the currency from a date on
  kBusiness,  // defines a business: unit, budget per period and carry-over
  kFunding,   // sets the businesses that pay for a group, and their shares, from a date on
  kRemove,    // removes a business or group, because the definition no longer contains it
  kGrant,     // grants additional money for the open period
  kTransfer,  // moves money to another holder
  kSplit,     // moves money to several holders, in shares
  kExpire,    // unspent money expires
  kFreeze,    // forbids movements of a holder's money
  kUnfreeze,
  kOverride,  // grants an additional budget until a time
  kClose,     // ends a holder's period: records money spent, carried over and expired
};
// Returns the name of the act in files and in the API, such as "transfer".
std::string_view Name(BudgetAct act);
// Returns the act with this name; nullopt for any other text.
std::optional<BudgetAct> BudgetActNamed(std::string_view name);
// Returns true if people request this act. All other acts follow from the definition or the calendar.
bool IsRequest(BudgetAct act);

// The part of unspent money that is carried into the next period.
struct CarryOver {
  int64_t share_bp = 0;      // basis points of the unspent money; kWholeBasisPoints carries all money over
  std::optional<Money> cap;  // upper bound; absent if unlimited
  bool operator==(const CarryOver&) const = default;
};

// One receiver of a split, with its share and the amount in the receiver's unit. Also one business that funds a
// group, with its share.
struct BudgetPart {
  BudgetHolder holder;
  int64_t share_bp = 0;
  Money amount;
  bool operator==(const BudgetPart&) const = default;
};

// One line of the ledger. `act` determines which of the later fields are used. Amounts are in the unit of `of`.
struct BudgetEntry {
  uint64_t id = 0;     // number of the entry; entries are numbered consecutively from 1
  int64_t time_s = 0;  // seconds since the epoch; never before the previous entry
  std::string who, why;
  std::string key;  // idempotency key of the request, so that a repeated request adds no entry; may be ""
  BudgetAct act = BudgetAct::kPeriod;
  BudgetHolder of;  // holder; unused by kPeriod, kPrices and kRate
  BudgetHolder to;  // receiver of a kTransfer
  Money amount;     // amount of the act; kBusiness: per period; kClose: granted for the next period
  Money received;   // amount of a kTransfer in the unit of `to`
  std::vector<BudgetPart> parts;  // parts of kSplit and kFunding
  std::string unit;     // unit of kBusiness and kRate; currency of kPeriod; otherwise the unit of `of`
  Money rate;           // value of one unit in the currency, for kRate
  Price price;          // prices of kPrices; from_s is ignored
  CarryOver carry;      // carry-over of kBusiness
  int64_t from_s = 0;   // start of a day for kFunding, kRate and kPrices; first day of kPeriod
  int64_t until_s = 0;  // end of kPeriod and kOverride
  Money spent, carried, expired;  // amounts of the period that kClose ends

  bool operator==(const BudgetEntry&) const = default;
};

// Describes the entry without time and author, such as "transfer of 100.00 EUR from business:retail to
// group:shop". `unit` is the unit of `of`.
std::string Describe(const BudgetEntry& entry, std::string_view unit);
// Returns the date in UTC, such as "2026-11-01".
std::string DateText(int64_t time_s);

}  // namespace taut::brain
