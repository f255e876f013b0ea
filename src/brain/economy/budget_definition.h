// What a file says of businesses and groups, and the ledger's entries that make a accounts so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/budget_accounts.h"

namespace taut::brain {

// A value from a day on; absent: from when it is first read on.
template <typename T>
using DefinedSteps = std::vector<std::pair<std::optional<int64_t>, T>>;

// The outcome of new requests for quota of a group that has no money left: see HeldGroups. Jobs go on.
enum class WhenSpent : uint8_t { kContinue, kRefuse };

struct BudgetDefinition {
  std::string currency;
  BudgetPeriod period = BudgetPeriod::kMonth;
  struct Unit {
    std::string name;
    DefinedSteps<Money> rates;  // what one is worth in the currency
  };
  struct BusinessRow {
    std::string name;
    std::string unit;  // "": the currency
    Money per_period;
    CarryOver carry;
  };
  struct GroupRow {
    std::string name;
    DefinedSteps<std::vector<BudgetPart>> funding;  // none: no business pays
    WhenSpent when_spent = WhenSpent::kContinue;    // of now: no entry of the ledger
  };
  std::vector<Unit> units;
  std::vector<BusinessRow> businesses;
  std::vector<GroupRow> groups;
};

// What is wrong in it, a sentence each that names the unit, business or group: an empty name, one that is
// there twice, an amount or a share out of bounds, shares that are not 100 % together, an unknown business or
// unit, a unit without a rate, steps out of order or from within a day, a group that `known_groups` does not
// have.
std::vector<std::string> CheckBudgets(const BudgetDefinition& definition,
                                      std::span<const std::string> known_groups);

// The entries that bring the accounts to the definition, without id, time and author; none if it is there. Of
// shares, rates and prices only what holds after today can differ from the accounts: a step without a date, and
// the prices, count from the next day on, or from the period's begin if there was none. FailedPrecondition if
// a step of the past differs, if the currency does, or if a business's unit does. REQUIRES: CheckBudgets
// finds nothing.
absl::StatusOr<std::vector<BudgetEntry>> ChangesTo(const BudgetDefinition& definition, const Price& price,
                                                   const BudgetAccounts& accounts, int64_t now_s);

}  // namespace taut::brain
