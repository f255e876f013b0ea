// Parses the parameters of a request. Errors name the parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/whole_number.h"
#include "common/model/target.h"
#include "common/net/http.h"

namespace taut::server {

// Returns the value of the parameter `name`, or `otherwise` if the parameter is absent. Returns InvalidArgument
// unless the value is a whole number in [low, high].
absl::StatusOr<int64_t> IntParameter(const HttpRequest& request, std::string_view name, int64_t otherwise,
                                     int64_t low, int64_t high);
// One page of a list, from the parameters order (asc or desc), offset (from 0) and limit (at most 1,000).
struct PageOfList {
  std::optional<bool> ascending;  // order; nullopt: the request has no parameter order
  size_t offset = 0, limit = 100;
};
absl::StatusOr<PageOfList> PageParameters(const HttpRequest& request);
// The interval [from, to) of the parameters `from` and `to`, in seconds. Defaults to the week before `now_s`.
struct TimeSpan {
  int64_t from_s = 0, to_s = 0;
};
absl::StatusOr<TimeSpan> SpanParameters(const HttpRequest& request, int64_t now_s);
absl::StatusOr<std::optional<Resource>> ResourceParameter(const HttpRequest& request);
// Parses target=cpu, target=memory or target=replicas, or resource=R for the limit of R. Returns nullopt if both
// parameters are absent.
absl::StatusOr<std::optional<Target>> TargetParameter(const HttpRequest& request);
// Returns the value of the parameter; "" if absent.
std::string TextParameter(const HttpRequest& request, std::string_view name);
// Returns InvalidArgument if the request has a parameter that is not in `names`.
absl::Status OnlyParameters(const HttpRequest& request, std::initializer_list<std::string_view> names);

}  // namespace taut::server
