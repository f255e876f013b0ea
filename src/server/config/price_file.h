// The price file of `taut bill`: tiers and their prices, which tier and group a job is of, and what the pool
// costs. docs/reference/formats.md has an example.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/pricing.h"

namespace taut::server {

// When `from` may say that a price begins.
enum class PriceClock : uint8_t {
  kAny,    // at a date, or a duration after the begin of a trace's own clock ("12d")
  kDates,  // at a date: for Unix time, of which such a duration would be some day since 1970
};

// InvalidArgument "name:line: what is wrong".
absl::StatusOr<brain::Pricing> ParsePriceFile(std::string_view yaml, std::string_view name,
                                              PriceClock times = PriceClock::kAny);
// The file's text. Errors as ReadYamlFile.
absl::StatusOr<std::string> ReadPriceText(const std::string& path);

}  // namespace taut::server
