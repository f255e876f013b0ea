// Parses amounts of CPU and memory in CSV fields that are not plain numbers.
#pragma once

#include <optional>
#include <string_view>

namespace taut::tools {

// Returns cores or bytes, parsed as Kubernetes and people write them: "500m", "300Mi", "1.5GiB", "64MB", "2k".
// With `decimal_comma` also "0,5". nullopt if it is not such an amount, or below 0.
std::optional<double> ParseCsvAmount(std::string_view text, bool memory, bool decimal_comma);

// Returns true if the text of a limit means "no limit": a number of 0 or less, or of kNoLimitBytes
// (common/base/no_limit.h) or more; or none, null, nan, max, inf, infinity, unlimited, in any case.
bool SaysNoLimit(std::string_view text);

}  // namespace taut::tools
