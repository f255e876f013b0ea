// Businesses and groups as defined in a file, and the ledger entries that make the accounts agree with this
// definition.
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

// Values, each with the start of the day from which it is in force. An absent time means the time at which the
// value is first read.
template <typename T>
using DefinedSteps = std::vector<std::pair<std::optional<int64_t>, T>>;

// Treatment of new quota requests of a group without money (see HeldGroups). Running jobs continue in either case.
enum class WhenSpent : uint8_t { kContinue, kRefuse };

// The definition in a file.
struct BudgetDefinition {
  std::string currency;
  BudgetPeriod period = BudgetPeriod::kMonth;
  struct Unit {
    std::string name;
    DefinedSteps<Money> rates;  // values of one unit in the currency
  };
  struct BusinessRow {
    std::string name;
    std::string unit;  // unit of the business's money; "": the currency
    Money per_period;
    CarryOver carry;
  };
  struct GroupRow {
    std::string name;
    DefinedSteps<std::vector<BudgetPart>> funding;  // businesses that pay; empty: none
    WhenSpent when_spent = WhenSpent::kContinue;    // current value, which is not in the ledger
  };
  std::vector<Unit> units;
  std::vector<BusinessRow> businesses;
  std::vector<GroupRow> groups;
};

// Returns the errors of a definition as sentences. Each sentence names the unit, business or group. Errors are
// - an invalid or repeated name, an unknown business or unit, a group that is not in `known_groups`,
// - an amount or share out of bounds, shares that do not sum up to 100 %, a unit without a rate,
// - steps out of order or not at the start of a day.
std::vector<std::string> CheckBudgets(const BudgetDefinition& definition,
                                      std::span<const std::string> known_groups);

// Returns the entries, without id, time and author, that make the accounts agree with the definition. Empty if the
// accounts already agree. Shares, rates and prices can change only after today. A step without a date, and the
// prices, apply from the next day on, or from the period's start if no value is in force. Returns
// FailedPrecondition if a past step, the currency or a business's unit differs. REQUIRES: CheckBudgets returns no
// error.
absl::StatusOr<std::vector<BudgetEntry>> ChangesTo(const BudgetDefinition& definition, const Price& price,
                                                   const BudgetAccounts& accounts, int64_t now_s);

}  // namespace taut::brain
