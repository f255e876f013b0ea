// The budgets file of tautd: businesses and what they have a period, groups and who pays for them in which
// shares. docs/reference/formats.md has an example.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/budget_definition.h"

namespace taut::server {

// InvalidArgument "name:line: what is wrong". What CheckBudgets finds is not looked at.
absl::StatusOr<brain::BudgetDefinition> ParseBudgetFile(std::string_view yaml, std::string_view name);
absl::StatusOr<brain::BudgetDefinition> ReadBudgetFile(const std::string& path);

}  // namespace taut::server
