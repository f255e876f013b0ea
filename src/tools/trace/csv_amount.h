// Parses amounts of CPU and memory in CSV fields that are not plain numbers.
#pragma once

#include <optional>
#include <string_view>

namespace taut::tools {

// Parses an amount as Kubernetes and users write it: "500m", "300Mi", "1.5GiB", "64MB", "2k". Returns cores
// or bytes. With `decimal_comma`, "0,5" is also an amount. Returns nullopt if the text is not an amount, or
// if the amount is below 0.
std::optional<double> ParseCsvAmount(std::string_view text, bool memory, bool decimal_comma);

// Returns true if the text of a limit means "no limit": a number of 0 or less, or of kNoLimitBytes
// (common/base/no_limit.h) or more; or none, null, nan, max, inf, infinity, unlimited, in any case.
bool SaysNoLimit(std::string_view text);

}  // namespace taut::tools
