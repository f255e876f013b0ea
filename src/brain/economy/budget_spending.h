// Attributes the spending of a pool's groups to payers, and projects spending to the end of the open period.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/budget_accounts.h"

namespace taut::brain {

// Spending of a group on one day (UTC), in the currency; >= 0. The accounts need not contain the group.
struct GroupDay {
  std::string group;
  int64_t day_s = 0;  // start of the day, seconds since the epoch
  Money amount;
  Money again = {};  // part of `amount` that another group also spends; totals count it once, with that group
};

// Spending of one group by payer.
struct GroupSpending {
  Money spent;                          // sum of `own`, `payers` and `unfunded`
  Money own;                            // part that the group's own money pays
  std::map<std::string, Money> payers;  // part that each business pays, in the currency
  Money unfunded;  // spending beyond the group's own money on days on which no business funds the group
};

// Spending of all groups, attributed to payers.
struct BudgetSpending {
  // Spending by holder, in the holder's unit. For a business, its parts of the groups' spending, converted day
  // by day. For a group, the part that its own money pays.
  SpentByHolder spent;
  std::map<BudgetHolder, Money> in_currency;  // the amounts of `spent`, in the currency
  std::map<std::string, GroupSpending> groups;
  Money total, unfunded;  // sums over all groups, in the currency
};

// Attributes spending to payers. A group's own money (its balance) pays first, from the earliest day on. The
// businesses pay the rest of each day by the shares in force at the day's start. Parts are rounded by largest
// remainder, so that they sum up exactly. Days may have any order. Returns InvalidArgument for a negative day,
// OutOfRange if a sum does not fit. O(n log n + funders per day).
absl::StatusOr<BudgetSpending> Attribute(const BudgetAccounts& accounts, std::vector<GroupDay> days);

// Returns the projected days of the open period from `now_s` on, on the assumption that each group spends at the
// rate of `recent`, which covers `recent_s` seconds. The current day has only its remaining part. The caller
// attributes the returned days together with the spending so far. Returns OutOfRange if an amount does not fit.
// REQUIRES: recent_s > 0.
absl::StatusOr<std::vector<GroupDay>> RestOfPeriod(const BudgetAccounts& accounts,
                                                   std::span<const GroupDay> recent, int64_t recent_s,
                                                   int64_t now_s);

}  // namespace taut::brain
