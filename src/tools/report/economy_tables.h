// The tables of a replayed pool, as text: for the terminal and for a page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "brain/economy/price_sheet.h"
#include "tools/sim/economy_replay.h"

namespace taut::tools {

struct EconomyTable {
  std::vector<std::string> head;  // a '\n' where a terminal breaks the line
  std::vector<std::vector<std::string>> rows;
};
// A row a policy: what is sold, used and earned below the reserved tiers.
EconomyTable EconomyPolicyTable(const EconomyResult& result, const brain::PriceSheet& sheet);
// A row a policy and tier, and one a reserved tier: promises and what was kept of them.
EconomyTable EconomyTierTable(const EconomyResult& result, const brain::PriceSheet& sheet);

// A row a group, the highest bills first: what it pays with each policy. `groups`: names, by number; `limit`: of
// rows, after which one says how many there are.
EconomyTable EconomyBillTable(const EconomyResult& result, std::span<const std::string> groups, size_t limit);

// Below the reserved tiers.
struct EconomySums {
  PoolLines sums;
  PoolAmounts wanted = {};
  brain::Money charges, credits, strict_net;
  brain::Money net() const { return {charges.micros - credits.micros}; }
};
EconomySums SumsBelow(const EconomyPolicy& policy, const std::vector<brain::TierSale>& tiers);

// "what the pool has, how long it is counted, how each tier is sold": sentences, a line each.
std::string EconomyIntroduction(const EconomyResult& result, const brain::PriceSheet& sheet);
// What the columns mean, in lines.
extern const char* const kEconomyLegend;

// Core-hours or GiB-hours of a sum of steps.
double HoursOf(Resource r, int64_t quantity);
// Cores or GiB of one step.
double AmountOfStep(Resource r, int64_t quantity);

}  // namespace taut::tools
