// Filters for jobs in OpenCost's syntax.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "server/store/store.h"

namespace taut::server {

using JobFilter = std::function<bool(const JobRecord&)>;

// Source: OpenCost's API documentation, "Filters".
// Parses a filter. It compares cluster, namespace, controllerName, controllerKind or label[NAME] with values
// in quotes:
//   namespace:"shop","web"+label[team]!:"data"
// Operators: ":" equal, "!:" not equal, "~:" contains, "!~:" does not contain, "<~:" begins with, "!<~:" does
// not begin with, "~>:" ends with, "!~>:" does not end with. Values separated by commas are alternatives
// (with "!": none of them). "+" is and, "|" is or; to mix them, use parentheses. A job's controller name is
// that of its name, or one part of it. InvalidArgument gives the position of the error.
absl::StatusOr<JobFilter> ParseAllocationFilter(std::string_view text);

// Combines the parameters filter, filterClusters, filterNamespaces, filterControllers and filterLabels
// (comma-separated) of a request; a job must satisfy all. The function is empty if there is none.
absl::StatusOr<JobFilter> AllocationFilterOf(const HttpRequest& request);

}  // namespace taut::server
