// What history tells newest first, oldest first: as it is replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/store/store.h"

namespace taut::server {

// Without reasons.
absl::StatusOr<std::vector<Decision>> DecisionsInOrder(History& history, const DecisionQuery& query);
absl::StatusOr<std::vector<OomRecord>> OomsInOrder(History& history, std::optional<JobId> job, int64_t from_s,
                                                   size_t limit);

}  // namespace taut::server
