// Texts for users about the state of the capacity service.
#pragma once

#include <string>

#include "server/pool/capacity_view.h"

namespace taut::server {

// Returns the reason why the capacity is unknown, with a remedy; "" if the capacity of a resource is known.
std::string CapacityWhy(const CapacityView& view);
// Returns a further remark about the figures; "" if there is none.
std::string CapacityNote(const CapacityView& view);
// Returns the tier's risk for its buyer, such as "In about 2 of 100 hours ...".
std::string RiskText(const CapacityTier& tier);
// Returns the offer and its basis, or the reason why there is no offer and when there may be one.
std::string OfferText(const CapacityView& view, const CapacityOffer& offer);
// Returns "open", "kept", "missed" or "unmeasured".
std::string_view OutcomeName(const brain::PromiseOutcome& outcome);

}  // namespace taut::server
