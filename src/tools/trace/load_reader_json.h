// The answer of Prometheus' /api/v1/query_range as series of times and values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut::tools {

struct RangeValue {
  bool is_pair = false;  // false: it is not a pair of a time and a number; the numbers are 0
  double time_s = 0;
  double value = 0;       // may be infinite or NaN
  uint64_t line = 1;      // in the answer
  std::string_view text;  // its beginning as it stands there
};

struct RangeSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // ascending by name
  std::vector<RangeValue> values;                           // in the order of the answer
};

// name{a="b"}, as in PromQL; "" of no labels.
std::string NameOf(const RangeSeries& series);

// Calls `take` for each series in order, until it is not OK, which is then returned. `body` gets room behind its
// end, which may move it; texts are good during the call.
//   DataLoss            not JSON from a line on, which is named; series before it were given
//   FailedPrecondition  the server says that the query failed: its words
//   InvalidArgument     JSON, but not such an answer
absl::Status ParseRangeAnswer(std::string& body,
                              absl::FunctionRef<absl::Status(const RangeSeries& series)> take);

}  // namespace taut::tools
