// Attributes the spending of a pool's groups to payers, and projects the end of the open period.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/budget_accounts.h"

namespace taut::brain {

// Spending of a group in one day (UTC), in the currency; >= 0. Groups need not be in the accounts.
struct GroupDay {
  std::string group;
  int64_t day_s = 0;  // start of the day, seconds since the epoch
  Money amount;
};

// A group's spending by payer.
struct GroupSpending {
  Money spent;                          // own + payers + unfunded
  Money own;                            // paid by the group's own money
  std::map<std::string, Money> payers;  // by business, in the currency
  Money unfunded;  // spending beyond the group's own money on days without a funding business
};

// Spending of all groups, attributed to payers.
struct BudgetSpending {
  // Spending by holder, in the holder's unit. A business: its parts of groups' spending, converted day by day. A
  // group: the spending that its own money paid.
  SpentByHolder spent;
  std::map<BudgetHolder, Money> in_currency;  // as `spent`, but in the currency
  std::map<std::string, GroupSpending> groups;
  Money total, unfunded;  // over all groups, in the currency
};

// Attributes spending. A group's own money (its balance) pays first, from the earliest day on. The rest of
// each day is divided among the businesses by the shares in force at the day's start, by largest remainder,
// so that the parts sum up exactly. Days may come in any order. Returns InvalidArgument for a negative day,
// OutOfRange if a sum does not fit. O(n log n + funders per day).
absl::StatusOr<BudgetSpending> Attribute(const BudgetAccounts& accounts, std::vector<GroupDay> days);

// Returns the projected days of the open period from `now_s` on, if each group spends at the rate of `recent`,
// which covers `recent_s` seconds. The current day has only its remaining part. The caller attributes the returned
// days together with the spending so far. Returns OutOfRange if an amount does not fit. REQUIRES: recent_s > 0.
absl::StatusOr<std::vector<GroupDay>> RestOfPeriod(const BudgetAccounts& accounts,
                                                   std::span<const GroupDay> recent, int64_t recent_s,
                                                   int64_t now_s);

}  // namespace taut::brain
