// Kinds of sale of a pool's tiers, depending on the tier's promise:
// - reserved: sold against the capacity, less the purchases in other reserved tiers; granted capacity is never
//   reclaimed.
// - slack: capacity that the higher tiers are expected not to use; it is reclaimed when the higher tiers use it.
// - spare: all capacity, without a promise; it is reclaimed like slack.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_sheet.h"

namespace taut::brain {

enum class TierSale : uint8_t { kReserved, kSlack, kSpare };
std::string_view Name(TierSale sale);  // returns "reserved", "slack" or "spare"
// Returns InvalidArgument with the choices for an unknown name.
absl::StatusOr<TierSale> TierSaleNamed(std::string_view name);
// Returns the sale of each tier of the sheet. The first tier is reserved, and so are the directly following
// tiers that promise an availability of at least 99.9 %. A tier that promises no availability is spare, and all
// other tiers are slack.
std::vector<TierSale> DefaultTierSales(const PriceSheet& sheet);

}  // namespace taut::brain
