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
  bool is_pair = false;  // false: the element is not a pair of a time and a number; the numbers are 0
  double time_s = 0;
  double value = 0;       // may be infinite or NaN
  uint64_t line = 1;      // line in the answer
  std::string_view text;  // first bytes of the element in the answer
};

struct RangeSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // names and values, ascending by name
  std::vector<RangeValue> values;                           // values in the order of the answer
};

// Returns name{a="b"}, as in PromQL; "" without labels.
std::string NameOf(const RangeSeries& series);

// Calls `take` for each series in order, until a call returns an error. Padding is appended to `body`, which
// may move it. Texts are valid during the call. Returns the error of `take`, DataLoss, FailedPrecondition or
// InvalidArgument.
//
// DataLoss: the body is not JSON from some line on; the message contains the line, and the series before it
// were passed to `take`. FailedPrecondition: the query failed; the message is the server's. InvalidArgument:
// the body is JSON, but not an answer of query_range.
absl::Status ParseRangeAnswer(std::string& body,
                              absl::FunctionRef<absl::Status(const RangeSeries& series)> take);

}  // namespace taut::tools
