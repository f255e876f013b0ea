// Returns history oldest first, in the order of replay, from a store that returns it newest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/store/store.h"

namespace taut::server {

// Decisions without reasons, oldest first. `query.limit` keeps the newest ones. Returns the store's error.
absl::StatusOr<std::vector<Decision>> DecisionsInOrder(History& history, const DecisionQuery& query);
// OOM kills by time, oldest first; `limit` keeps the newest ones. `job` absent: all jobs.
absl::StatusOr<std::vector<OomRecord>> OomsInOrder(History& history, std::optional<JobId> job, int64_t from_s,
                                                   size_t limit);

}  // namespace taut::server
