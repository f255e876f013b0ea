// What a recommended amount of a resource becomes where a container has a request and a limit (Kubernetes).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace taut {

// What the recommendation is.
enum class AppliesTo : uint8_t {
  kLimit,       // the limit; the request is a share of it. A container without a limit: its request
  kRequest,     // the request; the limit keeps its ratio to it (the VPA's RequestsAndLimits)
  kRequestOnly  // the request; the limit stays (the VPA's RequestsOnly)
};
inline constexpr std::string_view kAppliesToNames[] = {"limit", "request", "request_only"};

struct Allocation {
  AppliesTo applies_to = AppliesTo::kLimit;
  // Request ÷ limit, in (0, 1]; absent: as the owner has it. Not of kRequestOnly.
  std::optional<double> request_share;

  // Whether the owner's amount that it replaces is the request.
  bool of_request() const { return applies_to != AppliesTo::kLimit; }
  bool operator==(const Allocation&) const = default;
};

}  // namespace taut
