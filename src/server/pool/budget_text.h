// Encodes an entry of the budget ledger as a line of JSON, for the ledger and the API. Source:
// docs/reference/formats.md, "The budget ledger".
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/budget_entry.h"
#include "common/base/json_writer.h"

namespace taut::server {

// Writes the members of an entry to an open object.
void PutEntry(const brain::BudgetEntry& entry, JsonWriter& json);
std::string EncodeEntry(const brain::BudgetEntry& entry);
// Parses an entry and ignores unknown fields. Returns DataLoss if EncodeEntry() did not write the text.
absl::StatusOr<brain::BudgetEntry> DecodeEntry(std::string_view text);

}  // namespace taut::server
