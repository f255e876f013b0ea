// The budgets file of tautd: businesses with their budget per period, and groups with the businesses that pay
// for these groups. docs/reference/formats.md has an example.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/budget_definition.h"

namespace taut::server {

// Parses a budgets file. Returns InvalidArgument "name:line: error" if the file is invalid. The caller checks
// the contents with CheckBudgets.
absl::StatusOr<brain::BudgetDefinition> ParseBudgetFile(std::string_view yaml, std::string_view name);
// Reads and parses the file. Returns NotFound if the file cannot be read, else the errors of ParseBudgetFile.
absl::StatusOr<brain::BudgetDefinition> ReadBudgetFile(const std::string& path);

}  // namespace taut::server
