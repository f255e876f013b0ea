// A replayed pool as a report: tables of the policies and tiers, and four charts over time.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "brain/economy/price_sheet.h"
#include "tools/report/document.h"
#include "tools/sim/economy_replay.h"

namespace taut::tools {

// Returns the document. `groups` contains the names of the groups by number, and `title` names the replayed input.
Document EconomyDocument(const EconomyResult& result, const brain::PriceSheet& sheet,
                         std::span<const std::string> groups, std::string_view title);

}  // namespace taut::tools
