// Who pays for what the groups of a pool spend, and what the open period will end with.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/budget_accounts.h"

namespace taut::brain {

// What a group spent in a day (of UTC), in its currency; >= 0. The groups of the accounts, and others as
// they are.
struct GroupDay {
  std::string group;
  int64_t day_s = 0;  // the day's begin
  Money amount;
};

struct GroupSpending {
  Money spent;                          // = own + the businesses' parts + unfunded
  Money own;                            // paid by the group's own money
  std::map<std::string, Money> payers;  // businesses, in the currency
  Money unfunded;                       // beyond the own money, on days without a funding business
};

struct BudgetSpending {
  // In each holder's unit: a business's parts of its groups' spending, converted day by day; a group's own
  // part.
  SpentByHolder spent;
  std::map<BudgetHolder, Money> in_currency;  // the same, in the currency
  std::map<std::string, GroupSpending> groups;
  Money total, unfunded;  // of all groups, in the currency
};

// A group's own money (its balance) pays first, from the earliest day on; the rest of each day is divided
// over the businesses by the shares in force at the day's begin, by largest remainder: the parts add up to
// the last unit. Days in any order. OutOfRange if a sum does not fit. O(n log n) and the funders of each.
absl::StatusOr<BudgetSpending> Attribute(const BudgetAccounts& accounts, std::vector<GroupDay> days);

// The days of the open period from `now_s` on, if each group goes on spending as in `recent`, which is of
// `recent_s` seconds: to be attributed together with what was spent. A day that has begun has what is left of
// it. OutOfRange if it does not fit. REQUIRES: recent_s > 0.
absl::StatusOr<std::vector<GroupDay>> RestOfPeriod(const BudgetAccounts& accounts,
                                                   std::span<const GroupDay> recent, int64_t recent_s,
                                                   int64_t now_s);

}  // namespace taut::brain
