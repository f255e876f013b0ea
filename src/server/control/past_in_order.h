// Returns history oldest first, in the order of replay. The store returns history newest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/store/store.h"

namespace taut::server {

// Returns the decisions of the query, without reasons, oldest first. `query.limit` limits the result to the
// newest decisions. Returns the store's error.
absl::StatusOr<std::vector<Decision>> DecisionsInOrder(History& history, const DecisionQuery& query);
// Returns OOM kills by time, oldest first. `limit` limits the result to the newest kills. `job` absent: kills
// of all jobs.
absl::StatusOr<std::vector<OomRecord>> OomsInOrder(History& history, std::optional<JobId> job, int64_t from_s,
                                                   size_t limit);

}  // namespace taut::server
