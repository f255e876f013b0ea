#include "server/control/decision_search.h"

namespace taut::server {
namespace {

constexpr size_t kBatch = 1000;
constexpr int kMaxBatches = 20;

}  // namespace

absl::StatusOr<DecisionsFound> FindDecisions(History& history, const DecisionFilter& filter) {
  DecisionQuery query = filter.query;
  if (filter.job) query.limit = kBatch;
  DecisionsFound found;
  for (int batch = 0; batch < kMaxBatches; ++batch) {
    absl::StatusOr<std::vector<Decision>> read = history.Decisions(query, History::Reasons::kLeaveOut);
    if (!read.ok()) return read.status();
    for (Decision& d : *read) {
      if (filter.job && !filter.job(d.job)) continue;
      found.decisions.push_back(std::move(d));
      if (found.decisions.size() < filter.query.limit) continue;
      found.next_before = found.decisions.back().id;
      return found;
    }
    if (read->size() < query.limit) return found;
    query.before_id = read->back().id;
  }
  found.next_before = query.before_id;
  return found;
}

}  // namespace taut::server
