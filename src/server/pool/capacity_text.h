// What the capacity service shows, in sentences for people.
#pragma once

#include <string>

#include "server/pool/capacity_view.h"

namespace taut::server {

// Why the capacity is not known, and how to make it known; "" if it is, of one resource at least.
std::string CapacityWhy(const CapacityView& view);
// What else is to be known of the figures; "" for nothing.
std::string CapacityNote(const CapacityView& view);
// What a buyer of the tier bears: "In about 2 of 100 hours ...".
std::string RiskText(const CapacityTier& tier);
// What the offer says and rests on, or why there is none, and from when there may be one.
std::string OfferText(const CapacityView& view, const CapacityOffer& offer);
// "open", "kept", "missed", "unmeasured".
std::string_view OutcomeName(const brain::PromiseOutcome& outcome);

}  // namespace taut::server
