// A page of decisions by what the store does not index: a part of a job's name.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/store/store.h"

namespace taut::server {

struct DecisionFilter {
  DecisionQuery query;             // limit: of the page
  std::function<bool(JobId)> job;  // empty: any
};
struct DecisionsFound {
  std::vector<Decision> decisions;
  std::optional<uint64_t> next_before;  // go on from here; nullopt: there are no older ones
};
// Looks through at most 20,000 decisions a call; a page may be short, or empty, and go on all the same.
absl::StatusOr<DecisionsFound> FindDecisions(History& history, const DecisionFilter& filter);

}  // namespace taut::server
