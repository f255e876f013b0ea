// Which jobs a client of OpenCost's API asks for.
#pragma once

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "server/store/store.h"

namespace taut::server {

using JobFilter = std::function<bool(const JobRecord&)>;

// Source: OpenCost's API documentation, "Filters".
// A filter compares cluster, namespace, controllerName, controllerKind or label[NAME] with values in quotes:
//   namespace:"shop","web"+label[team]!:"data"
// Operators: ":" equal, "!:" not, "~:" contains, "!~:" does not, "<~:" begins with, "!<~:" does not, "~>:" ends
// with,
// "!~>:" does not. Values with commas between them are alternatives ("!": none of them), "+" is and, "|" is or;
// "+" and
// "|" do not mix without parentheses. A job has the controller name that its name has, or one part of it.
// InvalidArgument says at which place the text cannot be read.
absl::StatusOr<JobFilter> ParseAllocationFilter(std::string_view text);

// The parameters filter, filterClusters, filterNamespaces, filterControllers and filterLabels (with commas) of
// a request, all of which must hold. An empty function: none is given.
absl::StatusOr<JobFilter> AllocationFilterOf(const HttpRequest& request);

}  // namespace taut::server
