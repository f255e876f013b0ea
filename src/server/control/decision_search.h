// Returns a page of decisions filtered by a property that the store does not index, such as a part of a job's
// name.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/store/store.h"

namespace taut::server {

struct DecisionFilter {
  DecisionQuery query;             // limit: size of the page
  std::function<bool(JobId)> job;  // returns true for a job to include; empty: any job
};
struct DecisionsFound {
  std::vector<Decision> decisions;
  // Upper bound of the IDs of the next page, exclusive; nullopt if there are no older decisions.
  std::optional<uint64_t> next_before;
};
// Reads at most 20,000 decisions per call with a job filter. A page may therefore be short or empty although
// `next_before` is set. Returns the store's error.
absl::StatusOr<DecisionsFound> FindDecisions(History& history, const DecisionFilter& filter);

}  // namespace taut::server
