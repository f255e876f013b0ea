// The price file of `taut bill`: tiers and their prices, which tier and group a job is of, and what the pool
// costs. docs/formats.md has an example.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "economy/pricing.h"

namespace taut {

// InvalidArgument "name:line: what is wrong".
absl::StatusOr<Pricing> ParsePriceFile(std::string_view yaml, std::string_view name);
// The file's text; errors as ReadPriceFile.
absl::StatusOr<std::string> ReadPriceText(const std::string& path);
absl::StatusOr<Pricing> ReadPriceFile(const std::string& path);

}  // namespace taut
