// Parses responses of Prometheus' /api/v1/query_range to series of times and values.
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
  bool is_pair = false;  // false: the element is not a pair of time and number, and both are 0
  double time_s = 0;
  double value = 0;       // may be infinite or NaN
  uint64_t line = 1;      // number of the line in the response
  std::string_view text;  // start of the element in the response
};

struct RangeSeries {
  std::vector<std::pair<std::string, std::string>> labels;  // labels, ascending by name
  std::vector<RangeValue> values;                           // values in the order of the response
};

// Returns the name in PromQL's syntax, name{a="b"}; "" without labels.
std::string NameOf(const RangeSeries& series);

// Calls `take` for each series in order. Stops at the first error and returns it. Appends padding to `body`, which
// may move its bytes. Texts are valid during the call.
//
// Returns DataLoss, with the line from which on the body is not JSON; earlier series were passed to `take`.
// Returns FailedPrecondition with the server's message if the query failed. Returns InvalidArgument if the JSON is
// not a response of query_range.
absl::Status ParseRangeAnswer(std::string& body,
                              absl::FunctionRef<absl::Status(const RangeSeries& series)> take);

}  // namespace taut::tools
