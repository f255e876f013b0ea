#include "brain/economy/budget_hold.h"

#include <utility>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

bool HasMoney(const BudgetBook& book, const BudgetHolder& holder, const SpentByHolder& spent, int64_t now_s) {
  const HolderState* state = book.Find(holder);
  return state != nullptr && state->frozen_by == 0 && SpentOf(spent, holder) < state->budget(now_s);
}

// "": it may start something.
std::string WhyHeld(const std::string& group, const BudgetBook& book, const SpentByHolder& spent,
                    int64_t now_s) {
  if (HasMoney(book, GroupHolder(group), spent, now_s)) return "";
  const std::vector<BudgetPart>* funders = book.FundersAt(group, now_s);
  if (funders == nullptr || funders->empty())
    return StrCat("No business pays for group \"", group, "\", and it has no money of its own left.");
  for (const BudgetPart& part : *funders) {
    if (HasMoney(book, part.holder, spent, now_s)) continue;
    const HolderState* state = book.Find(part.holder);
    const bool frozen = state != nullptr && state->frozen_by != 0;
    return StrCat("Business \"", part.holder.name, "\", which pays for group \"", group, "\", ",
                  frozen ? "is frozen."
                         : StrCat("has nothing left of its budget for the period that ends on ",
                                  DateText(book.period().to_s), "."));
  }
  return "";
}

}  // namespace

GroupHolds HeldGroups(const BudgetDefinition& definition, const BudgetBook& book, const SpentByHolder& spent,
                      int64_t now_s) {
  GroupHolds out;
  if (!book.period().is_open()) return out;
  for (const BudgetDefinition::GroupRow& row : definition.groups) {
    if (row.when_spent != WhenSpent::kRefuse) continue;
    std::string why = WhyHeld(row.name, book, spent, now_s);
    if (!why.empty()) out.emplace(row.name, std::move(why));
  }
  return out;
}

}  // namespace taut::brain
