// Notices about budgets. Each notice is returned once per period of the budgets.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace taut::server {

// Spending of a budget in the open period.
struct BudgetState {
  std::string name;      // name in texts: "business=retail", or "team=shop" of the setting prices.budgets
  double budget = 0;     // amount of the budget, > 0
  double spent = 0;      // spending since the start of the period
  double forecast = 0;   // spending by the end of the period at the rate of the last 7 days
  std::string currency;  // currency or internal unit
  std::string period = "month";  // period in texts: "the quarter's budget"
};
struct BudgetStates {
  int64_t period_from_s = 0;
  std::vector<BudgetState> budgets;
};

struct BudgetNotice {
  std::string budget;  // name of the budget
  double share = 0;    // spent share of the budget; 0: the forecast exceeds the budget
  BudgetState state;
};
// Returns a sentence such as "team=shop: 80 % of the month's budget of 500 EUR are spent (412.30 EUR)".
std::string Describe(const BudgetNotice& notice);

// Finds the shares of budgets that were reached since the last call. Not thread-safe.
class BudgetWatch {
 public:
  // `shares` contains the shares of a budget that cause a notice, above 0 and ascending.
  explicit BudgetWatch(std::vector<double> shares) : shares_(std::move(shares)) {}
  // Returns the new notices since the last call: for each budget, the highest share that was reached. The first
  // call returns none, because an earlier run has already reported the current shares.
  std::vector<BudgetNotice> Look(const BudgetStates& states);

 private:
  struct Said {
    int64_t period_from_s = 0;
    double share = 0;  // highest share in a notice
    bool forecast = false;
  };
  std::vector<double> shares_;
  std::map<std::string, Said> said_;  // last notices by the name of the budget
};

}  // namespace taut::server
