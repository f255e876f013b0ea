// Bounds on a job's limits that do not come from its owner, such as a LimitRange or the size of a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/model/resource.h"

namespace taut {

struct AllowedRange {
  std::optional<double> lower, upper;  // cores or bytes, both inclusive; absent: no bound
  std::string lower_by, upper_by;      // human-readable origin: "LimitRange small"; may be ""

  bool empty() const { return !lower.has_value() && !upper.has_value(); }
  bool operator==(const AllowedRange&) const = default;
};

// Parses "0.1 by LimitRange small..4 by the largest node". A side may be missing ("..4"); "" is an empty
// range. InvalidArgument for other text or lower > upper.
absl::StatusOr<AllowedRange> ParseAllowedRange(Resource resource, std::string_view text);
// Returns text that ParseAllowedRange parses to the same range (CPU to 1e-6 cores, memory to bytes).
std::string AllowedRangeText(Resource resource, const AllowedRange& range);

}  // namespace taut
