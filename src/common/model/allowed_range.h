// What others than a job's owner allow its limits to be, such as a LimitRange or the size of a node.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/model/resource.h"

namespace taut {

struct AllowedRange {
  std::optional<double> lower, upper;  // cores or bytes, both inclusive; absent: no bound
  std::string lower_by, upper_by;      // who says so, for people: "LimitRange small"; may be ""

  bool empty() const { return !lower.has_value() && !upper.has_value(); }
  bool operator==(const AllowedRange&) const = default;
};

// "0.1 by LimitRange small..4 by the largest node"; either side may be missing with what it is by: "..4". "" is an
// empty range. InvalidArgument says what is wrong.
absl::StatusOr<AllowedRange> ParseAllowedRange(Resource resource, std::string_view text);
// What ParseAllowedRange reads back to the same range.
std::string AllowedRangeText(Resource resource, const AllowedRange& range);

}  // namespace taut
