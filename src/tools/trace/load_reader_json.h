// Parses the answer of Prometheus' /api/v1/query_range to series of times and values.
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
  bool is_pair = false;  // false: not a pair of a time and a number; the numbers are 0
  double time_s = 0;
  double value = 0;       // may be infinite or NaN
  uint64_t line = 1;      // line in the answer
  std::string_view text;  // its first bytes in the answer
};

struct RangeSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // ascending by name
  std::vector<RangeValue> values;                           // in the order of the answer
};

// Returns name{a="b"}, as in PromQL; "" without labels.
std::string NameOf(const RangeSeries& series);

// Calls `take` for each series in order, until a call returns an error, which is returned. Padding is appended
// to `body`, which may move it. Texts are valid during the call.
//   DataLoss            not JSON from a line on, which the error contains; series before it were passed on
//   FailedPrecondition  the server's message that the query failed
//   InvalidArgument     JSON, but not such an answer
absl::Status ParseRangeAnswer(std::string& body,
                              absl::FunctionRef<absl::Status(const RangeSeries& series)> take);

}  // namespace taut::tools
