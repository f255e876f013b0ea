// Kinds of sale of a pool's tiers, depending on the tier's promise:
// - reserved: sold against the capacity, less the purchases in other reserved tiers; granted capacity always runs.
// - slack: capacity that the higher tiers are expected not to use; slack is reclaimed when the higher tiers use
// it.
// - spare: all capacity, without a promise; spare capacity is reclaimed as slack is.
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
// promise an availability of at least 99.9 %; a tier that promises no availability is spare; other tiers are
// slack.
std::vector<TierSale> DefaultTierSales(const PriceSheet& sheet);

}  // namespace taut::brain
