// Kubernetes quantities, such as "250m", "64Mi" and "1e3".
//
// Source: Kubernetes API conventions, resource.Quantity.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/resource.h"

namespace taut::server {

// Parses a quantity to cores or bytes. Accepts the suffixes n u m k M G T P E and Ki Mi Gi Ti Pi Ei, or an
// exponent. Returns nullopt if the text is invalid or the number is not finite.
std::optional<double> ParseQuantity(std::string_view text);

// Formats CPU in whole millicores, rounded up, such as "250m" or "2". Clamps to [0, 1e12] cores.
std::string CpuQuantity(double cores);
// Formats memory in whole bytes, rounded up, such as "1000", or in Mi if exact, such as "64Mi". Clamps to [0,
// 2^62].
std::string MemoryQuantity(double bytes);
std::string Quantity(Resource resource, double amount);
// Returns a ResourceList such as {"cpu":"100m","memory":"32Mi"}.
std::string QuantitiesJson(const std::optional<double>& cpu, const std::optional<double>& memory);

}  // namespace taut::server
