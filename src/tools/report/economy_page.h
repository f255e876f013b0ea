// A replayed pool as one HTML file: the tables of its policies and tiers, and the four lines over time.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "brain/economy/price_sheet.h"
#include "tools/sim/economy_replay.h"

namespace taut::tools {

// Without scripts, and without anything from elsewhere. `groups`: names, by number; `title`: what was replayed.
std::string EconomyPage(const EconomyResult& result, const brain::PriceSheet& sheet,
                        std::span<const std::string> groups, std::string_view title);

}  // namespace taut::tools
