#include "brain/economy/budget_hold.h"

#include <utility>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

bool HasMoney(const BudgetAccounts& accounts, const BudgetHolder& holder, const SpentByHolder& spent,
              int64_t now_s) {
  const HolderState* state = accounts.Find(holder);
  return state != nullptr && state->frozen_by == 0 && SpentOf(spent, holder) < state->budget(now_s);
}

// Returns the reason why the group is held; "" if the group is not held.
std::string WhyHeld(const std::string& group, const BudgetAccounts& accounts, const SpentByHolder& spent,
                    int64_t now_s) {
  if (HasMoney(accounts, GroupHolder(group), spent, now_s)) return "";
  const std::vector<BudgetPart>* funders = accounts.FundersAt(group, now_s);
  if (funders == nullptr || funders->empty())
    return StrCat("No business pays for group \"", group, "\", and it has no money of its own left.");
  for (const BudgetPart& part : *funders) {
    if (HasMoney(accounts, part.holder, spent, now_s)) continue;
    const HolderState* state = accounts.Find(part.holder);
    const bool frozen = state != nullptr && state->frozen_by != 0;
    return StrCat("Business \"", part.holder.name, "\", which pays for group \"", group, "\", ",
                  frozen ? "is frozen."
                         : StrCat("has nothing left of its budget for the period that ends on ",
                                  DateText(accounts.period().to_s), "."));
  }
  return "";
}

}  // namespace

GroupHolds HeldGroups(const BudgetDefinition& definition, const BudgetAccounts& accounts,
                      const SpentByHolder& spent, int64_t now_s) {
  GroupHolds out;
  if (!accounts.period().is_open()) return out;
  for (const BudgetDefinition::GroupRow& row : definition.groups) {
    if (row.when_spent != WhenSpent::kRefuse) continue;
    std::string why = WhyHeld(row.name, accounts, spent, now_s);
    if (!why.empty()) out.emplace(row.name, std::move(why));
  }
  return out;
}

}  // namespace taut::brain
