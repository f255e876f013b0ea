// Notices about budgets. Each notice is returned once per month, or once per period of its budget.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/pool/budgets.h"

namespace taut::server {

struct BudgetNotice {
  std::string budget;  // name of the budget
  double share = 0;    // share of the budget that was spent; 0: the forecast exceeds the budget
  BudgetState state;
};
// Returns a sentence such as "team=shop: 80 % of the month's budget of 500 EUR are spent (412.30 EUR)".
// `prices_currency`: currency of a budget that has none.
std::string Describe(const BudgetNotice& notice, const std::string& prices_currency);

// Finds shares of budgets that were newly exceeded. Not thread-safe.
class BudgetWatch {
 public:
  // `shares`: shares of a budget at which a notice is due, above 0 and ascending.
  explicit BudgetWatch(std::vector<double> shares) : shares_(std::move(shares)) {}
  // Returns the new notices since the last call: for each budget, the highest share that was newly reached.
  // The first call returns no notices, because a previous start has already reported the present shares.
  std::vector<BudgetNotice> Look(const BudgetStates& states);

 private:
  struct Said {
    int64_t month_from_s = 0;
    double share = 0;  // highest share in a notice
    bool forecast = false;
  };
  std::vector<double> shares_;
  std::map<std::string, Said> said_;  // by budget
};

// Watches several sources of budgets separately, so that equal names of budgets do not collide. Not
// thread-safe.
class BudgetNews {
 public:
  // Returns the budgets of one source; empty if the source is not available at present.
  using Account = std::function<BudgetStates()>;
  // `shares`: as in BudgetWatch.
  BudgetNews(const std::vector<double>& shares, std::vector<Account> accounts);
  // Returns the new notices of each source, in the order of the sources. A source takes about 0.1 s with
  // 100,000 jobs.
  std::vector<BudgetNotice> operator()();

 private:
  std::vector<Account> accounts_;
  std::vector<BudgetWatch> watches_;  // one per source
};

}  // namespace taut::server
