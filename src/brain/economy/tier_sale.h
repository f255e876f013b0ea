// How each tier of a pool is sold, depending on its promise:
// - reserved: against capacity, less what other reserved tiers have bought; granted capacity always runs.
// - slack: capacity that the higher tiers are expected not to use; reclaimed when they do.
// - spare: everything, without a promise; runs as slack does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_sheet.h"

namespace taut::brain {

enum class TierSale : uint8_t { kReserved, kSlack, kSpare };
std::string_view Name(TierSale sale);  // "reserved", "slack", "spare"
// Returns InvalidArgument with the choices for an unknown name.
absl::StatusOr<TierSale> TierSaleNamed(std::string_view name);
// Returns the sale of each tier of the sheet. The first tier is reserved, and so are the following tiers that
// promise an availability of at least 99.9 %; a tier that promises none is spare; others are slack.
std::vector<TierSale> DefaultTierSales(const PriceSheet& sheet);

}  // namespace taut::brain
