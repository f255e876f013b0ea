// Accounts of businesses and groups: the state that results from the entries of the budget ledger, and the
// checks of further entries. No clock and no I/O; spending is an input.
//
// The accounts count spending in one currency, and have one open period at a time. A holder's balance is its
// money for the open period: carried over + granted + received - given - expired. A balance is never negative.
// Spending does not lower the balance, but only unspent money can be moved. At the period's end kClose deducts
// the spending.
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

// Pairs of a time and the value in force from that time on, ascending by time.
template <typename T>
using Timeline = std::vector<std::pair<int64_t, T>>;

// Returns the value in force at a time; null before the first value. O(log n).
template <typename T>
const T* ValueAt(const Timeline<T>& line, int64_t time_s) {
  const auto after = std::upper_bound(line.begin(), line.end(), time_s,
                                      [](int64_t t, const auto& step) { return t < step.first; });
  return after == line.begin() ? nullptr : &std::prev(after)->second;
}

// Additional budget until a time. `entry` is the id of the entry that granted the override.
struct BudgetOverride {
  Money amount;
  int64_t until_s = 0;
  uint64_t entry = 0;
  bool operator==(const BudgetOverride&) const = default;
};

// State of a business or of a group.
struct HolderState {
  std::string unit;        // the currency or an internal unit
  Money per_period;        // amount granted at the start of each period; only for businesses
  CarryOver carry;         // carry-over of a business; unused for a group, whose money expires
  bool removed = false;    // true if the definition lacks the holder, which is deleted when the period ends
  uint64_t frozen_by = 0;  // id of the entry that froze the holder; 0: not frozen
  std::string frozen_why;
  Money opened;  // balance at the start of the period, or when the holder was created
  Money granted, received, given, expired;  // amounts since `opened`
  std::vector<BudgetOverride> overrides;    // overrides, including overrides that ended in this period

  Money balance() const {  // returns a value >= 0
    return {opened.micros + granted.micros + received.micros - given.micros - expired.micros};
  }
  // Returns the balance plus the overrides in force at now_s, limited to the highest value of Money.
  Money budget(int64_t now_s) const;
  bool operator==(const HolderState&) const = default;
};

// Totals of one unit since the ledger began.
struct BudgetTotals {
  Money granted;                      // granted at the start of periods and by kGrant
  Money converted_in, converted_out;  // converted by transfers and splits between units
  // Unspent money that expired.
  Money expired;
  Money paid;       // spending of ended periods that the holders' money covered
  Money overspent;  // spending of ended periods that exceeded the holders' money
  bool operator==(const BudgetTotals&) const = default;
};

// spending in the holder's unit; a holder without spending is absent
using SpentByHolder = std::map<BudgetHolder, Money>;
// Returns the holder's spending; 0 if `spent` has no row of the holder.
Money SpentOf(const SpentByHolder& spent, const BudgetHolder& holder);

// The open period, [from_s, to_s); both times are 0 before the first period.
struct OpenPeriod {
  int64_t from_s = 0, to_s = 0;

  bool is_open() const { return to_s > 0; }
  bool operator==(const OpenPeriod&) const = default;
};

// The accounts of all holders, as a value. Not thread-safe.
class BudgetAccounts {
 public:
  // Applies the next entry. On error nothing changes. Returns InvalidArgument for impossible values, NotFound
  // for an unknown holder, FailedPrecondition if the state forbids the entry, OutOfRange if a sum does not fit.
  // The message names the holder. Does not compare the entry with the spending, unlike Make. O(log n + parts of
  // the entry).
  absl::Status Apply(const BudgetEntry& entry);
  // Returns the accounts after all entries. The entries may have any order and are applied by time, then by id.
  // An error names the entry.
  static absl::StatusOr<BudgetAccounts> Replay(std::vector<BudgetEntry> entries);

  // Converts a person's request into an entry that Apply accepts. Sets the entry's id, the received amounts in
  // the receivers' units, and the time: `now_s`, or the last entry's time if the clock was set back. If `all`,
  // moves the whole unspent balance. Returns the errors of Apply, and FailedPrecondition if the amount exceeds
  // the unspent balance. Does not apply the entry.
  absl::StatusOr<BudgetEntry> Make(BudgetEntry asked, bool all, const SpentByHolder& spent,
                                   int64_t now_s) const;
  // Returns the entries that end the open period: one entry for each holder, and an entry that opens the next
  // period, whose kind is `next`. REQUIRES: a period is open.
  absl::StatusOr<std::vector<BudgetEntry>> ClosePeriod(BudgetPeriod next, const SpentByHolder& spent,
                                                       int64_t now_s) const;

  const OpenPeriod& period() const { return period_; }
  uint64_t last_id() const { return last_id_; }
  int64_t last_time_s() const { return last_time_s_; }
  const std::string& currency() const { return currency_; }
  const std::map<BudgetHolder, HolderState>& holders() const { return holders_; }
  // Returns the holder's state; null for an unknown holder. Valid until the next Apply.
  const HolderState* Find(const BudgetHolder& holder) const;
  // Finds a holder by the format of ToText, or by name alone. Returns NotFound for an unknown holder, and
  // FailedPrecondition if a business and a group have this name.
  absl::StatusOr<BudgetHolder> Resolve(std::string_view text) const;
  // Returns the businesses that fund each group, with their shares. No business pays while an empty list is in
  // force.
  const std::map<std::string, Timeline<std::vector<BudgetPart>>>& funding() const { return funding_; }
  // Returns the group's businesses and shares at a time; null before the group's first funding. Valid until the
  // next Apply.
  const std::vector<BudgetPart>* FundersAt(const std::string& group, int64_t time_s) const;
  const std::map<std::string, Timeline<Money>>& rates() const { return rates_; }
  const Timeline<Price>& prices() const { return prices_; }
  const std::map<std::string, BudgetTotals>& totals() const { return totals_; }  // returns the totals by unit
  // Converts an amount, rounded to the nearest micro-unit. The first rate of a unit also applies to earlier times.
  // Returns FailedPrecondition for a unit without a rate.
  absl::StatusOr<Money> Convert(Money amount, const std::string& from, const std::string& to,
                                int64_t time_s) const;
  std::string UnitOf(const BudgetHolder& holder) const;  // returns the currency for an unknown holder

  bool operator==(const BudgetAccounts& other) const = default;

 private:
  // Each function applies one kind of entry. It checks the whole entry before it changes anything, so that an
  // error leaves the state unchanged.
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
  // Returns a copy of the holder's state. Returns NotFound for an unknown holder, FailedPrecondition for a
  // frozen holder.
  absl::StatusOr<HolderState> Movable(const BudgetHolder& holder) const;
  absl::StatusOr<HolderState> Giving(const BudgetHolder& holder, Money amount) const;
  absl::Status Receive(HolderState& state, const BudgetHolder& holder, Money amount) const;
  // Returns the values, in the currency, of one unit of `from` and one unit of `to`.
  absl::StatusOr<std::pair<Money, Money>> Worths(const std::string& from, const std::string& to,
                                                 int64_t time_s) const;
  absl::StatusOr<Money> Received(Money amount, const std::string& from, const BudgetHolder& holder,
                                 int64_t time_s) const;
  absl::Status FillReceived(BudgetEntry& e) const;
  // Adds a conversion of `out` in one unit into `in` in another unit to `totals`.
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
