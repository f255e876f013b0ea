// Tables of a replayed pool as text, for the terminal and for a page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "brain/economy/price_sheet.h"
#include "tools/sim/economy_replay.h"

namespace taut::tools {

struct EconomyTable {
  std::vector<std::string> head;  // heads of the columns; '\n' marks where the terminal may break the line
  std::vector<std::vector<std::string>> rows;
};
// Returns one row per policy: amounts sold and used, and earnings, of the tiers below the reserved tiers.
EconomyTable EconomyPolicyTable(const EconomyResult& result, const brain::PriceSheet& sheet);
// Returns promised and kept shares: one row per policy and tier, and one row per reserved tier.
EconomyTable EconomyTierTable(const EconomyResult& result, const brain::PriceSheet& sheet);

// Returns one row per group with the group's bill under each policy, highest bill first. `groups` contains the
// names by number. If there are more than `limit` groups, the last row states their total number.
EconomyTable EconomyBillTable(const EconomyResult& result, std::span<const std::string> groups, size_t limit);

// Sums of one policy over the tiers below the reserved tiers.
struct EconomySums {
  PoolLines sums;
  PoolAmounts wanted = {};
  brain::Money charges, credits, strict_net;
  brain::Money net() const { return {charges.micros - credits.micros}; }
};
EconomySums SumsBelow(const EconomyPolicy& policy, const std::vector<brain::TierSale>& tiers);

// Returns one sentence per line: the pool's capacity, the counted time, and how each tier is sold.
std::string EconomyIntroduction(const EconomyResult& result, const brain::PriceSheet& sheet);
// Lines of text that explain the columns of the tables.
extern const char* const kEconomyLegend;

// Converts an amount summed over steps to core-hours or GiB-hours.
double HoursOf(Resource r, int64_t quantity);
// Converts the amount of one step to cores or GiB.
double AmountOfStep(Resource r, int64_t quantity);

}  // namespace taut::tools
