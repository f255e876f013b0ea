// Tables of a replayed pool as text, for the terminal and for a page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "brain/economy/price_sheet.h"
#include "tools/sim/economy_replay.h"

namespace taut::tools {

struct EconomyTable {
  std::vector<std::string> head;  // a '\n' where a terminal may break the line
  std::vector<std::vector<std::string>> rows;
};
// Returns one row per policy: amounts sold, used and earned below the reserved tiers.
EconomyTable EconomyPolicyTable(const EconomyResult& result, const brain::PriceSheet& sheet);
// One row per policy and tier, and one per reserved tier: promised and kept shares.
EconomyTable EconomyTierTable(const EconomyResult& result, const brain::PriceSheet& sheet);

// One row per group, highest bill first: its bill under each policy. `groups` has the names by number. At most
// `limit` rows, and then one with the total number.
EconomyTable EconomyBillTable(const EconomyResult& result, std::span<const std::string> groups, size_t limit);

// Sums over the tiers below the reserved ones.
struct EconomySums {
  PoolLines sums;
  PoolAmounts wanted = {};
  brain::Money charges, credits, strict_net;
  brain::Money net() const { return {charges.micros - credits.micros}; }
};
EconomySums SumsBelow(const EconomyPolicy& policy, const std::vector<brain::TierSale>& tiers);

// Returns sentences, one per line: the pool's capacity, the counted time, and how each tier is sold.
std::string EconomyIntroduction(const EconomyResult& result, const brain::PriceSheet& sheet);
// Explanation of the columns, in lines.
extern const char* const kEconomyLegend;

// Converts a sum of steps to core-hours or GiB-hours.
double HoursOf(Resource r, int64_t quantity);
// Converts the amount of one step to cores or GiB.
double AmountOfStep(Resource r, int64_t quantity);

}  // namespace taut::tools
