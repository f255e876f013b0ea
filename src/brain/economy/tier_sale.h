// How each tier of a pool is sold, by what it promises:
//   reserved: against capacity, less what other reserved tiers have bought; what is granted always runs.
//   slack:    what the higher tiers are expected not to use; reclaimed when they do.
//   spare:    everything, without a promise; runs as slack does.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/price_sheet.h"

namespace taut::brain {

enum class TierSale : uint8_t { kReserved, kSlack, kSpare };
std::string_view Name(TierSale sale);  // "reserved", "slack", "spare"
// InvalidArgument naming the choices.
absl::StatusOr<TierSale> TierSaleNamed(std::string_view name);
// By tier of the sheet: the first is reserved, and so are those after it that promise an availability of at
// least 99.9 %; one that promises none is spare; others are slack.
std::vector<TierSale> DefaultTierSales(const PriceSheet& sheet);

}  // namespace taut::brain
