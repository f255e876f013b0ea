// Filters that select jobs, in the syntax of OpenCost.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "server/store/store.h"

namespace taut::server {

using JobFilter = std::function<bool(const JobRecord&)>;

// Parses a filter, which compares cluster, namespace, controllerName, controllerKind or label[NAME] with values in
// quotes:
//
//   namespace:"shop","web"+label[team]!:"data"
//
// Operators: ":" equals, "!:" does not equal, "~:" contains, "!~:" does not contain, "<~:" starts with, "!<~:"
// does not start with, "~>:" ends with, "!~>:" does not end with. Values separated by commas are alternatives;
// with "!", none of them may match. "+" means and, "|" means or; a filter with both requires parentheses.
// controllerName is compared with the names of the workload and of the job. If a custom rule made the job's name,
// controllerName is also compared with each piece of that name between slashes. InvalidArgument contains the
// position of the error.
//
// Source: OpenCost's API documentation, "Filters".
absl::StatusOr<JobFilter> ParseAllocationFilter(std::string_view text);

// Combines the parameters filter, filterClusters, filterNamespaces, filterControllers and filterLabels
// (comma-separated) of a request. A job must match all of them. The result is empty if the request has none of
// these parameters.
absl::StatusOr<JobFilter> AllocationFilterOf(const HttpRequest& request);

}  // namespace taut::server
