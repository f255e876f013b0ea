// Reads the parameters of a request; what cannot be read is named in the error.
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

// nullopt: it is none, or does not fit.
std::optional<int64_t> WholeNumber(std::string_view text);
// The whole number `name`, `otherwise` if it is absent. InvalidArgument outside [low, high].
absl::StatusOr<int64_t> IntParameter(const HttpRequest& request, std::string_view name, int64_t otherwise,
                                     int64_t low, int64_t high);
// One page of a list: order=asc or desc, offset=, and limit=, at most 1,000.
struct PageOfList {
  std::optional<bool> ascending;  // nullopt: no order is asked for
  size_t offset = 0, limit = 100;
};
absl::StatusOr<PageOfList> PageParameters(const HttpRequest& request);
// [from, to) of the parameters of these names, seconds; without them the week before `now_s`.
struct TimeSpan {
  int64_t from_s = 0, to_s = 0;
};
absl::StatusOr<TimeSpan> SpanParameters(const HttpRequest& request, int64_t now_s);
absl::StatusOr<std::optional<Resource>> ResourceParameter(const HttpRequest& request);
// target=cpu, memory or replicas; `resource` means the limit of it.
absl::StatusOr<std::optional<Target>> TargetParameter(const HttpRequest& request);
// Who asks for a change, for the record: the name of the token, or the address without one, and what the
// client says of itself in `who=`, marked as such. InvalidArgument for a `who` that is too long or not
// printable.
absl::StatusOr<std::string> WhoOf(const HttpRequest& request);
std::string TextParameter(const HttpRequest& request, std::string_view name);
// InvalidArgument if the request has a parameter beside these.
absl::Status OnlyParameters(const HttpRequest& request, std::initializer_list<std::string_view> names);

}  // namespace taut::server
