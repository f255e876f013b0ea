#include "server/pool/budget_watch.h"

#include <algorithm>

#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::server {

std::string Describe(const BudgetNotice& notice) {
  const BudgetState& s = notice.state;
  if (notice.share == 0) {
    return fmt::format(
        "{}: the {} will end with {:.2f} {}, above the budget of {:.2f} {}; {:.2f} {} are spent",
        notice.budget, s.period, s.forecast, s.currency, s.budget, s.currency, s.spent, s.currency);
  }
  return fmt::format("{}: {:g} % of the {}'s budget of {:.2f} {} are spent ({:.2f} {})", notice.budget,
                     100 * notice.share, s.period, s.budget, s.currency, s.spent, s.currency);
}

std::vector<BudgetNotice> BudgetWatch::Look(const BudgetStates& states) {
  std::vector<BudgetNotice> out;
  for (const BudgetState& state : states.budgets) {
    const std::string name = state.name;
    const auto [it, is_new] = said_.try_emplace(name);
    Said& said = it->second;
    if (said.period_from_s != states.period_from_s) said = {states.period_from_s, 0, false};
    double share = 0;
    for (const double s : shares_) {
      if (state.spent >= s * state.budget) share = s;
    }
    const bool over = state.forecast > state.budget;
    if (!is_new && share > said.share) out.push_back({name, share, state});
    if (!is_new && over && !said.forecast) out.push_back({name, 0, state});
    said.share = std::max(said.share, share);
    said.forecast = said.forecast || over;
  }
  return out;
}

}  // namespace taut::server
