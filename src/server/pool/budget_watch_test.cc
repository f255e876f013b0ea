#include "server/pool/budget_watch.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

BudgetStates Spent(double spent, double forecast, int64_t month = 1) {
  BudgetStates out;
  out.period_from_s = month;
  out.budgets = {{"team=shop", 100, spent, forecast, "EUR"}};
  return out;
}

std::vector<std::string> Texts(BudgetWatch& watch, const BudgetStates& states) {
  std::vector<std::string> out;
  for (const BudgetNotice& notice : watch.Look(states)) out.push_back(Describe(notice));
  return out;
}

TEST(BudgetWatch, SaysEachShareOnceAMonth) {
  BudgetWatch watch({0.5, 0.8, 1});
  EXPECT_THAT(Texts(watch, Spent(10, 90)), IsEmpty());
  EXPECT_THAT(Texts(watch, Spent(49, 90)), IsEmpty());
  EXPECT_THAT(Texts(watch, Spent(51, 90)),
              ElementsAre("team=shop: 50 % of the month's budget of 100.00 EUR are spent (51.00 EUR)"));
  EXPECT_THAT(Texts(watch, Spent(52, 90)), IsEmpty());
  EXPECT_THAT(Texts(watch, Spent(101, 99)),
              ElementsAre("team=shop: 100 % of the month's budget of 100.00 EUR are spent (101.00 EUR)"));
  EXPECT_THAT(Texts(watch, Spent(0, 0, 2)), IsEmpty());
  EXPECT_EQ(Texts(watch, Spent(60, 0, 2)).size(), 1U);
}

TEST(BudgetWatch, SaysOnceThatTheMonthWillEndAboveIt) {
  BudgetWatch watch({1});
  Texts(watch, Spent(10, 90));
  EXPECT_THAT(
      Texts(watch, Spent(20, 120)),
      ElementsAre("team=shop: the month will end with 120.00 EUR, above the budget of 100.00 EUR; 20.00 "
                  "EUR are spent"));
  Texts(watch, Spent(20, 90));
  EXPECT_THAT(Texts(watch, Spent(21, 121)), IsEmpty());
}

TEST(BudgetWatch, SaysThePeriodAndTheUnitOfABusiness) {
  BudgetWatch watch({1});
  BudgetStates states = Spent(10, 90);
  states.budgets[0].name = "business=media";
  states.budgets[0].currency = "credits";
  states.budgets[0].period = "quarter";
  Texts(watch, states);
  states.budgets[0].spent = 120;
  states.budgets[0].forecast = 130;
  EXPECT_THAT(
      Texts(watch, states),
      ElementsAre(
          "business=media: 100 % of the quarter's budget of 100.00 credits are spent (120.00 credits)",
          "business=media: the quarter will end with 130.00 credits, above the budget of 100.00 "
          "credits; 120.00 credits are spent"));
}

TEST(BudgetWatch, WhatWasReachedBeforeTheStartIsNotSaidAgain) {
  BudgetWatch watch({0.5, 1});
  EXPECT_THAT(Texts(watch, Spent(70, 200)), IsEmpty());
  EXPECT_THAT(Texts(watch, Spent(71, 200)), IsEmpty());
}

TEST(BudgetWatch, ABudgetThatCannotBeReadForAWhileIsSaidOnce) {
  BudgetWatch watch({0.5});
  Texts(watch, Spent(10, 0));
  EXPECT_EQ(Texts(watch, Spent(60, 0)).size(), 1U);
  EXPECT_THAT(Texts(watch, {}), IsEmpty());
  EXPECT_THAT(Texts(watch, Spent(65, 0)), IsEmpty());
}

}  // namespace
}  // namespace taut::server
