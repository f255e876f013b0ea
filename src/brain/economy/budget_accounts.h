// The state of businesses' and groups' money: what the entries of the budget ledger add up to, and what may be
// entered next. No clock, no I/O: what was spent is an input.
//
// A accounts has one currency, in which spending is counted, and one open period at a time. A holder's balance is
// what it has for the open period: carried over + granted + received - given - expired. It is never negative;
// spending does not lower it, but only what is left of it can move. At the period's end kClose takes off what
// was spent. For each unit, always:
//   sum of balances = granted + converted in - converted out - expired - paid.
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

// Values and since when each holds; ascending.
template <typename T>
using Timeline = std::vector<std::pair<int64_t, T>>;

// Null before the first. O(log n).
template <typename T>
const T* ValueAt(const Timeline<T>& line, int64_t time_s) {
  const auto after = std::upper_bound(line.begin(), line.end(), time_s,
                                      [](int64_t t, const auto& step) { return t < step.first; });
  return after == line.begin() ? nullptr : &std::prev(after)->second;
}

struct BudgetOverride {
  Money amount;
  int64_t until_s = 0;
  uint64_t entry = 0;
  bool operator==(const BudgetOverride&) const = default;
};

struct HolderState {
  std::string unit;        // the currency, or an internal unit
  Money per_period;        // granted when a period begins; of businesses
  CarryOver carry;         // groups: all of their money ends with the period
  bool removed = false;    // no longer in the definition: gone when the period ends
  uint64_t frozen_by = 0;  // the entry; 0: not frozen
  std::string frozen_why;
  Money opened;                             // at the begin of the period, or when the holder was made
  Money granted, received, given, expired;  // since then
  std::vector<BudgetOverride> overrides;    // also those that have ended in this period

  Money balance() const {  // >= 0
    return {opened.micros + granted.micros + received.micros - given.micros - expired.micros};
  }
  // The balance and the overrides that are in force. Fits.
  Money budget(int64_t now_s) const;
  bool operator==(const HolderState&) const = default;
};

// Since the ledger began, of one unit.
struct BudgetTotals {
  Money granted;                      // at periods' begins and by kGrant
  Money converted_in, converted_out;  // by transfers and splits between units
  Money expired;
  Money paid;       // of ended periods: what was spent, as far as there was money
  Money overspent;  // likewise: what was spent beyond it
  bool operator==(const BudgetTotals&) const = default;
};

using SpentByHolder = std::map<BudgetHolder, Money>;  // in the holder's unit; absent: nothing
Money SpentOf(const SpentByHolder& spent, const BudgetHolder& holder);

// The period that is open; both times are 0 before the first.
struct OpenPeriod {
  int64_t from_s = 0, to_s = 0;

  bool is_open() const { return to_s > 0; }
  bool operator==(const OpenPeriod&) const = default;
};

// A value. One thread.
class BudgetAccounts {
 public:
  // The next entry. Not OK: nothing changed. InvalidArgument for a value that cannot be, NotFound for a
  // holder, FailedPrecondition for what the state forbids, OutOfRange if a sum does not fit; all with a
  // reason that names the holder. What was spent is not looked at: see Make. O(log n) and the entry's parts.
  absl::Status Apply(const BudgetEntry& entry);
  // Of entries in any order: they are applied by time, and by id where times are equal. The error names the
  // entry.
  static absl::StatusOr<BudgetAccounts> Replay(std::vector<BudgetEntry> entries);

  // A request of people as an entry that Apply takes: its id, its time (`now_s`, or that of the last entry if
  // a clock went back), what others receive in their unit. `all`: the amount is all that is left. Errors as
  // Apply, and FailedPrecondition if less is left than is to move: what is in the balance and not spent.
  absl::StatusOr<BudgetEntry> Make(BudgetEntry asked, bool all, const SpentByHolder& spent,
                                   int64_t now_s) const;
  // What ends the open period: an entry for each holder, and the one that opens the next, of this kind.
  // REQUIRES: a period is open.
  absl::StatusOr<std::vector<BudgetEntry>> ClosePeriod(BudgetPeriod next, const SpentByHolder& spent,
                                                       int64_t now_s) const;

  const OpenPeriod& period() const { return period_; }
  uint64_t last_id() const { return last_id_; }
  int64_t last_time_s() const { return last_time_s_; }
  const std::string& currency() const { return currency_; }
  const std::map<BudgetHolder, HolderState>& holders() const { return holders_; }
  const HolderState* Find(const BudgetHolder& holder) const;
  // NotFound with what there is, or FailedPrecondition if the name alone could be both kinds. `text`: as
  // ToText, or the name alone.
  absl::StatusOr<BudgetHolder> Resolve(std::string_view text) const;
  // By group: businesses and their shares. None in force: no business pays.
  const std::map<std::string, Timeline<std::vector<BudgetPart>>>& funding() const { return funding_; }
  const std::vector<BudgetPart>* FundersAt(const std::string& group, int64_t time_s) const;
  const std::map<std::string, Timeline<Money>>& rates() const { return rates_; }
  const Timeline<Price>& prices() const { return prices_; }
  const std::map<std::string, BudgetTotals>& totals() const { return totals_; }  // by unit
  // Rounded to the nearest micro-unit. Before the first rate of a unit, that one counts. FailedPrecondition
  // for a unit without a rate.
  absl::StatusOr<Money> Convert(Money amount, const std::string& from, const std::string& to,
                                int64_t time_s) const;
  std::string UnitOf(const BudgetHolder& holder) const;  // the currency for one that is not there

  bool operator==(const BudgetAccounts& other) const = default;

 private:
  // One for each kind of entry; they check everything before they change anything.
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
  absl::StatusOr<HolderState> Movable(const BudgetHolder& holder) const;  // there, and not frozen
  absl::StatusOr<HolderState> Giving(const BudgetHolder& holder, Money amount) const;
  absl::Status Receive(HolderState& state, const BudgetHolder& holder, Money amount) const;
  // What one of each is worth in the currency.
  absl::StatusOr<std::pair<Money, Money>> Worths(const std::string& from, const std::string& to,
                                                 int64_t time_s) const;
  absl::StatusOr<Money> Received(Money amount, const std::string& from, const BudgetHolder& holder,
                                 int64_t time_s) const;
  absl::Status FillReceived(BudgetEntry& e) const;
  // What arrives in another unit leaves the one and enters the other.
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
