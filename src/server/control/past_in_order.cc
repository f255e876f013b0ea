#include "server/control/past_in_order.h"

#include <algorithm>

namespace taut::server {

absl::StatusOr<std::vector<Decision>> DecisionsInOrder(History& history, const DecisionQuery& query) {
  absl::StatusOr<std::vector<Decision>> decisions = history.Decisions(query, History::Reasons::kLeaveOut);
  if (decisions.ok()) std::reverse(decisions->begin(), decisions->end());
  return decisions;
}

absl::StatusOr<std::vector<OomRecord>> OomsInOrder(History& history, std::optional<JobId> job, int64_t from_s,
                                                   size_t limit) {
  absl::StatusOr<std::vector<OomRecord>> ooms = history.Ooms(job, from_s, limit);
  if (!ooms.ok()) return ooms;
  std::reverse(ooms->begin(), ooms->end());
  std::stable_sort(ooms->begin(), ooms->end(),
                   [](const OomRecord& a, const OomRecord& b) { return a.time_s < b.time_s; });
  return ooms;
}

}  // namespace taut::server
