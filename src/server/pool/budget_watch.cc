#include "server/pool/budget_watch.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::server {

std::string Describe(const BudgetNotice& notice, const std::string& prices_currency) {
  const BudgetState& s = notice.state;
  const std::string& currency = s.currency.empty() ? prices_currency : s.currency;
  if (notice.share == 0) {
    return fmt::format(
        "{}: the {} will end with {:.2f} {}, above the budget of {:.2f} {}; {:.2f} {} are spent",
        notice.budget, s.period, s.forecast, currency, s.budget.per_month, currency, s.spent, currency);
  }
  return fmt::format("{}: {:g} % of the {}'s budget of {:.2f} {} are spent ({:.2f} {})", notice.budget,
                     100 * notice.share, s.period, s.budget.per_month, currency, s.spent, currency);
}

std::vector<BudgetNotice> BudgetWatch::Look(const BudgetStates& states) {
  std::vector<BudgetNotice> out;
  for (const BudgetState& state : states.budgets) {
    const std::string name = state.budget.name();
    const auto [it, is_new] = said_.try_emplace(name);
    Said& said = it->second;
    if (said.month_from_s != states.month_from_s) said = {states.month_from_s, 0, false};
    double share = 0;
    for (const double s : shares_) {
      if (state.spent >= s * state.budget.per_month) share = s;
    }
    const bool over = state.forecast > state.budget.per_month;
    if (!is_new && share > said.share) out.push_back({name, share, state});
    if (!is_new && over && !said.forecast) out.push_back({name, 0, state});
    said.share = std::max(said.share, share);
    said.forecast = said.forecast || over;
  }
  return out;
}

BudgetNews::BudgetNews(const std::vector<double>& shares, std::vector<Account> accounts)
    : accounts_(std::move(accounts)), watches_(accounts_.size(), BudgetWatch(shares)) {}

std::vector<BudgetNotice> BudgetNews::operator()() {
  std::vector<BudgetNotice> out;
  for (size_t i = 0; i < accounts_.size(); ++i) {
    for (BudgetNotice& notice : watches_[i].Look(accounts_[i]())) out.push_back(std::move(notice));
  }
  return out;
}

}  // namespace taut::server
