// Accounts of businesses and groups: the state that results from the entries of the budget ledger, and the checks
// of further entries. No clock and no I/O; spending is an input.
//
// The accounts have one currency, in which spending is counted, and one open period at a time. A holder's balance
// is its money for the open period: carried over + granted + received - given - expired. A balance is never
// negative. Spending does not lower the balance, but only unspent money can be moved. At the period's end kClose
// deducts the spending.
// Invariant for each unit: sum of balances = granted + converted in - converted out - expired - paid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/economy/budget_entry.h"
#include "brain/economy/money.h"

namespace taut::brain {

// Values with the time from which each value is in force; ascending.
template <typename T>
using Timeline = std::vector<std::pair<int64_t, T>>;

// Returns the value in force at a time; null before the first value. O(log n).
template <typename T>
const T* ValueAt(const Timeline<T>& line, int64_t time_s) {
  const auto after = std::upper_bound(line.begin(), line.end(), time_s,
                                      [](int64_t t, const auto& step) { return t < step.first; });
  return after == line.begin() ? nullptr : &std::prev(after)->second;
}

// Additional budget until a time, granted by the entry with this id.
struct BudgetOverride {
  Money amount;
  int64_t until_s = 0;
  uint64_t entry = 0;
  bool operator==(const BudgetOverride&) const = default;
};

// State of a business or group.
struct HolderState {
  std::string unit;        // the currency or an internal unit
  Money per_period;        // granted at the start of each period; only for businesses
  CarryOver carry;         // only for businesses: a group's money ends with the period
  bool removed = false;    // no longer in the definition; the holder is deleted when the period ends
  uint64_t frozen_by = 0;  // id of the freezing entry; 0: not frozen
  std::string frozen_why;
  Money opened;  // balance at the start of the period, or when the holder was created
  Money granted, received, given, expired;  // since `opened`
  std::vector<BudgetOverride> overrides;    // includes overrides that ended in this period

  Money balance() const {  // >= 0
    return {opened.micros + granted.micros + received.micros - given.micros - expired.micros};
  }
  // Returns the balance plus the overrides in force at now_s; saturates.
  Money budget(int64_t now_s) const;
  bool operator==(const HolderState&) const = default;
};

// Totals of one unit since the ledger began.
struct BudgetTotals {
  Money granted;                      // at starts of periods and by kGrant
  Money converted_in, converted_out;  // by transfers and splits between units
  // Unspent money that has expired.
  Money expired;
  Money paid;       // spending of ended periods, as far as the holders' money covered it
  Money overspent;  // spending of ended periods beyond the holders' money
  bool operator==(const BudgetTotals&) const = default;
};

using SpentByHolder = std::map<BudgetHolder, Money>;  // in the holder's unit; absent: nothing
// Returns the holder's spending; 0 if `spent` has no row of the holder.
Money SpentOf(const SpentByHolder& spent, const BudgetHolder& holder);

// The open period, [from_s, to_s); both times are 0 before the first period.
struct OpenPeriod {
  int64_t from_s = 0, to_s = 0;

  bool is_open() const { return to_s > 0; }
  bool operator==(const OpenPeriod&) const = default;
};

// The accounts as a value. Not thread-safe.
class BudgetAccounts {
 public:
  // Applies the next entry. On error nothing changes: InvalidArgument for impossible values, NotFound for an
  // unknown holder, FailedPrecondition if the state forbids the entry, OutOfRange if a sum does not fit. The
  // message names the holder. Does not compare the entry with the spending: see Make. O(log n + parts of the
  // entry).
  absl::Status Apply(const BudgetEntry& entry);
  // Returns accounts after the entries, which may have any order, are applied by time and then by id. An error
  // names the entry.
  static absl::StatusOr<BudgetAccounts> Replay(std::vector<BudgetEntry> entries);

  // Converts a person's request into an entry that Apply accepts. Sets the entry's id, the received amounts in the
  // receivers' units, and the time: `now_s`, or the last entry's time if the clock went back. `all`: moves the
  // whole unspent balance. Returns the errors of Apply, and FailedPrecondition if the amount exceeds the unspent
  // balance. Does not apply the entry.
  absl::StatusOr<BudgetEntry> Make(BudgetEntry asked, bool all, const SpentByHolder& spent,
                                   int64_t now_s) const;
  // Returns the entries that end the open period: one entry for each holder, and an entry that opens the next
  // period, of kind `next`. REQUIRES: a period is open.
  absl::StatusOr<std::vector<BudgetEntry>> ClosePeriod(BudgetPeriod next, const SpentByHolder& spent,
                                                       int64_t now_s) const;

