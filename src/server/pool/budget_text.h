// An entry of the budget ledger as a line of JSON, and an answer of the API. docs/reference/formats.md, "The
// budget ledger".
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/budget_entry.h"
#include "common/base/json_writer.h"

namespace taut::server {

// Its members, within an object that is open.
void PutEntry(const brain::BudgetEntry& entry, JsonWriter& json);
std::string EncodeEntry(const brain::BudgetEntry& entry);
// DataLoss for what no EncodeEntry wrote. Fields that it does not know are left out.
absl::StatusOr<brain::BudgetEntry> DecodeEntry(std::string_view text);

}  // namespace taut::server
