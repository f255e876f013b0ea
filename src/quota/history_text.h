// The history of quota as JSON, for the file beside the store. docs/formats.md, "The history of quota".
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "economy/quota_history.h"

namespace taut {

std::string EncodeHistory(const QuotaHistory& history);
// DataLoss for what no EncodeHistory wrote.
absl::StatusOr<QuotaHistory> DecodeHistory(std::string_view text);

}  // namespace taut
