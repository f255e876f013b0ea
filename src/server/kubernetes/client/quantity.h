// Amounts as Kubernetes writes them: "250m", "64Mi", "1e3".
//
// Source: the Kubernetes API conventions, resource.Quantity.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/resource.h"

namespace taut::server {

// In units of the resource: cores, bytes. Suffixes n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent. nullopt:
// not such a text, or not finite.
std::optional<double> ParseQuantity(std::string_view text);

// Whole millicores, rounded up: "250m", "2". Of what lies outside [0, 1e12] the nearest of it.
std::string CpuQuantity(double cores);
// Whole bytes, rounded up, in Mi where they are whole Mi: "64Mi", "1000". The same of [0, 2^62].
std::string MemoryQuantity(double bytes);
std::string Quantity(Resource resource, double amount);
// A ResourceList: {"cpu":"100m","memory":"32Mi"}.
std::string QuantitiesJson(const std::optional<double>& cpu, const std::optional<double>& memory);

}  // namespace taut::server
