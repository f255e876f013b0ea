// What is to be said of budgets: each once in a month, or in the period that they are of.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/pool/budgets.h"

namespace taut::server {

struct BudgetNotice {
  std::string budget;  // its name
  double share = 0;    // of the budget, that is spent; 0: the forecast is above the budget
  BudgetState state;
};
// "team=shop: 80 % of the month's budget of 500 EUR are spent (412.30 EUR)".
// `prices_currency`: of a budget that names none.
std::string Describe(const BudgetNotice& notice, const std::string& prices_currency);

// One thread.
class BudgetWatch {
 public:
  // `shares`: above 0, ascending.
  explicit BudgetWatch(std::vector<double> shares) : shares_(std::move(shares)) {}
  // What is new since the last call, of a budget the highest share reached. The first call says nothing: what
  // was reached before a restart was said then.
  std::vector<BudgetNotice> Look(const BudgetStates& states);

 private:
  struct Said {
    int64_t month_from_s = 0;
    double share = 0;  // the highest
    bool forecast = false;
  };
  std::vector<double> shares_;
  std::map<std::string, Said> said_;  // by budget
};

// News of several accounts of budgets, each watched alone: names of one do not hide those of another. One thread.
class BudgetNews {
 public:
  // Returns the account; without budgets if there is none now.
  using Account = std::function<BudgetStates()>;
  // `shares`: as BudgetWatch.
  BudgetNews(const std::vector<double>& shares, std::vector<Account> accounts);
  // What is new of each, in their order. Reading an account takes some 0.1 s with 100,000 jobs.
  std::vector<BudgetNotice> operator()();

 private:
  std::vector<Account> accounts_;
  std::vector<BudgetWatch> watches_;  // of each
};

}  // namespace taut::server
