// Amounts of CPU and memory in CSV fields that are no plain number.
#pragma once

#include <optional>
#include <string_view>

namespace taut::tools {

// In cores or bytes, as Kubernetes and people write them: "500m", "300Mi", "1.5GiB", "64MB", "2k", with a decimal
// comma where `decimal_comma` is set ("0,5"). nullopt: no such amount, or below 0.
std::optional<double> ParseCsvAmount(std::string_view text, bool memory, bool decimal_comma);

// Whether the text of a limit says that there is none: a number of 0 or less, or one of kNoLimitBytes
// (common/base/no_limit.h) or more, none, null, nan, max, inf, infinity, unlimited, in any case.
bool SaysNoLimit(std::string_view text);

}  // namespace taut::tools
