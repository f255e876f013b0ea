// Settings that map a recommended amount to the request and limit of a container (Kubernetes).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace taut {

// The amount that a recommendation replaces.
enum class AppliesTo : uint8_t {
  kLimit,       // the limit, of which the request is a share; without a limit, the request
  kRequest,     // the request; the limit keeps its ratio to the request (VPA: RequestsAndLimits)
  kRequestOnly  // the request; the limit stays (VPA: RequestsOnly)
};
inline constexpr std::string_view kAppliesToNames[] = {"limit", "request", "request_only"};

struct Allocation {
  AppliesTo applies_to = AppliesTo::kLimit;
  // Request ÷ limit, in (0, 1]; absent: the owner's ratio. Unused for kRequestOnly.
  std::optional<double> request_share;

  // True if the recommendation replaces the owner's request.
  bool of_request() const { return applies_to != AppliesTo::kLimit; }
  bool operator==(const Allocation&) const = default;
};

}  // namespace taut
