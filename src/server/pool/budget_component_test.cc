// Tests that the budgets of the file and of the setting prices.budgets form one definition, and that notices
// name both.
#include "server/pool/budget_component.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/control/component_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BudgetComponentTest : public ComponentTest {
 protected:
  BudgetComponentTest() {
    options_.prices.per_hour = {1, 0};
    options_.prices.budgets = {"team=shop: 500", "all: 8000.5"};
    options_.keep_days = 90;
  }
  // Writes a quota file with one group, and a budgets file with one business that pays for this group.
  void AddFiles(const std::string& period) {
    options_.quota.file = dir_.File("quota.yaml");
    options_.config.file = dir_.File("budgets.yaml");
    std::ofstream(options_.quota.file)
        << "groups: [{name: all, quotas: [{tier: production, resource: cpu, nominal: 4}]}]\n";
    std::ofstream(options_.config.file) << "period: " << period
                                        << "\nbusinesses: [{name: all, budget: 100}]\n"
                                           "groups: [{name: all, shares: {all: 100%}}]\n";
  }
  static std::vector<std::string> BusinessesOf(const brain::BudgetDefinition& definition) {
    std::vector<std::string> out;
    for (const auto& row : definition.businesses)
      out.push_back(StrCat(row.name, " ", brain::ToText(row.per_period)));
    return out;
  }

  BudgetComponent::Options options_;
};

TEST_F(BudgetComponentTest, TheSettingAloneIsABusinessAndAGroupEach) {
  const auto definition = ReadBudgets(options_);
  ASSERT_TRUE(definition.ok()) << definition.status();
  EXPECT_THAT(BusinessesOf(*definition), ElementsAre("label:team=shop 500.00", "label:all 8000.50"));
  ASSERT_EQ(definition->groups.size(), 2U);
  EXPECT_EQ(definition->groups[0].name, "label:team=shop");
  EXPECT_EQ(definition->period, brain::BudgetPeriod::kMonth);
  options_.keep_days = 7;
  EXPECT_TRUE(ReadBudgets(options_).ok()) << "as before there was a ledger";
}

TEST_F(BudgetComponentTest, TheSettingStandsBesideTheFile) {
  AddFiles("month");
  auto definition = ReadBudgets(options_);
  ASSERT_TRUE(definition.ok()) << definition.status();
  EXPECT_THAT(BusinessesOf(*definition),
              ElementsAre("all 100.00", "label:team=shop 500.00", "label:all 8000.50"))
      << "equal names do not collide";
  AddFiles("quarter");
  options_.keep_days = 93;
  definition = ReadBudgets(options_);
  ASSERT_TRUE(definition.ok()) << definition.status();
  EXPECT_THAT(BusinessesOf(*definition),
              ElementsAre("all 100.00", "label:team=shop 1500.00", "label:all 24001.50"));
}

TEST_F(BudgetComponentTest, NoticesHaveTheNamesOfTheSetting) {
  BudgetComponent budgets(options_, nullptr, &store_, context_);
  ASSERT_EQ(budgets.Start(), absl::OkStatus());
  CloseAWindow();
  budgets.Tick(Turn(1));
  const BudgetStates states = budgets.states();
  std::vector<std::string> names;
  for (const BudgetState& state : states.budgets) names.push_back(state.name);
  EXPECT_THAT(names, ElementsAre("all", "team=shop"));
  EXPECT_EQ(states.budgets[1].budget, 500);
  EXPECT_EQ(states.budgets[1].currency, "EUR");
  EXPECT_GT(Logged("budget_business"), 0) << "the ledger has them";
  EXPECT_THAT(MetricsOf(budgets), HasSubstr("tautd_holder_budget{holder=\"business:label:team=shop\""));
}

}  // namespace
}  // namespace taut::server
