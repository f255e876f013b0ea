// Parses amounts of CPU and memory in CSV fields that are not plain numbers.
#pragma once

#include <optional>
#include <string_view>

namespace taut::tools {

// Parses an amount as users and Kubernetes write it, such as "500m", "300Mi", "1.5GiB", "64MB" or "2k". Returns
// cores or bytes. With `decimal_comma`, also accepts "0,5". Returns nullopt if the text is not an amount or is
// negative.
std::optional<double> ParseCsvAmount(std::string_view text, bool memory, bool decimal_comma);

// Returns true if the text of a limit means "no limit". A number means "no limit" if it is 0 or less, or at least
// kNoLimitBytes (common/base/no_limit.h). The words none, null, nan, max, inf, infinity and unlimited also mean
// "no limit", in any case.
bool SaysNoLimit(std::string_view text);

}  // namespace taut::tools
