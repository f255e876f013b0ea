// The price file of `taut get bills`: tiers with their prices, rules for the tier and group of a job, and
// costs of the pool. docs/reference/formats.md has an example.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/pricing.h"

namespace taut::server {

// Interpretation of `from`, the start of a price.
enum class PriceClock : uint8_t {
  kAny,    // a date, or a duration since the start of a trace's own clock ("12d")
  kDates,  // a date; a duration such as "12d" would be a day in 1970 in Unix time
};

// Parses a price file. Returns InvalidArgument "name:line: error" if the file is invalid.
absl::StatusOr<brain::Pricing> ParsePriceFile(std::string_view yaml, std::string_view name,
                                              PriceClock times = PriceClock::kAny);
// Returns the text of the file at `path`. Returns the errors of ReadYamlFile.
absl::StatusOr<std::string> ReadPriceText(const std::string& path);

}  // namespace taut::server
