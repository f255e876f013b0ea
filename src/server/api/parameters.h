// Parses the parameters of a request. Errors name the parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/model/target.h"
#include "common/net/http.h"

namespace taut::server {

// Returns nullopt if the text is not a whole number or does not fit.
std::optional<int64_t> WholeNumber(std::string_view text);
// Returns the whole number `name`, or `otherwise` if it is absent. InvalidArgument outside [low, high].
absl::StatusOr<int64_t> IntParameter(const HttpRequest& request, std::string_view name, int64_t otherwise,
                                     int64_t low, int64_t high);
// One page of a list: order=asc or desc, offset= (from 0), and limit=, at most 1,000.
struct PageOfList {
  std::optional<bool> ascending;  // nullopt: no order was requested
  size_t offset = 0, limit = 100;
};
absl::StatusOr<PageOfList> PageParameters(const HttpRequest& request);
// The interval [from, to) of the parameters `from` and `to`, in seconds; without them the week before
// `now_s`.
struct TimeSpan {
  int64_t from_s = 0, to_s = 0;
};
absl::StatusOr<TimeSpan> SpanParameters(const HttpRequest& request, int64_t now_s);
absl::StatusOr<std::optional<Resource>> ResourceParameter(const HttpRequest& request);
// Parses target=cpu, memory or replicas; resource=R means the limit of R.
absl::StatusOr<std::optional<Target>> TargetParameter(const HttpRequest& request);
// Returns who requests a change, for the record: the token's name, or else the address. Adds what the client
// says about itself in `who=`, marked as such. InvalidArgument if `who` is too long or not printable.
absl::StatusOr<std::string> WhoOf(const HttpRequest& request);
// Returns the parameter's value; "" if it is absent.
std::string TextParameter(const HttpRequest& request, std::string_view name);
// InvalidArgument if the request has other parameters than these.
absl::Status OnlyParameters(const HttpRequest& request, std::initializer_list<std::string_view> names);

}  // namespace taut::server