  const OpenPeriod& period() const { return period_; }
  uint64_t last_id() const { return last_id_; }
  int64_t last_time_s() const { return last_time_s_; }
  const std::string& currency() const { return currency_; }
  const std::map<BudgetHolder, HolderState>& holders() const { return holders_; }
  // Returns the holder's state or null. Valid until the next Apply.
  const HolderState* Find(const BudgetHolder& holder) const;
  // Finds a holder by the form of ToText, or by name alone. Returns NotFound, or FailedPrecondition if both a
  // business and a group have the name.
  absl::StatusOr<BudgetHolder> Resolve(std::string_view text) const;
  // Funding by group: businesses and their shares. While an empty list is in force, no business pays.
  const std::map<std::string, Timeline<std::vector<BudgetPart>>>& funding() const { return funding_; }
  // Returns the group's businesses and shares in force at a time; null before the group's first funding. Valid
  // until the next Apply.
  const std::vector<BudgetPart>* FundersAt(const std::string& group, int64_t time_s) const;
  const std::map<std::string, Timeline<Money>>& rates() const { return rates_; }
  const Timeline<Price>& prices() const { return prices_; }
  const std::map<std::string, BudgetTotals>& totals() const { return totals_; }  // by unit
  // Converts an amount, rounded to the nearest micro-unit. The first rate of a unit also applies to earlier times.
  // Returns FailedPrecondition for a unit without a rate.
  absl::StatusOr<Money> Convert(Money amount, const std::string& from, const std::string& to,
                                int64_t time_s) const;
  std::string UnitOf(const BudgetHolder& holder) const;  // the currency for an unknown holder

  bool operator==(const BudgetAccounts& other) const = default;

 private:
  // One function for each kind of entry. Each function checks the whole entry before it changes anything, so that
  // an error leaves the state unchanged.
  absl::Status Period(const BudgetEntry& e);
  absl::Status Prices(const BudgetEntry& e);
  absl::Status Rate(const BudgetEntry& e);
  absl::Status DefineBusiness(const BudgetEntry& e);
  absl::Status Fund(const BudgetEntry& e);
  absl::Status Remove(const BudgetEntry& e);
  absl::Status Grant(const BudgetEntry& e);
  absl::Status Transfer(const BudgetEntry& e);
  absl::Status SplitUp(const BudgetEntry& e);
  absl::Status Expire(const BudgetEntry& e);
  absl::Status Freeze(const BudgetEntry& e);
  absl::Status Override(const BudgetEntry& e);
  absl::Status Close(const BudgetEntry& e);

  absl::Status CheckParts(const BudgetEntry& e, std::string_view what) const;
  // Returns a copy of the holder's state; NotFound for an unknown holder, FailedPrecondition for a frozen one.
  absl::StatusOr<HolderState> Movable(const BudgetHolder& holder) const;
  absl::StatusOr<HolderState> Giving(const BudgetHolder& holder, Money amount) const;
  absl::Status Receive(HolderState& state, const BudgetHolder& holder, Money amount) const;
  // Returns the value of one unit `from` and of one unit `to` in the currency.
  absl::StatusOr<std::pair<Money, Money>> Worths(const std::string& from, const std::string& to,
                                                 int64_t time_s) const;
  absl::StatusOr<Money> Received(Money amount, const std::string& from, const BudgetHolder& holder,
                                 int64_t time_s) const;
  absl::Status FillReceived(BudgetEntry& e) const;
  // Counts an amount that leaves one unit and arrives in another.
  static absl::Status CountConverted(const std::string& from, Money out, const std::string& to, Money in,
                                     std::map<std::string, BudgetTotals>& totals);

  std::string currency_;
  OpenPeriod period_;
  uint64_t last_id_ = 0;
  int64_t last_time_s_ = 0;
  std::map<BudgetHolder, HolderState> holders_;
  std::map<std::string, Timeline<std::vector<BudgetPart>>> funding_;
  std::map<std::string, Timeline<Money>> rates_;
  Timeline<Price> prices_;
  std::map<std::string, BudgetTotals> totals_;
};

}  // namespace taut::brain
