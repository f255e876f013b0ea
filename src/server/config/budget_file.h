// The budgets file of tautd: businesses with their budget per period, and groups with the businesses that pay
// for them. docs/reference/formats.md has an example.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/budget_definition.h"

namespace taut::server {

// Parses a budgets file. InvalidArgument "name:line: error". CheckBudgets checks the contents later.
absl::StatusOr<brain::BudgetDefinition> ParseBudgetFile(std::string_view yaml, std::string_view name);
// Reads and parses the file. NotFound if it cannot be read; else as ParseBudgetFile.
absl::StatusOr<brain::BudgetDefinition> ReadBudgetFile(const std::string& path);

}  // namespace taut::server
