// Kubernetes quantities: "250m", "64Mi", "1e3".
//
// Source: the Kubernetes API conventions, resource.Quantity.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/resource.h"

namespace taut::server {

// Parses a quantity to the resource's unit, cores or bytes. Accepts the suffixes n u m k M G T P E and Ki Mi
// Gi Ti Pi Ei, or an exponent. nullopt if the text is invalid or not finite.
std::optional<double> ParseQuantity(std::string_view text);

// Returns an amount of CPU in whole millicores, rounded up: "250m", "2". Clamps to [0, 1e12] cores.
std::string CpuQuantity(double cores);
// Returns an amount of memory in whole bytes, rounded up: "1000", or in Mi if this is exact: "64Mi". Clamps
// to [0, 2^62].
std::string MemoryQuantity(double bytes);
std::string Quantity(Resource resource, double amount);
// Returns a ResourceList such as {"cpu":"100m","memory":"32Mi"}.
std::string QuantitiesJson(const std::optional<double>& cpu, const std::optional<double>& memory);

}  // namespace taut::server
