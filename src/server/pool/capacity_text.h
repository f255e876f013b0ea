// State of the capacity service in sentences for people.
#pragma once

#include <string>

#include "server/pool/capacity_view.h"

namespace taut::server {

// Returns why the capacity is unknown, and how to change that; "" if it is known for one resource.
std::string CapacityWhy(const CapacityView& view);
// Returns a further remark about the figures; "" if there is none.
std::string CapacityNote(const CapacityView& view);
// Returns the risk of the tier for its buyer: "In about 2 of 100 hours ...".
std::string RiskText(const CapacityTier& tier);
// Returns the offer and its basis, or why there is none, and when there may be one.
std::string OfferText(const CapacityView& view, const CapacityOffer& offer);
// Returns "open", "kept", "missed" or "unmeasured".
std::string_view OutcomeName(const brain::PromiseOutcome& outcome);

}  // namespace taut::server
